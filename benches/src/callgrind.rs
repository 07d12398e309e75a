//! Instructions of a command as valgrind's callgrind counts them, in all threads.
//!
//! What it promises: a count that hardly depends on how busy the machine is. What it does not: tell time; what waits for
//! memory or mispredicts costs more than its instructions say. Cost: some fifty times the command's own time.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};

/// Whether valgrind is installed.
pub(crate) fn is_present() -> bool {
    Command::new("valgrind")
        .arg("--version")
        .stdout(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Instructions that `command` executes. What callgrind writes goes into `folder`.
pub(crate) fn instructions(command: &Command, folder: &Path) -> Result<u64> {
    let out = folder.join("callgrind.out");
    let output = Command::new("valgrind")
        .arg("--tool=callgrind")
        .arg(format!("--callgrind-out-file={}", out.display()))
        .arg(command.get_program())
        .args(command.get_args())
        .output()
        .context("valgrind")?;
    ensure!(
        output.status.success(),
        "valgrind: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = fs::read_to_string(&out).context("what callgrind wrote")?;
    let total = text
        .lines()
        .find_map(|line| line.strip_prefix("totals: "))
        .context("no totals in what callgrind wrote")?;
    total.trim().parse().context("totals of callgrind")
}
