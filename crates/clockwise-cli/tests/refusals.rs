//! Cluster files, schemes and secrets that the command refuses: each message says what is wrong with which value, where
//! it stands, and which known name is nearest.

use std::path::Path;

use command::{Running, command, folder, holds, json, message, path, refusal, run, run_words};

mod command;

#[test]
fn faults_of_a_cluster_file_are_named_with_their_line() {
    for (text, pieces) in [
        (
            "[[node]]\nid = \"a\"\nweigth = 2\n",
            &[
                "c.toml:3: unknown name \"weigth\"",
                "hint: did you mean weight?",
            ][..],
        ),
        (
            "shceme = \"ring\"\n[[node]]\nid = \"a\"\n",
            &[
                "c.toml:1: unknown name \"shceme\"",
                "hint: did you mean scheme?",
            ],
        ),
        (
            "[[nodes]]\nid = \"a\"\n",
            &[
                "c.toml:1: unknown name \"nodes\"",
                "hint: did you mean node?",
            ],
        ),
        (
            "[routr]\nlisten = 1\n",
            &[
                "c.toml:1: unknown name \"routr\"",
                "hint: did you mean router?",
            ],
        ),
        (
            "\nquite_another = 1\n",
            &[
                "c.toml:2: unknown name \"quite_another\"",
                "hint: known here are ",
            ],
        ),
        (
            "[[node]]\nid = 3\n",
            &["c.toml:2: ", "integer `3`", "string"],
        ),
        ("[[node]]\nweight = 2\n", &["c.toml:1: missing field `id`"]),
        (
            "[[node]]\nid = \"a\"\nid = \"b\"\n",
            &["c.toml:3: duplicate key"],
        ),
        ("node = 3\n", &["c.toml:1: ", "integer `3`"]),
        (
            "[[node]]\nid = \"a\"\n\n[[node]]\nid = \"\"\n",
            &["c.toml:4: node id \"\": must not be empty"],
        ),
        (
            "[[node]]\nid = \"a\"\nendpoint = \"::1:7\"\n",
            &["c.toml:1: node a: endpoint \"::1:7\"", "brackets"],
        ),
        (
            "[[node]]\nid = \"a\"\nzone = 1\n",
            &["c.toml:3: ", "integer `1`"],
        ),
        ("replicas = 0\n", &["c.toml: replicas must be 1 or more"]),
        ("replicas = -1\n", &["c.toml:1: ", "integer `-1`"]),
        (
            "protocol = \"redsi\"\n",
            &[
                "c.toml:1: ",
                "unknown value \"redsi\"",
                "did you mean redis?",
            ],
        ),
        (
            "mode = \"stor\"\n",
            &["c.toml:1: ", "\"stor\"", "did you mean store?"],
        ),
        (
            "\nscheme = \"rign\"\n",
            &[
                "c.toml:2: unknown scheme \"rign\"",
                "hint: did you mean ring?",
            ],
        ),
        (
            "scheme = 3\n",
            &["c.toml:1: scheme must be a text or a table, not 3"],
        ),
        (
            "[scheme]\nhash = \"xxh64\"\n",
            &["c.toml:1: [scheme] needs a name"],
        ),
        (
            "[scheme]\nname = \"slots\"\nhash = \"xxh46\"\n",
            &["unknown hash \"xxh46\"", "hint: did you mean xxh64?"],
        ),
        (
            "[scheme]\nname = \"slots\"\ncuont = 4\n",
            &[
                "slots has no parameter \"cuont\"",
                "hint: did you mean count?",
            ],
        ),
        (
            "[scheme]\nname = \"slots\"\ncount = 0\n",
            &["c.toml:", "count must be a whole number from 1", "\"0\""],
        ),
        (
            "[scheme]\nname = 1\n",
            &["scheme.name must be a text, not 1"],
        ),
        (
            "key_rule = \"tag\"\n",
            &["c.toml:1: key rule \"tag\"", "redis-tag"],
        ),
        ("[[node]\nid = \"a\"\n", &["c.toml:1: "]),
        ("id = \n", &["c.toml:1: "]),
        (
            "{\"node\": [{\"id\": \"a\"}]}\n",
            &["c.toml: not a cluster file (TOML)", "hint: "],
        ),
        ("<cluster/>\n", &["c.toml: not a cluster file (TOML)"]),
        ("", &["c.toml: the file is empty"]),
        (" \n\t\n", &["c.toml: the file is empty"]),
        ("\0\u{1}\u{2}", &["c.toml:1: "]),
    ] {
        let files = folder(&[("c.toml", text.as_bytes())]);
        let file = path(&files, "c.toml");
        for args in [["inspect", "--cluster", &file], ["plan", "--from", &file]] {
            holds(&refusal(args), pieces);
        }
    }
}

#[test]
fn files_that_are_no_cluster_files_are_refused_whole() {
    let large = vec![b'#'; (16 << 20) + 1];
    let files = folder(&[
        ("binary", b"\x7fELF\x02\xff\xfe"),
        ("large", &large),
        ("one.toml", b"[[node]]\nid = \"a\"\n"),
    ]);
    for (name, pieces) in [
        ("binary", &["binary: ", "utf-8"][..]),
        ("large", &["large: larger than 16 MiB"]),
        ("missing.toml", &["missing.toml: No such file"]),
        (".", &["Is a directory"]),
        ("one.toml#pool", &["one.toml: ", "#pool names nothing"]),
    ] {
        holds(
            &refusal(["inspect", "--cluster", &path(&files, name)]),
            pieces,
        );
    }
    let one = path(&files, "one.toml");
    let both = refusal(["inspect", "--cluster", &one, "b"]);
    holds(
        &both,
        &["one.toml is a file", "only membership value", "hint: "],
    );
    // Windows editors put a mark in front; it is no part of TOML.
    let marked = folder(&[("c.toml", "\u{feff}[[node]]\r\nid = \"a\"\r\n".as_bytes())]);
    assert_eq!(
        run(["inspect", "--cluster", &path(&marked, "c.toml")]).code,
        Some(0)
    );
}

#[test]
fn a_file_without_an_end_is_read_no_further_than_needed() {
    for args in [
        &["inspect", "--cluster", "/dev/zero"][..],
        &[
            "inspect",
            "--cluster",
            "a",
            "--scheme",
            "slots/siphash-2-4",
            "--hash-key",
            "file:/dev/zero",
        ],
    ] {
        refusal(args);
    }
}

#[test]
fn schemes_that_do_not_exist_get_the_nearest_name() {
    for (scheme, pieces) in [
        (
            "rings",
            &["unknown scheme \"rings\"", "hint: did you mean ring?"][..],
        ),
        (
            "Slots",
            &["unknown scheme \"Slots\"", "hint: did you mean slots?"],
        ),
        (
            "consistent",
            &[
                "unknown scheme \"consistent\"",
                "hint: schemes are slots, ring",
            ],
        ),
        (
            "articles/005-ring",
            &["articles/005-ring", "hint: did you mean articles/00"],
        ),
        ("", &["unknown scheme \"\""]),
        (
            "ring/xxh3",
            &["unknown hash \"xxh3\"", "hint: did you mean xxh64?"],
        ),
        (
            "ring/DefaultHasher",
            &["unknown hash \"DefaultHasher\"", "hint: hashes are "],
        ),
        (
            "ring/crc-32",
            &["cannot use the hash crc-32 (32 bits)", "64 bits"],
        ),
        (
            "articles/000-ring/xxh3-64",
            &["cannot use the hash xxh3-64", "md5-be64"],
        ),
        ("ring/v2", &["no version v2", "v1"]),
        (
            "ring,tokns=3",
            &["no parameter \"tokns\"", "hint: did you mean tokens?"],
        ),
        (
            "ring,count=4",
            &["no parameter \"count\"", "hint: ring has layer, tokens"],
        ),
        (
            "jump,tokens=4",
            &["no parameter \"tokens\"", "hint: jump has layer"],
        ),
        (
            "ring,tokens=0",
            &["tokens must be a whole number from 1 to 16777216", "\"0\""],
        ),
        (
            "ring,tokens=1,tokens=2",
            &["parameter tokens is given twice"],
        ),
        ("ring,160", &["\"160\" is not a parameter"]),
        ("slots,count=0", &["count must be a whole number from 1"]),
    ] {
        holds(
            &refusal(["inspect", "--cluster", "a,b", "--scheme", scheme]),
            pieces,
        );
        holds(
            &refusal(["plan", "--from", "a", "--add", "b", "--to-scheme", scheme]),
            pieces,
        );
    }
    let tokens = refusal(["locate", "--cluster", "a,b", "--tokens", "5", "--", "k"]);
    holds(
        &tokens,
        &[
            "scheme slots has no parameter \"tokens\"",
            "hint: slots has count, layer",
        ],
    );
    let rule = refusal([
        "locate",
        "--cluster",
        "a,b",
        "--key-rule",
        "hole",
        "--",
        "k",
    ]);
    holds(&rule, &["key rule \"hole\"", "whole"]);
    let own = run_words("inspect --cluster a,b --scheme articles/000-ring --key-rule redis-tag");
    holds(
        &message(&own),
        &["articles/000-ring", "key rule whole", "redis-tag"],
    );
}

#[test]
fn what_a_scheme_cannot_do_is_refused_with_a_way_out() {
    for (words, pieces) in [
        (
            "inspect --cluster a=2,b --scheme jump",
            &["jump has no weights", "hint: "][..],
        ),
        (
            "inspect --cluster a=2,b --scheme redis-cluster",
            &["redis-cluster has no weights"],
        ),
        (
            "inspect --cluster a=1000,b --scheme ring,tokens=100000",
            &["tokens", "hint: lower --tokens"],
        ),
        (
            "locate --cluster a,b --scheme redis-cluster --replicas 2 -- k",
            &["names no node behind", "hint: "],
        ),
        (
            "plan --from a,b,c --remove a --scheme jump",
            &["removing node a (bucket 0 of 3)", "%", "hint: "],
        ),
    ] {
        holds(&message(&run_words(words)), pieces);
    }
}

#[test]
fn misspelt_commands_and_options_get_the_nearest() {
    for (words, piece) in [
        ("plna", "'plan'"),
        ("plan --form a", "'--from'"),
        ("locate --clutser a k", "'--cluster'"),
    ] {
        let answer = run_words(words);
        assert_eq!(answer.code, Some(2));
        holds(&answer.stderr, &["error: ", piece]);
    }
    for words in ["--help", "plan --help", "locate --help", "inspect --help"] {
        let answer = run_words(words);
        assert_eq!(answer.code, Some(0), "{words}");
        holds(answer.text(), &["Usage: clockwise"]);
        if words != "--help" {
            let examples = answer.text().matches("\n  clockwise ").count();
            assert!(examples >= 2, "{words}: {examples}");
            holds(answer.text(), &["Examples:", "--json"]);
        }
    }
    holds(run_words("--version").text(), &["clockwise 0."]);
}

#[test]
fn a_keyed_hash_needs_its_key_from_a_variable_or_a_file() {
    let files = folder(&[
        ("key", format!("{SECRET}\n").as_bytes()),
        ("short", b"0001"),
        ("bytes", b"\xff\xfe"),
        ("c.toml", b"[scheme]\nname = \"slots\"\nhash = \"siphash-2-4\"\nkey_ref = \"env:CLOCKWISE_TEST_KEY\"\n[[node]]\nid = \"a\"\n"),
    ]);
    let in_file = |name| format!("file:{}", path(&files, name));
    for reference in ["env:CLOCKWISE_TEST_KEY", &in_file("key")] {
        let answer = with_secret(&[
            "inspect",
            "--json",
            "--cluster",
            "a,b",
            "--scheme",
            KEYED,
            "--hash-key",
            reference,
        ]);
        assert_eq!(answer.code, Some(0), "{}", answer.stderr);
        // SHA-256 of the sixteen bytes.
        holds(
            answer.text(),
            &["key_sha256=be45cb2605bf36bebde684841a28f0fd43c69850a3dce5fedba69928ee3a8991"],
        );
        hides_the_secret(&answer);
    }
    for (reference, pieces) in [
        (
            "env:CLOCKWISE_TEST_NONE",
            &["CLOCKWISE_TEST_NONE", "not found"][..],
        ),
        ("env:", &["hash key env:"]),
        (
            "env:CLOCKWISE_TEST_SHORT",
            &["32 hexadecimal digits", "4 characters"],
        ),
        (
            "env:CLOCKWISE_TEST_LETTERS",
            &["32 hexadecimal digits", "32 characters"],
        ),
        ("env:CLOCKWISE_TEST_BYTES", &["not text"]),
        (&in_file("missing"), &["missing: No such file"]),
        (
            &in_file("short"),
            &["32 hexadecimal digits", "4 characters"],
        ),
        (&in_file("bytes"), &["bytes: ", "UTF-8"]),
        (SECRET, &["must be env:NAME or file:PATH", "hint: "]),
        ("vault:x", &["must be env:NAME or file:PATH"]),
    ] {
        let answer = with_secret(&[
            "inspect",
            "--cluster",
            "a,b",
            "--scheme",
            KEYED,
            "--hash-key",
            reference,
        ]);
        holds(&message(&answer), pieces);
        hides_the_secret(&answer);
    }
    let lacking = refusal(["inspect", "--cluster", "a,b", "--scheme", KEYED]);
    holds(
        &lacking,
        &["siphash-2-4 needs a key", "hint: ", "--hash-key env:NAME"],
    );

    let file = path(&files, "c.toml");
    let answer = with_secret(&["locate", "--json", "--cluster", &file, "k"]);
    assert_eq!(answer.json_lines()[0]["owner"], "a", "{}", answer.stderr);
    hides_the_secret(&answer);
    let lacking = refusal(["locate", "--cluster", &file, "k"]);
    holds(
        &lacking,
        &["c.toml:1: hash key env:CLOCKWISE_TEST_KEY", "not found"],
    );
}

#[test]
fn a_secret_other_than_the_named_one_is_refused() {
    let named = format!("{KEYED},key_sha256={}", "0".repeat(64));
    let answer = with_secret(&[
        "inspect",
        "--cluster",
        "a",
        "--scheme",
        &named,
        "--hash-key",
        "env:CLOCKWISE_TEST_KEY",
    ]);
    holds(
        &message(&answer),
        &["does not have the digest that key_sha256 names"],
    );
    hides_the_secret(&answer);
}

#[test]
fn secrets_appear_in_no_output() {
    for words in [
        "plan --from a,b --add c --keys gen:k:{0..999}",
        "plan --from a,b --add c --keys gen:k:{0..999} --json",
        "plan --from a,b --to b --keys gen:k:{0..999} --to-scheme ring/siphash-1-3 --json",
        "inspect --cluster a,b",
        "inspect --cluster a,b --json",
        "locate --cluster a,b --json k",
    ] {
        let mut args: Vec<&str> = words.split(' ').collect();
        args.extend(["--scheme", KEYED, "--hash-key", "env:CLOCKWISE_TEST_KEY"]);
        let answer = with_secret(&args);
        assert_eq!(answer.code, Some(0), "{}", answer.stderr);
        hides_the_secret(&answer);
    }
}

#[test]
fn another_secret_is_another_placement() {
    let files = folder(&[
        ("one", SECRET.as_bytes()),
        ("other", "ff".repeat(16).as_bytes()),
    ]);
    let located = |name| {
        let reference = format!("file:{}", path(&files, name));
        let args = [
            "locate",
            "--cluster",
            "a,b",
            "--scheme",
            KEYED,
            "--hash-key",
            &reference,
            "--keys",
            "gen:k:{0..99}",
        ];
        run(args).stdout
    };
    assert_ne!(located("one"), located("other"));
    assert!(Path::new(&path(&files, "one")).is_file());
    let plan = json([
        "plan",
        "--json",
        "--from",
        "a,b",
        "--to",
        "a,b",
        "--keys",
        "gen:k:{0..99}",
    ]);
    assert_eq!(plan["moved"]["keys"], 0);
}

const KEYED: &str = "slots/siphash-2-4";
const SECRET: &str = "000102030405060708090a0b0c0d0e0f";

fn with_secret(args: &[&str]) -> command::Answer {
    use std::os::unix::ffi::OsStringExt as _;

    let mut command = command(args);
    command
        .env("CLOCKWISE_TEST_KEY", SECRET)
        .env("CLOCKWISE_TEST_SHORT", "0a0b")
        .env("CLOCKWISE_TEST_LETTERS", SECRET.replace('0', "z"))
        .env(
            "CLOCKWISE_TEST_BYTES",
            std::ffi::OsString::from_vec([SECRET.as_bytes(), b"\xff"].concat()),
        );
    Running::start(&mut command).finish()
}

#[track_caller]
fn hides_the_secret(answer: &command::Answer) {
    for output in [answer.text(), &answer.stderr] {
        for secret in [&SECRET[..16], "0z0b", &SECRET.replace('0', "z")[..16]] {
            assert!(!output.contains(secret), "{output}");
        }
    }
}

#[test]
fn keys_and_tokens_that_no_scheme_takes_are_refused() {
    holds(
        &refusal("inspect --cluster a --hash-key env:NOWHERE".split(' ')),
        &["hash key env:NOWHERE"],
    );
    holds(
        &refusal("inspect --cluster a --tokens 5".split(' ')),
        &["scheme slots has no parameter \"tokens\""],
    );
    let secret = "000102030405060708090a0b0c0d0e0f";
    for reference in [
        format!("env:{secret}"),
        format!("file:{secret}"),
        secret.to_owned(),
    ] {
        let message = refusal(["inspect", "--cluster", "a", "--hash-key", &reference]);
        assert!(!message.contains(secret), "{message}");
    }
    for line in [
        format!("key_sha256 = \"{secret}\""),
        format!("key_ref = [\"{secret}\"]"),
    ] {
        let text = format!("[scheme]\nname = \"slots\"\nhash = \"siphash-2-4\"\n{line}\n");
        let files = folder(&[("c.toml", text.as_bytes())]);
        let message = refusal(["inspect", "--cluster", &path(&files, "c.toml")]);
        assert!(!message.contains(secret), "{message}");
    }
}
