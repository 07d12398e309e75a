//! Arguments of `tables`.

use clap::Args;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  clockwise tables
  clockwise tables --json

A figure is named by its JSON pointer into vectors/articles.json. Takes a few seconds.
Exit codes: 0 all figures agree, 1 one differs.")]
pub(crate) struct TablesArgs {
    /// Print every figure, not only those that differ.
    #[arg(long, conflicts_with = "json")]
    pub(crate) all: bool,
    /// Print JSON, with every figure.
    #[arg(long)]
    pub(crate) json: bool,
}
