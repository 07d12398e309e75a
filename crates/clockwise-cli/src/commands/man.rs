//! `clockwise man`: man pages made from the help, one for each command.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use crate::args::ManArgs;
use crate::failure::Failure;
use crate::help::{self, Ending};
use crate::output::Output;

pub(crate) fn run(args: &ManArgs) -> Result<ExitCode, Failure> {
    let commands = help::commands();
    if let Some(folder) = &args.out {
        let failed =
            |path: &Path, error: io::Error| Failure::usage(format!("{}: {error}", path.display()));
        fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
        for command in &commands {
            let path = folder.join(file_name(command));
            let page = page(command).map_err(|error| failed(&path, error))?;
            fs::write(&path, page).map_err(|error| failed(&path, error))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let mut output = Output::new();
    if let Some(command) = commands.first() {
        let page = page(command).map_err(Failure::usage)?;
        output.write(&page)?;
    }
    output.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// `clockwise-plan.1` for `clockwise plan`.
fn file_name(command: &Command) -> String {
    format!("{}.1", dashed(command))
}

fn dashed(command: &Command) -> String {
    let name = command.get_bin_name().unwrap_or_else(|| command.get_name());
    name.replace(' ', "-")
}

/// A page in roff.
fn page(command: &Command) -> io::Result<String> {
    let version = command.get_version().unwrap_or_default();
    let man = Man::new(command.clone())
        .title(dashed(command))
        .source(format!("clockwise {version}"))
        .manual("clockwise");
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    ending(&Ending::of(command)).to_writer(&mut page)?;
    Ok(ascii(&String::from_utf8_lossy(&page)))
}

/// Other characters by their number, which every roff reads, whatever encoding it expects.
fn ascii(page: &str) -> String {
    let mut text = String::with_capacity(page.len());
    for c in page.chars() {
        if c.is_ascii() {
            text.push(c);
        } else {
            let _ = write!(text, "\\[u{:04X}]", u32::from(c));
        }
    }
    text
}

/// Sections that the library of man pages has not: examples as they are typed, remarks, exit codes.
fn ending(ending: &Ending) -> Roff {
    let mut roff = Roff::new();
    if !ending.examples.is_empty() {
        roff.control("SH", ["EXAMPLES"]);
        roff.control("nf", []);
        for example in &ending.examples {
            roff.text([roman(example)]);
        }
        roff.control("fi", []);
    }
    if !ending.remarks.is_empty() {
        roff.control("SH", ["NOTES"]);
        for remark in &ending.remarks {
            roff.text([roman(remark)]);
        }
    }
    if !ending.exit_codes.is_empty() {
        roff.control("SH", ["EXIT STATUS"]);
        for (code, meaning) in &ending.exit_codes {
            roff.control("TP", []);
            roff.text([bold(code)]);
            roff.text([roman(meaning)]);
        }
    }
    roff
}
