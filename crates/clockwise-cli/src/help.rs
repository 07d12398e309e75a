//! The help of every command in its parts, for man pages and the book.
//!
//! Promises that a command added to the arguments is found, with its subcommands. A help text ends in examples, then
//! remarks, then the exit codes; where a part is not there it is empty.

use clap::{Command, CommandFactory as _};

use crate::args::Args;

/// `clockwise` and all its commands, each after the one that it belongs to. Hidden ones and `help` are left out.
pub(crate) fn commands() -> Vec<Command> {
    let mut root = Args::command().disable_help_subcommand(true);
    root.build();
    let mut found = Vec::new();
    collect(&root, &mut found);
    found
}

fn collect(command: &Command, found: &mut Vec<Command>) {
    found.push(command.clone());
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        collect(sub, found);
    }
}

/// What stands below the options.
#[derive(Debug, Default, Eq, PartialEq)]
pub(crate) struct Ending {
    /// Command lines.
    pub(crate) examples: Vec<String>,
    /// Sentences, one or more each.
    pub(crate) remarks: Vec<String>,
    /// Each code with what it means.
    pub(crate) exit_codes: Vec<(String, String)>,
}

impl Ending {
    /// The ending of a command's help.
    pub(crate) fn of(command: &Command) -> Self {
        let text = command
            .get_after_long_help()
            .or_else(|| command.get_after_help());
        text.map(|text| Self::parse(&text.to_string()))
            .unwrap_or_default()
    }

    fn parse(text: &str) -> Self {
        let mut ending = Self::default();
        let mut codes: Option<String> = None;
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            if let Some(example) = line.strip_prefix("  ") {
                ending.examples.push(example.to_owned());
            } else if let Some(rest) = line.strip_prefix("Exit codes:") {
                codes = Some(rest.to_owned());
            } else if let Some(codes) = &mut codes {
                codes.push(' ');
                codes.push_str(line);
            } else if line != "Examples:" {
                ending.remark(line);
            }
        }
        ending.exit_codes = parted(codes.as_deref().unwrap_or_default());
        ending
    }

    /// A line of remarks: a new one where the line before ends with a sentence.
    fn remark(&mut self, line: &str) {
        match self.remarks.last_mut() {
            Some(last) if !last.ends_with('.') => {
                last.push(' ');
                last.push_str(line);
            }
            _ => self.remarks.push(line.to_owned()),
        }
    }
}

/// `0 done, 1 a limit, or more, is broken.` in its two parts: a comma or a semicolon before a number parts them.
fn parted(codes: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    for part in codes
        .trim()
        .trim_end_matches('.')
        .split_inclusive([',', ';'])
    {
        let (code, meaning) = part.trim().split_once(' ').unwrap_or_default();
        if code.parse::<u8>().is_ok() {
            found.push((code.to_owned(), meaning.to_owned()));
        } else if let Some((_, meaning)) = found.last_mut() {
            meaning.push_str(part);
        }
    }
    for (_, meaning) in &mut found {
        meaning.truncate(meaning.trim_end_matches([',', ';']).len());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_of_a_help_has_three_parts() {
        let text = "Examples:\n  a --b\n  a c\n\nOne remark.\nAnother,\ntoo.\nExit codes: 0 done,\n1 no; 2 bad, or worse.";
        let owned = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
        let codes = [("0", "done"), ("1", "no"), ("2", "bad, or worse")];
        assert_eq!(
            Ending::parse(text),
            Ending {
                examples: owned(&["a --b", "a c"]),
                remarks: owned(&["One remark.", "Another, too."]),
                exit_codes: codes
                    .map(|(code, meaning)| (code.to_owned(), meaning.to_owned()))
                    .into(),
            }
        );
    }

    #[test]
    fn every_command_has_two_examples_and_says_how_it_exits() {
        for command in commands()
            .iter()
            .filter(|command| !command.has_subcommands())
        {
            let name = command.get_bin_name().unwrap_or_default();
            let Ending {
                examples,
                exit_codes,
                ..
            } = Ending::of(command);
            assert!(examples.len() >= 2, "{name}: two lines below `Examples:`");
            assert!(
                examples.iter().all(|example| example.contains(name)),
                "{name}: {examples:?}"
            );
            let codes: Vec<&str> = exit_codes.iter().map(|(code, _)| code.as_str()).collect();
            assert_eq!(
                codes.first(),
                Some(&"0"),
                "{name}: a line `Exit codes: 0 done, ...` in its help"
            );
        }
    }
}
