//! How many instructions a look-up takes, against [`BOUNDS`].
//!
//! What it is: the example `lookups` under valgrind's callgrind, with 60,000 and with 10,000 keys; the difference, divided
//! by 50,000, is what a key costs. What it promises: the same count on every run, however busy the machine is. What it
//! does not: tell time; what waits for memory or mispredicts costs more than its instructions say. It counts the build
//! that tests have, with its checks of arithmetic; `benches/run placement --instructions` counts the one that users
//! have. Cost: some 20 seconds.
#![cfg(all(target_arch = "x86_64", target_os = "linux", feature = "simd"))]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Scheme, nodes, way of looking up, and the most instructions a key, before the tolerance. Those are what was counted
/// with Rust 1.95 when the row was written.
const BOUNDS: [(&str, u32, &str, Bound); 11] = [
    (RING, 5, "one", Bound::Counted(89.0)),
    // 38 more than the hash were counted. The goal is 35, and what is allowed is a tenth above the whole.
    (RING, 100, "one", Bound::MoreThanHash(35.0)),
    (RING, 1000, "one", Bound::Counted(89.0)),
    (RING, 10_000, "one", Bound::Counted(89.0)),
    (RING, 5, "batch", Bound::Counted(103.0)),
    (RING, 100, "batch", Bound::Counted(103.0)),
    // From here on in blocks: more instructions, and fewer waits for memory.
    (RING, 1000, "batch", Bound::Counted(119.0)),
    (RING, 10_000, "batch", Bound::Counted(119.0)),
    ("slots", 100, "one", Bound::Counted(80.0)),
    ("maglev", 100, "one", Bound::Counted(112.0)),
    ("jumpback", 100, "one", Bound::Counted(178.0)),
];

#[derive(Clone, Copy, Debug)]
enum Bound {
    /// What a look-up took.
    Counted(f64),
    /// The goal: so many more than the bare hash of the key.
    MoreThanHash(f64),
}

/// What a compiler may add without anyone having to look.
const TOLERANCE: f64 = 1.1;

const RING: &str = "ring,tokens=160";

#[test]
fn a_look_up_takes_no_more_instructions_than_recorded() {
    let example = example();
    let hash = instructions_a_key(&example, 5, "hash", RING);
    let mut failed = String::new();
    for (scheme, nodes, way, bound) in BOUNDS {
        let most = match bound {
            Bound::Counted(count) => count,
            Bound::MoreThanHash(more) => hash + more,
        };
        let count = instructions_a_key(&example, nodes, way, scheme);
        let line = format!(
            "{scheme}, {nodes} nodes, {way}: {count:.1} instructions a key, {hash:.1} of them for the hash"
        );
        if count > most * TOLERANCE {
            failed += &format!("{line}: more than {bound:?} and a tenth\n");
        }
    }
    assert!(failed.is_empty(), "{failed}");
}

/// Builds the example as the tests are built, and says where it is.
fn example() -> PathBuf {
    // This program lies in TARGET/PROFILE/deps.
    let own = std::env::current_exe().expect("the path of the test");
    let profile = own.ancestors().nth(2).expect("a profile's folder");
    let target = profile.parent().expect("a target folder");
    // The whole workspace is selected so that features, and with them what is built already, stay the same.
    let status = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--locked", "--offline", "--workspace"])
        .args(["--example", "lookups", "--target-dir"])
        .arg(target)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status()
        .expect("cargo runs");
    assert!(status.success(), "the example cannot be built");
    target.join("debug/examples/lookups")
}

fn instructions_a_key(example: &Path, nodes: u32, way: &str, scheme: &str) -> f64 {
    const FEW: u32 = 10_000;
    const MANY: u32 = 60_000;
    let count = |keys: u32| {
        let name = format!("{way}-{nodes}-{keys}-{}.callgrind", scheme.len());
        let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let output = Command::new("valgrind")
            .arg("--tool=callgrind")
            .arg(format!("--callgrind-out-file={}", out.display()))
            .arg(example)
            .args([&nodes.to_string(), &keys.to_string(), way, scheme])
            .output()
            .expect("valgrind is installed");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{errors}");
        let text = fs::read_to_string(&out).expect("what callgrind writes");
        fs::remove_file(&out).expect("what callgrind wrote can be removed");
        let total = text.lines().find_map(|line| line.strip_prefix("totals: "));
        let total = total.and_then(|total| total.trim().parse::<f64>().ok());
        total.expect("the total of callgrind")
    };
    (count(MANY) - count(FEW)) / f64::from(MANY - FEW)
}
