//! Arguments of `man`.

use std::path::PathBuf;

use clap::Args;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  clockwise man > clockwise.1
  clockwise man --out ~/.local/share/man/man1

Exit codes: 0 done, 2 wrong usage, or the folder cannot be written to.")]
pub(crate) struct ManArgs {
    /// Write clockwise.1 and a page for each command into this folder, which is made if it is not there.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}
