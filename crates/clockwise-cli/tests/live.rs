//! Keys of live servers: real redis-server and memcached, and servers that misbehave.
//!
//! A server that is missing fails its test. No test measures time.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use clockwise::hash::crc16;
use command::{Answer, Running, command, folder, holds, path, run};
use serde_json::Value;
use servers::{Server, ask, free_port, scripted, set_all, wait_until};

mod command;
mod servers;

#[test]
fn a_plan_on_a_live_redis_is_the_plan_on_its_keys_in_a_file() {
    let server = Server::redis(&[]);
    let keys = some_keys();
    let mut connection = server.connect("");
    set_all(&mut connection, keys.iter().map(Vec::as_slice));
    let live = plan(&format!("redis://{}", server.place()), &[]);
    assert_eq!(live.code, Some(0), "{}", live.stderr);
    same_plan(&live, &keys);
    let source = live.json()["source"].as_str().unwrap().to_owned();
    let start = format!("redis://{} (SCAN; ", server.place());
    holds(
        &source,
        &[&start, " bytes a key, the mean of 200 by MEMORY USAGE"],
    );
    holds(&live.stderr, &[&format!("keys: {source}")]);

    // Each key once in the answers of locate too.
    let args = ["locate", "--json", "--cluster", "a,b", "--keys"];
    let source = format!("redis://{}/0", server.place());
    let located = run(args.into_iter().chain([source.as_str()]));
    let hex = |key: &[u8]| -> String { key.iter().map(|byte| format!("{byte:02x}")).collect() };
    let expected: BTreeSet<String> = keys.iter().map(|key| hex(key)).collect();
    let lines = located.json_lines();
    assert_eq!(lines.len(), keys.len());
    let found: BTreeSet<String> = lines
        .iter()
        .map(|line| line["key_hex"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn nothing_is_written_and_no_command_is_sent_but_those_in_the_book() {
    let server = Server::redis(&[]);
    let mut connection = server.connect("");
    set_all(&mut connection, some_keys().iter().map(Vec::as_slice));
    ask::<()>(&mut connection, "CONFIG RESETSTAT");
    let dirty = info(
        &mut connection,
        "persistence",
        "rdb_changes_since_last_save",
    );
    let live = plan(&format!("redis://{}/0", server.place()), &[]);
    assert_eq!(live.code, Some(0), "{}", live.stderr);
    let stats = command_stats(&mut connection);
    let expected = ["config|resetstat", "dbsize", "info", "memory|usage", "scan"];
    assert_eq!(stats.keys().collect::<Vec<_>>(), expected, "{stats:?}");
    assert_eq!((stats["dbsize"], stats["memory|usage"]), (1, 200));
    let after = info(
        &mut connection,
        "persistence",
        "rdb_changes_since_last_save",
    );
    assert_eq!(after, dirty);
}

#[test]
fn a_password_comes_from_the_address_or_the_environment_and_is_never_shown() {
    let secret = "s3cr%t/p@ss";
    let server = Server::redis(&["--requirepass", secret]);
    let place = server.place();
    let mut connection = server.connect(":s3cr%25t%2Fp%40ss@");
    set_all(&mut connection, [&b"a"[..], b"b", b"c"]);
    // As it is, where it holds no percent sign, or encoded; with and without a user.
    for credentials in [
        ":s3cr%25t%2Fp%40ss@",
        ":s3cr%25t/p@ss@",
        "default:s3cr%25t/p@ss@",
    ] {
        let live = plan(&format!("redis://{credentials}{place}"), &[]);
        assert_eq!(live.code, Some(0), "{}", live.stderr);
        assert_eq!(live.json()["keys"], 3);
        holds(live.text(), &[&format!("redis://***@{place} (SCAN")]);
        hides(&live);
    }
    let source = format!("redis://{place}");
    let with = |password: &str| {
        let mut command = command(plan_args(&source, &[]));
        Running::start(command.env("CLOCKWISE_REDIS_PASSWORD", password)).finish()
    };
    let live = with(secret);
    assert_eq!((live.code, &live.json()["keys"]), (Some(0), &3.into()));
    hides(&live);
    let live = with("s3cr-wrong");
    assert_eq!(live.code, Some(3), "{}", live.stderr);
    hides(&live);
    for (credentials, pieces) in [
        ("", &["NOAUTH", "hint: give the password"][..]),
        (
            ":s3crWrong@",
            &["uthentication failed", "hint: give the password"],
        ),
        ("nobody:s3crWrong@", &["uthentication failed"]),
    ] {
        let live = plan(&format!("redis://{credentials}{place}"), &[]);
        assert_eq!(live.code, Some(3), "{}", live.stderr);
        holds(
            &live.stderr,
            &[&format!("error: cannot read redis at {place}: ")],
        );
        holds(&live.stderr, pieces);
        hides(&live);
    }
    // A server that does not know AUTH may repeat what was said to it.
    let server = Server::redis(&["--rename-command", "AUTH", "LOGIN"]);
    let live = plan(&format!("redis://:s3cret@{}", server.place()), &[]);
    assert_eq!(live.code, Some(3), "{}", live.stderr);
    hides(&live);
}

#[test]
fn addresses_that_cannot_be_meant_are_wrong_usage_and_hide_their_password() {
    for (source, options, pieces) in [
        (
            "redis://u:s3cret@h:x",
            &[][..],
            &["--keys redis://...: ", "port"][..],
        ),
        (
            "redis://u:s3cret@h/x",
            &[],
            &["database", "hint: write redis://"],
        ),
        ("REDIS://u:s3cret@", &[], &["host"]),
        ("redis://s3cret@h", &[], &["without a password"]),
        (
            "memcached://u:s3cret@h",
            &[],
            &["log in", "hint: write memcached://"],
        ),
        ("memcached://h/1", &[], &["databases"]),
        ("memcached://h", &["--scan-rate", "5"], &["--scan-rate"]),
        ("gen:a{0..1}", &["--scan-rate", "5"], &["--scan-rate"]),
        ("redis://h", &["--scan-rate", "0"], &["--scan-rate"]),
        (
            "redis://h",
            &["--tls-ca", "ca.pem"],
            &["--tls-ca", "rediss://"],
        ),
        (
            "rediss://:s3cret@h",
            &["--tls-ca", "missing.pem"],
            &["--tls-ca missing.pem: No such"],
        ),
        (
            "rediss://:s3cret@h",
            &["--tls-ca", "Cargo.toml"],
            &["no certificate in it", "hint: "],
        ),
    ] {
        let answer = plan(source, options);
        assert_eq!((answer.code, answer.text()), (Some(2), ""), "{source}");
        holds(&answer.stderr, pieces);
        hides(&answer);
    }
}

#[test]
fn a_database_is_read_by_its_number() {
    let server = Server::redis(&[]);
    let mut connection = server.connect("");
    set_all(&mut connection, [&b"a"[..], b"b", b"c"]);
    ask::<()>(&mut connection, "SELECT 5");
    set_all(&mut connection, [&b"d"[..]]);
    for (path, keys) in [("", 3), ("/", 3), ("/0", 3), ("/5", 1)] {
        let live = plan(&format!("redis://{}{path}", server.place()), &[]);
        assert_eq!((live.code, &live.json()["keys"]), (Some(0), &keys.into()));
    }
    let live = plan(&format!("redis://{}/1", server.place()), &[]);
    assert_eq!(live.code, Some(2), "{}", live.stderr);
    holds(&live.stderr, &["there are no keys in it"]);
    let live = plan(&format!("redis://{}/99", server.place()), &[]);
    assert_eq!(live.code, Some(3), "{}", live.stderr);
    holds(&live.stderr, &["out of range"]);
}

#[test]
fn every_master_of_a_cluster_is_scanned() {
    let servers: Vec<Server> = (0..3)
        .map(|_| Server::redis(&["--cluster-enabled", "yes"]))
        .collect();
    let ranges = [(0, 5460), (5461, 10_922), (10_923, 16_383)];
    let mut connections: Vec<_> = servers.iter().map(|server| server.connect("")).collect();
    for (connection, (first, last)) in connections.iter_mut().zip(ranges) {
        ask::<()>(connection, &format!("CLUSTER ADDSLOTSRANGE {first} {last}"));
    }
    for server in &servers[1..] {
        let (port, bus_port) = (server.port, server.bus_port);
        let meet = format!("CLUSTER MEET 127.0.0.1 {port} {bus_port}");
        ask::<()>(&mut connections[0], &meet);
    }
    wait_until("a cluster that is whole", || {
        connections.iter_mut().all(|connection| {
            let info: String = ask(connection, "CLUSTER INFO");
            info.contains("cluster_state:ok") && info.contains("cluster_size:3")
        })
    });
    let keys: Vec<Vec<u8>> = (0..20_000).map(|i| format!("user:{i}").into()).collect();
    for (connection, (first, last)) in connections.iter_mut().zip(ranges) {
        let here = keys
            .iter()
            .map(Vec::as_slice)
            .filter(|key| (first..=last).contains(&(crc16(key) % 16_384)));
        set_all(connection, here);
        ask::<()>(connection, "CONFIG RESETSTAT");
    }
    for server in &servers {
        let live = plan(&format!("redis://{}", server.place()), &[]);
        assert_eq!(live.code, Some(0), "{}", live.stderr);
        same_plan(&live, &keys);
        holds(live.text(), &["(3 masters, SCAN"]);
    }
    for connection in &mut connections {
        let stats = command_stats(connection);
        let expected = [
            "cluster|nodes",
            "config|resetstat",
            "dbsize",
            "info",
            "memory|usage",
            "scan",
        ];
        assert_eq!(stats.keys().collect::<Vec<_>>(), expected, "{stats:?}");
    }
    // A cluster that lost slots is read as far as it is there, and that is said.
    ask::<()>(&mut connections[0], "CLUSTER DELSLOTSRANGE 0 99");
    let live = plan(&format!("redis://{}", servers[0].place()), &[]);
    assert_eq!(live.code, Some(0), "{}", live.stderr);
    let warnings = live.json()["warnings"].clone();
    let found = warnings.as_array().unwrap().iter().any(|warning| {
        warning["code"] == "live-keys"
            && warning["text"]
                .as_str()
                .unwrap()
                .contains("16,284 of 16,384 slots")
    });
    assert!(found, "{warnings}");
}

#[test]
fn tls_trusts_the_ca_that_was_named() {
    let place = folder(&[("san.txt", b"subjectAltName=IP:127.0.0.1,DNS:localhost\n")]);
    for words in [
        "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=ca -keyout ca.key -out ca.pem",
        "req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=server -keyout server.key -out server.csr",
        "x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile san.txt -out server.pem",
        "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=other -keyout other.key -out other.pem",
    ] {
        let made = Command::new("openssl")
            .args(words.split(' '))
            .current_dir(place.path())
            .output()
            .unwrap_or_else(|error| panic!("openssl: {error} (./test installs it)"));
        assert!(
            made.status.success(),
            "{}",
            String::from_utf8_lossy(&made.stderr)
        );
    }
    let file = |name| path(&place, name);
    let (cert, key, ca) = (file("server.pem"), file("server.key"), file("ca.pem"));
    let server = Server::redis(&[
        "--tls-cert-file",
        &cert,
        "--tls-key-file",
        &key,
        "--tls-ca-cert-file",
        &ca,
        "--tls-auth-clients",
        "no",
        "--requirepass",
        "s3cret",
    ]);
    let source = format!("rediss://:s3cret@{}", server.place());
    let certificates = redis::TlsCertificates {
        client_tls: None,
        root_cert: Some(std::fs::read(&ca).unwrap()),
    };
    let client = redis::Client::build_with_tls(source.as_str(), certificates).unwrap();
    let keys = some_keys();
    let mut connection = client.get_connection().unwrap();
    set_all(&mut connection, keys.iter().map(Vec::as_slice));
    let live = plan(&source, &["--tls-ca", &ca]);
    assert_eq!(live.code, Some(0), "{}", live.stderr);
    same_plan(&live, &keys);
    holds(live.text(), &["rediss://***@127.0.0.1:"]);
    hides(&live);
    let other = file("other.pem");
    for options in [&[][..], &["--tls-ca", &other]] {
        let live = plan(&source, options);
        assert_eq!(live.code, Some(3), "{}", live.stderr);
        holds(
            &live.stderr,
            &[
                "certificate",
                "hint: name the CA's certificate with --tls-ca",
            ],
        );
        hides(&live);
    }
    let plain = plan(&format!("redis://{}", server.place()), &[]);
    assert_eq!(plain.code, Some(3), "{}", plain.stderr);
    holds(&plain.stderr, &["rediss://"]);
}

#[test]
fn a_server_that_does_not_answer_is_out_of_reach() {
    let port = scripted(&[], false);
    let started: Vec<(&str, Running)> =
        ["redis://", "redis://:s3cret@", "rediss://", "memcached://"]
            .into_iter()
            .map(|start| {
                let source = format!("{start}127.0.0.1:{port}");
                (start, Running::start(&mut command(plan_args(&source, &[]))))
            })
            .collect();
    for (start, running) in started {
        let answer = running.finish();
        assert_eq!((answer.code, answer.text()), (Some(3), ""), "{start}");
        let place = format!("127.0.0.1:{port}");
        holds(&answer.stderr, &[&place, "no answer within 5 s", "hint: "]);
        hides(&answer);
    }
}

#[test]
fn servers_that_are_not_there_or_hang_up_or_are_others_are_out_of_reach() {
    let nobody = free_port();
    for scheme in ["redis", "rediss", "memcached"] {
        let answer = plan(&format!("{scheme}://127.0.0.1:{nobody}"), &[]);
        assert_eq!((answer.code, answer.text()), (Some(3), ""), "{scheme}");
        let place = format!("127.0.0.1:{nobody}");
        holds(&answer.stderr, &[&place, "refused", "hint: does it run"]);
        let host = plan(&format!("{scheme}://nobody.invalid:1"), &[]);
        assert_eq!(host.code, Some(3), "{}", host.stderr);
        holds(&host.stderr, &["nobody.invalid:1", "hint: "]);
        let port = scripted(&[], true);
        let answer = plan(&format!("{scheme}://127.0.0.1:{port}"), &[]);
        assert_eq!((answer.code, answer.text()), (Some(3), ""), "{scheme}");
        let port = scripted(&["HTTP/1.1 400 \x1b[31mBad\r\n\r\n"], false);
        let answer = plan(&format!("{scheme}://127.0.0.1:{port}"), &[]);
        assert_eq!((answer.code, answer.text()), (Some(3), ""), "{scheme}");
        assert!(!answer.stderr.contains('\x1b'), "{}", answer.stderr);
    }
}

#[test]
fn a_key_that_scan_gives_twice_counts_once() {
    let answers = &[
        "$19\r\ncluster_enabled:0\r\n\r\n",
        ":3\r\n",
        "*2\r\n$1\r\n7\r\n*2\r\n$1\r\na\r\n$1\r\nb\r\n",
        ":50\r\n",
        "*2\r\n$1\r\n0\r\n*3\r\n$1\r\nb\r\n$1\r\nc\r\n$1\r\na\r\n",
    ];
    let port = scripted(answers, true);
    let live = plan(&format!("redis://127.0.0.1:{port}"), &[]);
    assert_eq!(live.code, Some(0), "{}", live.stderr);
    let plan = live.json();
    assert_eq!(
        (&plan["keys"], &plan["distinct_keys"]),
        (&3.into(), &3.into())
    );
    holds(
        plan["source"].as_str().unwrap(),
        &["50 bytes a key", "2 repeats left out"],
    );
}

#[test]
fn a_plan_on_a_live_memcached_is_the_plan_on_its_keys_in_a_file() {
    let server = Server::memcached();
    let keys: Vec<Vec<u8>> = (0..20_000)
        .map(|i| match i % 4 {
            0 => format!("user:{i}").into(),
            1 => format!("giỏ-hàng:{i}").into(),
            2 => format!("key=%41&size={i}").into(),
            // As long as a key may be, of bytes that are no text.
            _ => [format!("{i}:").as_bytes(), &[0xff; 250]].concat()[..250].to_vec(),
        })
        .collect();
    server.store(&keys);
    let live = plan(&format!("memcached://{}", server.place()), &[]);
    assert_eq!(live.code, Some(0), "{}", live.stderr);
    assert!(live.json()["bytes"].as_u64().unwrap() > 20_000 * 50);
    same_plan(&live, &keys);
    holds(live.text(), &["(lru_crawler metadump)"]);
}

#[test]
fn a_memcached_that_cannot_dump_says_why() {
    for (answer, pieces) in [
        (
            "BUSY currently processing crawler request\r\n",
            &["BUSY", "hint: another crawl"][..],
        ),
        ("ERROR\r\n", &["ERROR", "hint: metadump needs memcached"]),
        (
            "CLIENT_ERROR lru crawler disabled\r\n",
            &["disabled", "hint: "],
        ),
        ("key=a exp=-1 size=9\n", &["after 1 key", "closed"]),
        ("key=% size=9\nEND\r\n", &["1 of 1 lines"]),
    ] {
        let answers: &'static [&str] = vec!["STAT curr_items 1\r\nEND\r\n", answer].leak();
        let port = scripted(answers, true);
        let answer = plan(&format!("memcached://127.0.0.1:{port}"), &[]);
        assert_eq!((answer.code, answer.text()), (Some(3), ""));
        holds(&answer.stderr, &[&format!("127.0.0.1:{port}")]);
        holds(&answer.stderr, pieces);
    }
    let endless = "x".repeat(1 << 20).leak();
    let answers: &'static [&str] = vec!["END\r\n", &*endless].leak();
    let port = scripted(answers, false);
    let answer = plan(&format!("memcached://127.0.0.1:{port}"), &[]);
    assert_eq!(answer.code, Some(3));
    holds(&answer.stderr, &["a line without end"]);
}

#[test]
fn ctrl_c_during_a_slow_scan_prints_what_was_learnt() {
    let server = Server::redis(&[]);
    let mut connection = server.connect("");
    set_all(&mut connection, some_keys().iter().map(Vec::as_slice));
    let source = format!("redis://{}", server.place());
    let mut scanned = || command_stats(&mut connection).get("scan").copied();
    let mut running = Running::start(&mut command(plan_args(&source, &["--scan-rate", "100"])));
    running.wait_for_its_ctrl_c();
    wait_until("a few answers", || scanned() >= Some(3));
    running.press_ctrl_c();
    let answer = running.finish();
    assert_eq!(answer.code, Some(130), "{}", answer.stderr);
    let plan = answer.json();
    assert_eq!(plan["partial"], true);
    let keys = plan["keys"].as_u64().unwrap();
    assert!((1..20_000).contains(&keys), "{keys}");
    holds(plan["source"].as_str().unwrap(), &["(its first "]);

    let before = scanned();
    let args = [
        "locate",
        "--cluster",
        "a,b",
        "--scan-rate",
        "100",
        "--keys",
        &source,
    ];
    let mut running = Running::start(&mut command(args));
    running.wait_for_its_ctrl_c();
    wait_until("a few answers", || {
        scanned() >= before.map(|calls| calls + 3)
    });
    running.press_ctrl_c();
    let answer = running.finish();
    assert_eq!(answer.code, Some(130), "{}", answer.stderr);
    assert!(answer.text().ends_with('\n'));
    assert!(
        answer
            .text()
            .lines()
            .all(|line| line.ends_with("\ta") || line.ends_with("\tb"))
    );
}

#[test]
fn ctrl_c_ends_a_command_whose_server_is_silent() {
    let port = scripted(&[], false);
    for start in ["redis://", "rediss://", "memcached://"] {
        let source = format!("{start}127.0.0.1:{port}");
        let mut running = Running::start(&mut command(plan_args(&source, &[])));
        running.wait_for_its_ctrl_c();
        running.press_ctrl_c();
        let answer = running.finish();
        assert_eq!(answer.code, Some(130), "{}", answer.stderr);
        let plan = answer.json();
        assert_eq!((&plan["partial"], &plan["keys"]), (&true.into(), &0.into()));
    }
}

/// 20,000 different keys: text, bytes of any kind, Vietnamese, and the empty one.
fn some_keys() -> Vec<Vec<u8>> {
    let mut keys = vec![Vec::new()];
    keys.extend((1..20_000_u32).map(|i| match i % 4 {
        0 => format!("user:{i}").into(),
        1 => format!("giỏ-hàng:{i}").into(),
        2 => [&b"\0\r\n \xff"[..], &i.to_be_bytes()].concat(),
        _ => format!("{{tag}}:%20 \\x{i}\t").into(),
    }));
    keys
}

fn plan_args(source: &str, options: &[&str]) -> Vec<String> {
    let args = [
        "plan", "--json", "--from", "a,b,c,d", "--add", "e", "--keys", source,
    ];
    args.iter()
        .chain(options)
        .map(|word| (*word).to_owned())
        .collect()
}

fn plan(source: &str, options: &[&str]) -> Answer {
    run(plan_args(source, options))
}

/// That a plan is the one of these keys from a file, but for what names the source and bytes, which a file of keys
/// does not know.
#[track_caller]
fn same_plan(live: &Answer, keys: &[Vec<u8>]) {
    let mut lines = String::new();
    for key in keys {
        let hex: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
        lines.push_str(&format!("{{\"key_hex\":\"{hex}\"}}\n"));
    }
    let place = folder(&[("keys.jsonl", lines.as_bytes())]);
    let file = plan(&path(&place, "keys.jsonl"), &[]);
    assert_eq!(file.code, Some(0), "{}", file.stderr);
    let (mut live, mut file) = (live.json(), file.json());
    assert_eq!(live["keys"], keys.len());
    for plan in [&mut live, &mut file] {
        plan["source"] = Value::Null;
        without_bytes(plan);
    }
    assert_eq!(live, file);
}

fn without_bytes(value: &mut Value) {
    match value {
        Value::Object(members) => {
            // How long the copying of bytes takes is in `copy`.
            members.retain(|name, _| !name.contains("bytes") && name != "copy");
            members.values_mut().for_each(without_bytes);
        }
        Value::Array(items) => items.iter_mut().for_each(without_bytes),
        _ => {}
    }
}

/// That no password of these tests is anywhere in the output: all begin alike.
#[track_caller]
fn hides(answer: &Answer) {
    for output in [answer.text(), &answer.stderr] {
        assert!(
            !output.contains("s3cr") && !output.contains("p@ss"),
            "{output}"
        );
    }
}

/// A line of what a Redis tells about itself.
fn info(connection: &mut redis::Connection, section: &str, name: &str) -> String {
    let info: String = ask(connection, &format!("INFO {section}"));
    let line = info
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    line.unwrap().to_owned()
}

/// How often each command was called.
fn command_stats(connection: &mut redis::Connection) -> BTreeMap<String, u64> {
    let info: String = ask(connection, "INFO commandstats");
    info.lines()
        .filter_map(|line| {
            let (name, rest) = line.strip_prefix("cmdstat_")?.split_once(":calls=")?;
            let calls = rest.split_once(',')?.0.parse().ok()?;
            Some((name.to_owned(), calls))
        })
        .collect()
}
