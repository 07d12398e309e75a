//! Where keys come from, as arguments.

use std::path::PathBuf;

use clap::Args;

use super::number::share;

/// Where keys come from and how they are written.
#[derive(Args, Debug)]
pub(crate) struct KeyArgs {
    /// A file (plain, .gz or .zst), - for stdin, articles/000, 000-alternatives, 003 or 004, gen:user:{0..999},
    /// popularity:FILE#WORKLOAD, or a live server: redis://[[user]:password@]host:port[/db], rediss:// for TLS,
    /// memcached://host:port.
    #[arg(long, value_name = "SOURCE")]
    pub(crate) keys: Option<String>,
    /// lines, csv, tsv, jsonl, monitor, metadump, kvcache, twitter or access-log; recognised from the first lines if
    /// left out.
    #[arg(long, value_name = "FORMAT", requires = "keys")]
    pub(crate) keys_format: Option<String>,
    /// Column of the key: a name, or a number from 1.
    #[arg(long, value_name = "COLUMN", requires = "keys")]
    pub(crate) key_column: Option<String>,
    /// Column of the requests to a key.
    #[arg(long, value_name = "COLUMN", requires = "keys")]
    pub(crate) requests_column: Option<String>,
    /// Column of the bytes stored under a key.
    #[arg(long, value_name = "COLUMN", requires = "keys")]
    pub(crate) bytes_column: Option<String>,
    /// Add up equal keys of a list or table, with a request for each row that tells no number of them; logs and traces
    /// always are.
    #[arg(long, requires = "keys")]
    pub(crate) merge: bool,
    /// Read \n \r \t \\ and \xHH in keys as the bytes they name.
    #[arg(long, requires = "keys")]
    pub(crate) escaped: bool,
    /// Share of bad lines above which the command fails, 0 to 1.
    #[arg(long, value_name = "SHARE", default_value = "0.001", value_parser = share, allow_negative_numbers = true)]
    pub(crate) max_bad: f64,
    /// Most keys a second that are read from a live Redis [default: 50000].
    #[arg(long, value_name = "KEYS_PER_S", value_parser = clap::value_parser!(u64).range(1..), allow_negative_numbers = true, requires = "keys")]
    pub(crate) scan_rate: Option<u64>,
    /// PEM file with the certificates to trust for rediss:// instead of the system's.
    #[arg(long, value_name = "FILE", requires = "keys")]
    pub(crate) tls_ca: Option<PathBuf>,
    /// Print names made by a keyed hash instead of keys.
    #[arg(long)]
    pub(crate) anonymise: bool,
    /// Where the secret of these names is: env:NAME or file:PATH, 32 hexadecimal digits.
    #[arg(long, value_name = "REF", requires = "anonymise")]
    pub(crate) anonymise_key: Option<String>,
}
