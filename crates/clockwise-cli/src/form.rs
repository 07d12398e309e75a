//! In which form an answer is printed, and where to: text, JSON, Markdown or one page of HTML, on stdout or in a file.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use clockwise_plan::document::Document;
use serde::Serialize;

use crate::failure::Failure;
use crate::output::{Output, note};

/// How an answer is printed.
#[derive(Args, Debug)]
pub(crate) struct FormArgs {
    /// How to print the answer; text, unless the name behind --out ends in .json, .md or .html.
    #[arg(long, value_name = "FORM", value_enum)]
    pub(crate) format: Option<Form>,
    /// Write the answer to this file instead of stdout; a file that is there is replaced as a whole.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Print JSON: short for --format json.
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,
}

/// A form of an answer.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum Form {
    /// Aligned text for a terminal or a log.
    Text,
    /// Every figure, for programs.
    Json,
    /// For a pull request or a ticket.
    Markdown,
    /// One page with pictures that needs nothing else: open it from disk, send it, print it.
    Html,
}

impl FormArgs {
    /// The form asked for. Ask before the work, so that a wrong file is not found out after it.
    ///
    /// # Errors
    /// A page would go to a terminal, or the file's folder is not there.
    pub(crate) fn form(&self) -> Result<Form, Failure> {
        if let Some(path) = &self.out {
            check_place(path)?;
        }
        let form = match self.format {
            _ if self.json => Form::Json,
            Some(form) => form,
            None => self.out.as_deref().map_or(Form::Text, form_of),
        };
        if form == Form::Html && self.out.is_none() && io::stdout().is_terminal() {
            return Err(Failure::usage("a page of HTML is not for a terminal")
                .hint("write it to a file: --out report.html"));
        }
        Ok(form)
    }

    /// Prints a value as JSON, or what `document` makes of it in the other forms.
    pub(crate) fn print(
        &self,
        value: &impl Serialize,
        document: impl FnOnce(Form) -> Document,
    ) -> Result<(), Failure> {
        let text = match self.form()? {
            Form::Json => {
                // What is printed holds no maps with keys that are not texts.
                let json = serde_json::to_string_pretty(value).map_err(Failure::usage)?;
                json + "\n"
            }
            form @ Form::Text => document(form).text(),
            form @ Form::Markdown => document(form).markdown(),
            form @ Form::Html => document(form).html(),
        };
        match &self.out {
            Some(path) => write(path, &text),
            None => {
                let mut output = Output::new();
                output.write(&text)?;
                output.finish()
            }
        }
    }
}

/// What a file's name says about its form.
fn form_of(path: &Path) -> Form {
    match path.extension().and_then(OsStr::to_str) {
        Some("json") => Form::Json,
        Some("md" | "markdown") => Form::Markdown,
        Some("html" | "htm") => Form::Html,
        _ => Form::Text,
    }
}

fn check_place(path: &Path) -> Result<(), Failure> {
    let name = path.display();
    if path.is_dir() {
        return Err(Failure::usage(format!("--out {name}: that is a folder"))
            .hint("name a file in it, such as report.html"));
    }
    let folder = folder(path);
    if !folder.is_dir() {
        return Err(Failure::usage(format!(
            "--out {name}: there is no folder {}",
            folder.display()
        )));
    }
    Ok(())
}

fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Writes beside the file first, so that nobody meets half of it; what is no plain file, such as a pipe, is written to as
/// it is.
fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let explain = |error: io::Error| Failure::usage(format!("--out {}: {error}", path.display()));
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return fs::write(path, text).map_err(explain);
    }
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let mut name = target.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    let part = folder(&target).join(name);
    let written = fs::File::create(&part).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&part, &target)
    });
    written.map_err(|error| {
        // It may not be there; the error that counts is the first.
        let _ = fs::remove_file(&part);
        explain(error)
    })?;
    note(&format!(
        "wrote {} ({} bytes)",
        path.display(),
        clockwise_plan::grouped(text.len() as u64)
    ));
    Ok(())
}

/// The command line that runs now, as it could be typed into a shell, without the credentials in addresses.
pub(crate) fn command_line() -> String {
    let args = std::env::args_os().skip(1);
    let words = ["clockwise".to_owned()].into_iter();
    words.chain(args.map(quoted)).collect::<Vec<_>>().join(" ")
}

fn quoted(word: OsString) -> String {
    let word = without_credentials(&word.to_string_lossy());
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// `scheme://user:password@host` with `***` before the `@`.
fn without_credentials(word: &str) -> String {
    match word.split_once("://") {
        Some((scheme, rest)) => match rest.rsplit_once('@') {
            Some((_, place)) => format!("{scheme}://***@{place}"),
            None => word.to_owned(),
        },
        None => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_can_be_typed_again_and_holds_no_password() {
        for (word, shown) in [
            ("--keys", "--keys"),
            ("cache-1=0.5", "cache-1=0.5"),
            ("", "''"),
            ("it's", "'it'\\''s'"),
            ("gen:user:{0..9}", "'gen:user:{0..9}'"),
            ("redis://me:p@ss@host:1/2", "'redis://***@host:1/2'"),
            ("--keys=rediss://:secret@h", "'--keys=rediss://***@h'"),
            ("redis://host:1", "redis://host:1"),
        ] {
            assert_eq!(quoted(OsString::from(word)), shown);
        }
    }

    #[test]
    fn a_file_is_written_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.html");
        fs::write(&path, "old").unwrap();
        write(&path, "new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        fs::create_dir(folder.path().join("taken")).unwrap();
        assert!(check_place(&folder.path().join("taken")).is_err());
        assert!(check_place(&folder.path().join("absent/report.html")).is_err());
    }
}
