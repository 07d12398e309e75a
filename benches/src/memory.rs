//! What builds allocate, as the program that counts allocations prints it.

use std::collections::BTreeMap;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

/// Bytes that a build leaves allocated and the most on the way, by the three columns that name it.
pub(crate) type Memory = BTreeMap<[String; 3], (u64, u64)>;

/// Runs all builds of a benchmark in the program that counts.
pub(crate) fn of_builds(benchmark: &str) -> Result<Memory> {
    let program = std::env::current_exe()?.with_file_name("clockwise-benches-memory");
    let output = Command::new(&program).arg(benchmark).output();
    let output = output.with_context(|| program.display().to_string())?;
    ensure!(
        output.status.success(),
        "counting memory failed: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let parse = |line: &str| {
        let cells: Vec<&str> = line.split('\t').collect();
        let &[a, b, c, net, peak] = cells.as_slice() else {
            anyhow::bail!("{line}: not five columns");
        };
        Ok(([a, b, c].map(str::to_owned), (net.parse()?, peak.parse()?)))
    };
    String::from_utf8(output.stdout)?
        .lines()
        .map(parse)
        .collect()
}
