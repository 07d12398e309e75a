//! The keys that the planner counts, in files.
//!
//! What it promises: the same distinct keys in each form; lines of 20 bytes and their line end. Cost: 105 MB and some
//! seconds for five million keys, in a folder that goes with the value.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use flate2::write::GzEncoder;

use crate::keys::key;

/// How a file holds its lines.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Form {
    Plain,
    Gzip,
    Zstd,
}

impl Form {
    pub(super) const ALL: [Self; 3] = [Self::Plain, Self::Gzip, Self::Zstd];

    /// The file of this form in `folder`.
    pub(super) fn path(self, folder: &Path) -> PathBuf {
        folder.join(match self {
            Self::Plain => "keys.txt",
            Self::Gzip => "keys.txt.gz",
            Self::Zstd => "keys.txt.zst",
        })
    }
}

/// Writes `keys` keys into `folder` in every form.
pub(super) fn write(folder: &Path, keys: u64) -> Result<()> {
    let create = |form: Form| -> Result<BufWriter<File>> {
        let path = form.path(folder);
        let file = File::create(&path).with_context(|| path.display().to_string())?;
        Ok(BufWriter::with_capacity(1 << 20, file))
    };
    for form in Form::ALL {
        let file = create(form)?;
        match form {
            Form::Plain => lines(file, keys)?.flush()?,
            // The level that gzip itself takes.
            Form::Gzip => lines(GzEncoder::new(file, flate2::Compression::new(6)), keys)?
                .finish()?
                .flush()?,
            // The level that zstd itself takes.
            Form::Zstd => lines(zstd::Encoder::new(file, 3)?, keys)?
                .finish()?
                .flush()?,
        }
    }
    Ok(())
}

fn lines<W: Write>(mut to: W, keys: u64) -> Result<W> {
    for number in 0..keys {
        writeln!(to, "{}", key(number))?;
    }
    Ok(to)
}
