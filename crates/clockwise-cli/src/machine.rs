//! The machine on which something was measured, as it describes itself.
//!
//! What it promises: what Linux says in `/proc`, `unknown` elsewhere. Source: proc(5).

use std::fs;
use std::num::NonZeroUsize;

/// What stands beside a measured time.
#[derive(Clone, Debug)]
pub(crate) struct Machine {
    /// Processor, and cores that this process may use.
    pub(crate) name: String,
    /// Operating system, its version and the processor's architecture.
    pub(crate) system: String,
    /// Runnable threads over the last minute.
    pub(crate) load: String,
}

impl Machine {
    pub(crate) fn here() -> Self {
        let file = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let release = file("/proc/sys/kernel/osrelease");
        let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
        Self {
            name: format!("{}, {cores} cores", processor(&file("/proc/cpuinfo"))),
            system: format!("{os} {} {arch}", known(release.trim())),
            load: known(file("/proc/loadavg").split(' ').next().unwrap_or_default()),
        }
    }
}

/// The name of the first processor; ARM lists only numbers.
fn processor(info: &str) -> String {
    let field = |name: &str| {
        let line = info.lines().find(|line| line.starts_with(name))?;
        line.split_once(": ").map(|(_, value)| value.trim())
    };
    let name = field("model name").or_else(|| field("Model"));
    known(name.unwrap_or_default())
}

fn known(text: &str) -> String {
    if text.is_empty() { "unknown" } else { text }.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_processor_without_a_name_is_unknown() {
        let info =
            "processor\t: 0\nmodel\t\t: 106\nmodel name\t: Fast CPU @ 2.00GHz\nprocessor\t: 1\n";
        assert_eq!(processor(info), "Fast CPU @ 2.00GHz");
        assert_eq!(processor("CPU part\t: 0xd0c\n"), "unknown");
        assert_eq!(processor(""), "unknown");
    }
}
