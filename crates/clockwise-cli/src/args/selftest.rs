//! Arguments of `selftest`.

use clap::Args;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  clockwise selftest
  clockwise selftest --json

Exit codes: 0 all checks hold, 1 one does not.")]
pub(crate) struct SelftestArgs {
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
