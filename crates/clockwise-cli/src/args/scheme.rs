//! How keys become owners, as arguments.

use clap::Args;

/// What turns a key into an owner.
#[derive(Args, Debug)]
pub(crate) struct SchemeArgs {
    /// NAME[/HASH][/vN][,param=value]…, such as ring,tokens=160; slots unless a file says otherwise.
    #[arg(long, value_name = "SCHEME")]
    pub(crate) scheme: Option<String>,
    #[command(flatten)]
    pub(crate) rule: RuleArgs,
}

/// What is the same for every scheme: which bytes of a key count, and the secret of a keyed hash.
#[derive(Args, Debug)]
pub(crate) struct RuleArgs {
    /// Which bytes are the key: whole, redis-tag or between:XY.
    #[arg(long, value_name = "RULE")]
    pub(crate) key_rule: Option<String>,
    /// Where the secret of a keyed hash is: env:NAME or file:PATH, 32 hexadecimal digits.
    #[arg(long, value_name = "REF")]
    pub(crate) hash_key: Option<String>,
}

/// How many nodes hold a key and how they spread.
#[derive(Args, Debug)]
pub(crate) struct ReplicationArgs {
    /// Nodes for each key, owner first.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), allow_negative_numbers = true)]
    pub(crate) replicas: Option<u32>,
    /// Most replicas of a key in a region, zone, rack or host: zone=1,rack=1:preferred.
    #[arg(long, value_name = "RULES")]
    pub(crate) domains: Option<String>,
    /// Leave the position of a node that is down empty instead of moving the others up.
    #[arg(long)]
    pub(crate) indep: bool,
}
