//! Prints how well every key hash mixes, as a Markdown table: avalanche, and clumping of names from the field.
//!
//! How it is measured stands in `tests/quality/mod.rs`. The numbers are exact: every run prints the same.
//!
//! ```sh
//! cargo run --release -p clockwise --example hash_quality
//! ```

#[path = "../tests/quality/mod.rs"]
mod quality;

use std::io::{self, Write as _};

use clockwise::hash::KeyHash;
use quality::{FAMILIES, Quality};

fn main() -> io::Result<()> {
    let mut out = io::stdout().lock();
    write!(out, "| hash | bits | worst flip |")?;
    for family in &FAMILIES {
        write!(out, " {} |", family.name)?;
    }
    writeln!(out, " mixes well |")?;
    writeln!(
        out,
        "| --- | ---: | ---: |{} --- |",
        " ---: |".repeat(FAMILIES.len())
    )?;
    for hash in KeyHash::ALL {
        let quality = Quality::of(hash);
        let worst = 50.0 + 100.0 * quality.worst_flip;
        write!(out, "| {hash} | {} | {worst:.1} % |", hash.bits())?;
        for z in quality.clumping {
            write!(out, " {z:.1} |")?;
        }
        let verdict = if quality.mixes_well() { "yes" } else { "no" };
        writeln!(out, " {verdict} |")?;
    }
    Ok(())
}
