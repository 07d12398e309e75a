//! What a shell and `man` get: completions that complete, a man page for every command.
//!
//! bash is asked as it asks itself at the tab key. The other shells are not there on every machine: of their scripts
//! only the words are looked for. Pages are read as text in roff, since not every machine has `man`.

mod command;

use std::io::Write as _;
use std::process::{Command, Stdio};

use command::{Answer, Running, commands, holds, message, run, run_words};

/// What bash offers when the tab key is pressed behind these words.
fn offers(words: &[&str]) -> Vec<String> {
    let script = "source /dev/stdin\nCOMP_WORDS=(\"$@\")\nCOMP_CWORD=$(($# - 1))\n\
                  _clockwise clockwise \"${@: -1}\" \"${@: -2:1}\"\nprintf '%s\\n' \"${COMPREPLY[@]}\"";
    let answer = bash_reads_the_script(&[&["-c", script, "bash"], words].concat());
    answer.text().lines().map(str::to_owned).collect()
}

/// What bash says with these arguments and the script on its stdin, which it must not complain about.
fn bash_reads_the_script(args: &[&str]) -> Answer {
    let mut bash = Command::new("bash");
    bash.args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut running = Running::start(&mut bash);
    let script = run(["completions", "bash"]).stdout;
    running.stdin().write_all(&script).unwrap();
    let answer = running.finish();
    assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""));
    answer
}

#[test]
fn bash_takes_the_script_and_completes_commands_options_and_values() {
    bash_reads_the_script(&["-n"]);

    assert_eq!(offers(&["clockwise", "pl"]), ["plan"]);
    assert_eq!(offers(&["clockwise", "plan", "--hit"]), ["--hit-rate"]);
    assert_eq!(
        offers(&["clockwise", "plan", "--format", "mark"]),
        ["markdown"]
    );
    assert_eq!(
        offers(&["clockwise", "completions", "power"]),
        ["powershell"]
    );
    let all = offers(&["clockwise", ""]);
    for name in commands() {
        let is_below = name.contains(' ');
        assert!(is_below || all.contains(&name), "{name}: {all:?}");
    }
}

#[test]
fn every_shell_has_a_script_with_every_command() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = run(["completions", shell]);
        assert_eq!(script.code, Some(0), "{}", script.stderr);
        for name in commands() {
            let last = name.rsplit(' ').next().unwrap();
            holds(script.text(), &[last]);
        }
        holds(script.text(), &["hit-rate"]);
    }
    holds(&message(&run(["completions", "tcsh"])), &["'tcsh'", "bash"]);
}

#[test]
fn every_command_has_a_man_page_with_options_examples_and_exit_codes() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("share/man1");
    let written = run(["man", "--out", out.to_str().unwrap()]);
    assert_eq!(
        (written.code, written.stdout.as_slice()),
        (Some(0), &b""[..])
    );
    let main = std::fs::read(out.join("clockwise.1")).unwrap();
    assert_eq!(run(["man"]).stdout, main);
    let main = as_read(&String::from_utf8(main).unwrap());
    for name in commands() {
        let help = run_words(&format!("{name} --help"));
        let name = name.replace(' ', "-");
        let page = std::fs::read_to_string(out.join(format!("clockwise-{name}.1"))).unwrap();
        let page = as_read(&page);
        let help = help.text();
        let about = help.lines().next().unwrap();
        holds(&page, &[&format!(".SH NAME\nclockwise-{name} - {about}")]);
        holds(
            &page,
            &[".SH SYNOPSIS\n", ".SH DESCRIPTION\n", ".SH OPTIONS\n"],
        );
        let listed = main.contains(&format!("clockwise-{name}(1)\n{about}"));
        assert!(listed || name.contains('-'), "{name}");
        let options = help
            .split_whitespace()
            .filter_map(|word| word.strip_prefix("--"));
        for option in options {
            let option = option
                .split(|c: char| !c.is_ascii_lowercase() && c != '-')
                .next();
            holds(&page, &[&format!("--{}", option.unwrap())]);
        }
        if help.contains("\nCommands:\n") {
            continue;
        }
        let (_, examples) = page.split_once(".SH EXAMPLES\n.nf\n").unwrap();
        let (examples, behind) = examples.split_once(".fi\n").unwrap();
        assert!(examples.lines().count() >= 2, "{page}");
        for example in examples.lines() {
            assert!(one_line(help).contains(example), "{example}");
        }
        let (_, codes) = behind.split_once(".SH \"EXIT STATUS\"\n").unwrap();
        holds(codes, &[".TP\n0\n"]);
    }
}

#[test]
fn a_folder_that_cannot_be_written_to_is_refused() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let path = file.path().to_str().unwrap();
    holds(&message(&run(["man", "--out", path])), &[path]);
}

/// The help is wrapped to the terminal's width.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A page without what roff needs and a reader does not see.
fn as_read(page: &str) -> String {
    let text = page
        .replace("\\fB", "")
        .replace("\\fI", "")
        .replace("\\fR", "");
    text.replace("\\-", "-")
        .replace("\\*(Aq", "'")
        .replace("\\&", "")
        .replace("\\\\", "\\")
}
