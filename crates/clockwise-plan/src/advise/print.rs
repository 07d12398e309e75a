//! What the printed forms of all advice share.

use super::{Advice, Reason};
use crate::document::{Block, Document};
use crate::number::decimal;

impl<T, M> Advice<T, M> {
    /// The document with the answer and what it rests on; tables are added behind.
    pub(super) fn document_of(&self, title: &str) -> Document {
        let mut document = Document {
            title: title.to_owned(),
            lead: vec![self.verdict.clone()],
            ..Document::default()
        };
        document.push("Why", notes(&self.reasons));
        document.push("What would change the answer", notes(&self.changes));
        document
    }
}

fn notes(reasons: &[Reason]) -> Vec<Block> {
    let texts = reasons.iter().map(|reason| &reason.text);
    texts.map(Block::note).collect()
}

/// A number of bytes in the unit that a person would take.
pub(super) fn bytes(bytes: f64) -> String {
    let units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let mut value = bytes;
    for unit in units {
        if value < 1024.0 || unit == "PiB" {
            let decimals = usize::from(unit != "bytes");
            return format!("{} {unit}", decimal(value, decimals));
        }
        value /= 1024.0;
    }
    String::new()
}

/// A multiple of 1 with as many decimals as tell it from 1.
pub(super) fn times(value: f64) -> String {
    decimal(value, 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_take_the_unit_that_keeps_them_short() {
        for (value, text) in [
            (0.0, "0 bytes"),
            (1023.0, "1,023 bytes"),
            (1024.0, "1.0 KiB"),
            (64.0 * 1024.0 * 1024.0, "64.0 MiB"),
            (4e12, "3.6 TiB"),
            (1e19, "8,881.8 PiB"),
        ] {
            assert_eq!(bytes(value), text);
        }
    }
}
