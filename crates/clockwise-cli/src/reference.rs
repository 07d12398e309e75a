//! The book's pages on the commands, made from their help.
//!
//! Promises that each command has its page, that a page says what the help says, and that no page is left of a command
//! that is gone. Compiled into the tests only: the command does not need it. Source: the arguments, by clap.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use clap::{Arg, Command};

use crate::help::{self, Ending};

#[test]
fn every_command_has_a_page_that_says_what_its_help_does() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/reference/cli");
    let pages = pages();
    let mut there = Vec::new();
    fs::create_dir_all(&folder).unwrap();
    for entry in fs::read_dir(&folder).unwrap() {
        there.push(entry.unwrap().file_name().into_string().unwrap());
    }
    if std::env::var_os("UPDATE").is_some() {
        for name in there.drain(..).filter(|name| !pages.contains_key(name)) {
            fs::remove_file(folder.join(name)).unwrap();
        }
        for (name, text) in &pages {
            fs::write(folder.join(name), text).unwrap();
        }
    }
    for name in there {
        assert!(
            pages.contains_key(&name),
            "reference/cli/{name} is about no command. {RENEW}"
        );
    }
    let summary = fs::read_to_string(folder.join("../../SUMMARY.md")).unwrap();
    for (name, text) in &pages {
        let page = fs::read_to_string(folder.join(name)).unwrap_or_default();
        assert!(
            &page == text,
            "reference/cli/{name} is not what the help says. {RENEW}"
        );
        let link = format!("](reference/cli/{name})");
        assert!(
            summary.contains(&link),
            "docs/src/SUMMARY.md has no link to reference/cli/{name}"
        );
    }
}

/// Every page by its file's name.
fn pages() -> BTreeMap<String, String> {
    let commands = help::commands();
    let mut pages = BTreeMap::new();
    pages.insert("index.md".to_owned(), index(&commands));
    for command in &commands[1..] {
        pages.insert(file_name(command), page(command));
    }
    pages
}

/// `advise-tokens.md` for `clockwise advise tokens`.
fn file_name(command: &Command) -> String {
    let name = full_name(command).replace(' ', "-");
    format!("{}.md", name.trim_start_matches("clockwise-"))
}

fn full_name(command: &Command) -> &str {
    command.get_bin_name().unwrap_or_else(|| command.get_name())
}

fn index(commands: &[Command]) -> String {
    let mut text = format!("{GENERATED}\n# Commands\n\n{}\n\n", about(&commands[0]));
    text.push_str("| command | does |\n| --- | --- |\n");
    for command in &commands[1..] {
        let name = full_name(command);
        let _ = writeln!(
            text,
            "| [`{name}`]({}) | {} |",
            file_name(command),
            about(command)
        );
    }
    text.push_str(INDEX_END);
    text
}

fn page(command: &Command) -> String {
    let name = full_name(command);
    let mut text = format!("{GENERATED}\n# {name}\n\n{}\n\n", about(command));
    let usage = command.clone().render_usage().to_string();
    let _ = write!(
        text,
        "```text\n{}\n```\n",
        usage.trim_start_matches("Usage: ")
    );
    let is_own =
        |arg: &&Arg| !arg.is_hide_set() && !["help", "version"].contains(&arg.get_id().as_str());
    let args = command.get_arguments().filter(is_own);
    let (positionals, options): (Vec<&Arg>, Vec<&Arg>) = args.partition(|arg| arg.is_positional());
    rows(&mut text, "Arguments", "argument", command, &positionals);
    rows(&mut text, "Options", "option", command, &options);
    let subcommands: Vec<&Command> = command
        .get_subcommands()
        .filter(|sub| !sub.is_hide_set())
        .collect();
    if !subcommands.is_empty() {
        text.push_str("\n## Commands\n\n| command | does |\n| --- | --- |\n");
        for sub in subcommands {
            let _ = writeln!(
                text,
                "| [`{}`]({}) | {} |",
                full_name(sub),
                file_name(sub),
                about(sub)
            );
        }
    }
    ending(&mut text, &Ending::of(command));
    text
}

fn rows(text: &mut String, title: &str, first: &str, command: &Command, args: &[&Arg]) {
    if args.is_empty() {
        return;
    }
    let _ = write!(
        text,
        "\n## {title}\n\n| {first} | meaning |\n| --- | --- |\n"
    );
    for arg in args {
        let _ = writeln!(text, "| `{}` | {} |", form(arg), meaning(command, arg));
    }
}

/// `-n, --name VALUE...`.
fn form(arg: &Arg) -> String {
    let short = arg.get_short().map(|short| format!("-{short}"));
    let long = arg.get_long().map(|long| format!("--{long}"));
    let mut form: Vec<String> = vec![short.into_iter().chain(long).collect::<Vec<_>>().join(", ")];
    if arg.get_action().takes_values() || arg.is_positional() {
        let range = arg.get_num_args().unwrap_or_default();
        let names = arg.get_value_names().unwrap_or_default();
        for name in names {
            let more = if range.max_values() > names.len() {
                "..."
            } else {
                ""
            };
            form.push(match range.min_values() {
                0 => format!("[{name}]{more}"),
                _ => format!("{name}{more}"),
            });
        }
    }
    form.join(" ").trim().replace('|', "\\|")
}

/// The help, and what clap knows besides: whether it must be there, values, default, what it excludes.
fn meaning(command: &Command, arg: &Arg) -> String {
    let help = arg.get_long_help().or_else(|| arg.get_help());
    let help = help.map(ToString::to_string).unwrap_or_default();
    // A default that depends on other arguments stands in the help itself.
    let (help, default) = help
        .trim_end_matches(']')
        .split_once(" [default: ")
        .unwrap_or((&help, ""));
    let mut text = sentence(help);
    if arg.is_required_set() {
        text.push_str(" Required.");
    }
    let values = arg.get_possible_values();
    let values: Vec<_> = values.iter().filter(|value| !value.is_hide_set()).collect();
    if arg.get_action().takes_values() && !values.is_empty() {
        let each = values.iter().map(|value| match value.get_help() {
            Some(help) => format!(
                "`{}` ({})",
                value.get_name(),
                plain(help.to_string().trim_end_matches('.'))
            ),
            None => format!("`{}`", value.get_name()),
        });
        let _ = write!(text, " Values: {}.", each.collect::<Vec<_>>().join(", "));
    }
    let mut defaults: Vec<String> = Vec::new();
    if arg.get_action().takes_values() {
        let values = arg.get_default_values().iter();
        defaults.extend(values.map(|value| value.to_string_lossy().into_owned()));
    }
    if !default.is_empty() {
        defaults.push(default.to_owned());
    }
    if !defaults.is_empty() {
        let _ = write!(text, " Default: `{}`.", defaults.join(" "));
    }
    let excludes = |one: &Arg, other: &Arg| {
        let all = command.get_arg_conflicts_with(one);
        all.iter().any(|arg| arg.get_id() == other.get_id())
    };
    let excluded: Vec<String> = command
        .get_arguments()
        .filter(|other| excludes(arg, other) || excludes(other, arg))
        .map(|other| match other.get_long() {
            Some(long) => format!("`--{long}`"),
            None => format!("`{}`", form(other)),
        })
        .collect();
    if !excluded.is_empty() {
        let _ = write!(text, " Not together with {}.", excluded.join(", "));
    }
    text.trim().to_owned()
}

fn ending(text: &mut String, ending: &Ending) {
    if !ending.examples.is_empty() {
        text.push_str("\n## Examples\n\n");
        let scripts: Vec<&str> = SAMPLES
            .iter()
            .filter(|(file, _)| ending.examples.iter().any(|example| example.contains(file)))
            .map(|(_, script)| *script)
            .collect();
        if !scripts.is_empty() {
            let _ = write!(text, "<!-- setup:\n{}\n-->\n\n", scripts.join("\n"));
        }
        if ending
            .examples
            .iter()
            .any(|example| example.contains("://"))
        {
            text.push_str("<!-- not run: the servers are the reader's -->\n");
        } else if ending.exit_codes.iter().any(|(code, _)| code == "1") {
            text.push_str("<!-- exit: 0 or 1 -->\n");
        }
        let _ = write!(text, "```sh\n{}\n```\n", ending.examples.join("\n"));
    }
    if !ending.remarks.is_empty() {
        text.push_str("\n## Remarks\n\n");
        for remark in &ending.remarks {
            let _ = writeln!(text, "- {}", plain(remark));
        }
    }
    if !ending.exit_codes.is_empty() {
        text.push_str("\n## Exit codes\n\n| code | means |\n| --- | --- |\n");
        for (code, meaning) in &ending.exit_codes {
            let _ = writeln!(text, "| {code} | {} |", plain(meaning));
        }
    }
}

fn about(command: &Command) -> String {
    let about = command.get_long_about().or_else(|| command.get_about());
    sentence(&about.map(ToString::to_string).unwrap_or_default())
}

/// Text as Markdown on one line, with a full stop.
fn sentence(text: &str) -> String {
    let text = plain(text);
    if text.is_empty() || text.ends_with(['.', ':', '?']) {
        text
    } else {
        format!("{text}.")
    }
}

/// Text as Markdown on one line: words with signs that Markdown would read become code.
fn plain(text: &str) -> String {
    let words = text.split_whitespace().map(|word| {
        let is_mark = |c: char| "<>[]*_|\\`{}~#$^".contains(c);
        let bare = word.trim_end_matches([',', '.', ';', ':']);
        if bare.starts_with("--") || bare.contains(is_mark) || bare.contains("://") {
            format!("`{}`{}", bare.replace('|', "\\|"), &word[bare.len()..])
        } else {
            word.to_owned()
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Files that examples name, and how the book's test makes them.
const SAMPLES: &[(&str, &str)] = &[
    ("clockwise.toml", "cp examples/clockwise.toml ."),
    ("paths.tsv", "cp examples/web-paths.tsv paths.tsv"),
    ("keys.txt", "seq -f user:%g 10000 > keys.txt"),
    (
        "dump.csv.gz",
        "{ echo key; seq -f user:%g 10000; } | gzip > dump.csv.gz",
    ),
    (
        "access.log",
        "seq -f '::1 - - [01/Jan/2026:00:00:00 +0000] \"GET /%g HTTP/1.1\" 200 10' 100 > access.log",
    ),
];

const GENERATED: &str =
    "<!-- generated: UPDATE=1 cargo test -p clockwise-cli --bin clockwise reference -->\n";

const RENEW: &str =
    "To write the pages anew: UPDATE=1 cargo test -p clockwise-cli --bin clockwise reference";

const INDEX_END: &str = "
`--help` behind each prints what its page says, and `--version` which clockwise it is. The pages are made from that
help. [Exit codes](../exit-codes.md) mean the same everywhere.

`clockwise completions SHELL` prints a script that completes commands and options in bash, zsh, fish, powershell or
elvish. `clockwise man --out DIR` writes these pages for `man`.
";

#[test]
fn what_markdown_would_read_becomes_code() {
    assert_eq!(
        plain("Give --rate, or redis://[[user]:p]@h: NAME[/HASH]; a |b."),
        "Give `--rate`, or `redis://[[user]:p]@h`: `NAME[/HASH]`; a `\\|b`."
    );
}
