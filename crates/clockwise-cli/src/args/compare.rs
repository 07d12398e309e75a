//! Arguments of `compare`.

use clap::Args;

use super::{ChangeArgs, KeyArgs, RuleArgs};
use crate::form::FormArgs;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  clockwise compare --from cache-{1..10} --add cache-11 --keys keys.txt
  clockwise compare --from clockwise.toml --remove cache-3 --out compare.html
  clockwise compare --from node-{0..99} --scheme ring,tokens=100 --scheme ring,tokens=1000 --scheme modulo

A membership is one cluster file, or nodes: id[@host:port][=weight], with commas or spaces between.
Without a change it is one node more; every scheme also adds one, loses the last and loses any.
A scheme may end in ,kept (slots that follow the table before) or ,allocated (tokens of a ring chosen for each
node that joins). Without --keys the space is measured where a scheme has ranges or slots, else pseudo-random keys.
Exit codes: 0 done, 2 wrong usage or bad input, 3 a server is out of reach, 130 stopped by Ctrl-C.")]
pub(crate) struct CompareArgs {
    #[command(flatten)]
    pub(crate) change: ChangeArgs,
    /// Compare only schemes that are named: NAME[/HASH][/vN][,param=value]…[,kept|,allocated]; repeatable.
    #[arg(long, value_name = "SCHEME")]
    pub(crate) scheme: Vec<String>,
    /// Compare this scheme as well; repeatable.
    #[arg(long, value_name = "SCHEME")]
    pub(crate) also: Vec<String>,
    /// Tokens of a ring's node of weight 1, for rings that do not say.
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) tokens: Option<String>,
    #[command(flatten)]
    pub(crate) rule: RuleArgs,
    #[command(flatten)]
    pub(crate) keys: KeyArgs,
    /// Leave out the times, which differ from run to run.
    #[arg(long)]
    pub(crate) no_timing: bool,
    #[command(flatten)]
    pub(crate) form: FormArgs,
}
