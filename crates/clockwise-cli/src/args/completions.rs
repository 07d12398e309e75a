//! Arguments of `completions`.

use clap::Args;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  source <(clockwise completions bash)
  clockwise completions zsh > _clockwise
  clockwise completions fish > clockwise.fish

bash loads it at the start from ~/.bashrc, zsh from a folder in fpath, fish from ~/.config/fish/completions.
Exit codes: 0 done, 2 wrong usage.")]
pub(crate) struct CompletionsArgs {
    /// The shell.
    #[arg(value_name = "SHELL", value_enum)]
    pub(crate) shell: clap_complete::Shell,
}
