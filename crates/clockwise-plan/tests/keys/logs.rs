//! Logs, traces and dumps: the recorded ones against a count of a few lines, and hostile ones.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clockwise_plan::keys::{Format, Merged, Popularity, ReadOptions, read_keys};

use super::{Kept, bad, fails, gzip, named, read, with_key};

const MONITOR: &str = include_str!("../data/redis-monitor-sample.txt");
const METADUMP: &str = include_str!("../data/memcached-metadump-sample.txt");
const KVCACHE: &str = include_str!("../data/meta-kvcache-trace-sample.csv");
const POPULARITY: &str = include_str!("../data/meta-cachelib-popularity.csv");

fn by_key(kept: &[Kept]) -> BTreeMap<Vec<u8>, (Option<u64>, Option<u64>)> {
    let map: BTreeMap<_, _> = kept.iter().map(|k| (k.0.clone(), (k.1, k.2))).collect();
    assert_eq!(map.len(), kept.len(), "each key comes once");
    map
}

#[test]
fn a_recorded_monitor_has_the_requests_that_a_plain_count_finds() {
    let (kept, summary) = read(MONITOR, named("redis.log")).unwrap();
    assert_eq!(summary.format, Format::Monitor);
    assert_eq!((summary.lines, summary.bad_lines), (322, 0));
    assert_eq!(summary.unknown_commands, 0);

    // The sample's commands: all arguments are keys, or the first is, or none, or as in its only EVAL.
    let mut plain: BTreeMap<String, u64> = BTreeMap::new();
    for line in MONITOR.lines() {
        let (_, command) = line.split_once("] ").unwrap();
        let arguments: Vec<&str> = command[1..command.len() - 1].split("\" \"").collect();
        let keys = match arguments[0] {
            "MGET" | "DEL" => &arguments[1..],
            "EVAL" => &arguments[3..],
            "SELECT" => &[],
            _ => &arguments[1..2],
        };
        for key in keys {
            *plain.entry((*key).to_owned()).or_default() += 1;
        }
    }
    // Texts in quotes and keys correspond one to one.
    let mut counts: Vec<u64> = kept.iter().map(|k| k.1.unwrap()).collect();
    let mut expected: Vec<u64> = plain.values().copied().collect();
    counts.sort_unstable();
    expected.sort_unstable();
    assert_eq!(counts, expected);
    let requests = expected.iter().sum();
    assert_eq!(summary.merged, Some(Merged::Exact { requests }));

    let kept = by_key(&kept);
    for (text, requests) in &plain {
        if !text.contains('\\') {
            assert_eq!(kept[text.as_bytes()], (Some(*requests), None), "{text}");
        }
    }
    for key in ["giỏ-hàng:7", "tab\there", ""] {
        assert!(kept.contains_key(key.as_bytes()), "{key:?}");
    }
}

#[test]
fn a_recorded_dump_has_the_keys_and_sizes_that_a_plain_count_finds() {
    let (kept, summary) = read(METADUMP, named("dump.txt")).unwrap();
    assert_eq!(summary.format, Format::Metadump);
    let items: Vec<&str> = METADUMP.lines().filter(|line| *line != "END").collect();
    assert_eq!(kept.len(), items.len());
    assert_eq!(items.len(), 91);
    let size = |line: &str| {
        line.split_once(" size=")
            .unwrap()
            .1
            .trim()
            .parse::<u64>()
            .unwrap()
    };
    assert_eq!(
        kept.iter().map(|k| k.2.unwrap()).collect::<Vec<_>>(),
        items.iter().map(|line| size(line)).collect::<Vec<_>>()
    );
    assert!(kept.iter().all(|k| k.1.is_none()));
    assert_eq!(kept[3].0, b"{order:1}:items");
    assert_eq!(kept[4].0, "s\u{1ea3}n-ph\u{1ea9}m:1".as_bytes());
    assert_eq!((summary.merged, summary.bad_lines), (None, 0));

    // The dumps of two servers in one file.
    let (twice, _) = read(format!("{METADUMP}{METADUMP}"), named("-")).unwrap();
    assert_eq!(twice.len(), 2 * items.len());
}

#[test]
fn a_kvcache_trace_has_the_requests_that_a_plain_count_finds() {
    let (kept, summary) = read(gzip(KVCACHE.as_bytes()), named("kvcache.csv.gz")).unwrap();
    assert_eq!(summary.format, Format::KvCache);
    let mut plain: BTreeMap<Vec<u8>, (Option<u64>, Option<u64>)> = BTreeMap::new();
    for line in KVCACHE.lines().skip(1) {
        let f: Vec<&str> = line.split(',').collect();
        let number = |at: usize| f[at].parse::<u64>().unwrap();
        let entry = plain.entry(f[2].as_bytes().to_vec()).or_default();
        entry.0 = Some(entry.0.unwrap_or(0) + number(5));
        entry.1 = entry.1.max(Some(number(6) + number(3)));
    }
    assert_eq!((plain.len(), summary.records), (114, 114));
    assert_eq!(by_key(&kept), plain);
    assert_eq!(summary.merged, Some(Merged::Exact { requests: 1124 }));
    assert_eq!(summary.requests_column.as_deref(), Some("op_count"));

    // Asked for columns, it is a table, and rows stay rows.
    let (rows, summary) = read(KVCACHE, with_key("kvcache.csv", "key")).unwrap();
    assert_eq!((rows.len(), summary.format), (198, Format::Csv));
}

#[test]
fn a_twitter_trace_counts_lines_and_keeps_the_largest_value() {
    let text = "0,a,1,10,1,get,0\n0,b:x,3,0,1,get,0\r\n1,a,1,30,2,set,3600\n\n2,a,1,0,2,delete,0";
    let (kept, summary) = read(text, named("cluster052.csv")).unwrap();
    assert_eq!(summary.format, Format::Twitter);
    assert_eq!(
        kept,
        [
            (b"a".to_vec(), Some(3), Some(30), 1),
            (b"b:x".to_vec(), Some(1), Some(0), 2)
        ]
    );
}

#[test]
fn an_access_log_counts_targets() {
    let text = "1.2.3.4 - - [1/Jan/2026:00:00:00 +0700] \"GET /a?x=1 HTTP/1.1\" 200 512 \"-\" \"Mozilla/5.0 (X11)\"\n\
        1.2.3.4 - - [1/Jan/2026:00:00:01 +0700] \"GET /a?x=1 HTTP/1.1\" 304 -\n\
        1.2.3.4 - joe [1/Jan/2026:00:00:02 +0700] \"POST /b HTTP/2.0\" 204 -\n";
    let (kept, summary) = read(text, named("access.log")).unwrap();
    assert_eq!(summary.format, Format::AccessLog);
    assert_eq!(
        kept,
        [
            (b"/a?x=1".to_vec(), Some(2), Some(512), 1),
            (b"/b".to_vec(), Some(1), None, 3)
        ]
    );
}

fn of(format: Format) -> ReadOptions {
    let mut options = named("log");
    options.format = Some(format);
    options
}

#[test]
fn hostile_lines_are_bad_lines_with_their_reason() {
    let kvcache = "op_time,key,key_size,op,op_count,size\n";
    for (format, text, expected) in [
        (
            Format::Monitor,
            "1.5 [0 lua] \"MGET\" \"a\" \"\\q\"\n\u{ff}\nkey\n",
            &[
                "line 1: not a line of monitor: an unknown escape",
                "line 2: not a line of monitor: it does not begin with a time",
                "line 3: not a line of monitor: it does not begin with a time",
            ][..],
        ),
        (
            Format::Metadump,
            "key=a\nBUSY currently processing\nkey=a exp=1 size=-1\n",
            &[
                "line 1: not a line of metadump: nothing follows the key",
                "line 2: not a line of metadump: it does not begin with key=",
                "line 3: size is not a whole number up to 2^53: -1",
            ],
        ),
        (
            Format::KvCache,
            &format!("{kvcache}1,k,1,GET,x,1\n1,k,1,GET,1\n1,k,1,GET,1,1,1\n"),
            &[
                "line 2: op_count is not a whole number up to 2^53: x",
                "line 3: 5 fields, and column 6 is read",
                "line 4: 7 fields, and the first row has 6",
            ],
        ),
        (
            Format::Twitter,
            "0,k,1,2,3,get\n0,k,1,2,3,fetch,0\n0,k,1,x,3,get,0\nt,k,1,2,3,get,0\n",
            &[
                "line 1: not a line of twitter: it needs 7 fields",
                "line 2: unknown operation fetch",
                "line 3: the value size is not a whole number up to 2^53: x",
                "line 4: the timestamp is not a whole number up to 2^53: t",
            ],
        ),
        (
            Format::AccessLog,
            "x\n::1 - - [t] \"\\x16\\x03\" 400 9\n",
            &[
                "line 1: not a line of access-log: it has no time in brackets",
                "line 2: not a line of access-log: the request has no target",
            ],
        ),
    ] {
        assert_eq!(bad(text, of(format)), expected, "{format}");
    }
    let error = fails("key,size\na,1\n", of(Format::KvCache));
    assert_eq!(
        error.to_string(),
        "log has no column key_size: it has key, size"
    );
}

#[test]
fn a_line_with_a_bad_key_counts_for_nothing() {
    let mut options = of(Format::Monitor);
    options.max_bad_share = 1.0;
    let (kept, summary) = read("1.5 [0 lua] \"MGET\" \"a\" \"\\q\"\n", options).unwrap();
    assert!(kept.is_empty());
    assert_eq!((summary.records, summary.bad_lines), (0, 1));
}

#[test]
fn one_key_in_a_million_requests_is_one_record() {
    let line = "1.5 [0 lua] \"GET\" \"hot\"\n";
    let (kept, summary) = read(line.repeat(1_000_000), named("-")).unwrap();
    assert_eq!(kept, [(b"hot".to_vec(), Some(1_000_000), None, 1)]);
    assert_eq!((summary.lines, summary.records), (1_000_000, 1));
}

#[test]
fn more_than_a_million_keys_are_a_sample() {
    let text: String = (0..1_000_100)
        .map(|n| format!("0,k{n},1,2,3,get,0\n"))
        .chain([
            "0,k5,1,2,3,get,0\n".to_owned(),
            "0,k1000050,1,2,3,get,0\n".to_owned(),
        ])
        .collect();
    let mut keys = BTreeSet::new();
    let summary = read_keys(
        Box::new(std::io::Cursor::new(text)),
        named("-"),
        |record| assert!(keys.insert(record.key.to_vec())),
        |_| {},
    )
    .unwrap();
    assert_eq!(keys.len(), 1_000_000);
    assert_eq!(summary.records, 1_000_000);
    let merged = Merged::Sampled {
        requests: 1_000_001,
        left_out: 101,
    };
    assert_eq!(summary.merged, Some(merged));
}

#[test]
fn a_stop_hands_over_what_was_merged_so_far() {
    let options = named("-");
    let stop = Arc::clone(&options.stop);
    let text = "0,a,1,2,3,get,0\n0,b,1,2,3,get,0\n".repeat(200_000);
    let mut kept = Vec::new();
    let summary = read_keys(
        Box::new(std::io::Cursor::new(text)),
        options,
        |record| kept.push((record.key.to_vec(), record.requests.unwrap())),
        |now| stop.store(now.records > 0, Ordering::Relaxed),
    )
    .unwrap();
    assert!(!summary.complete);
    assert_eq!((kept.len(), summary.records), (2, 2));
    let requests = kept.iter().map(|k| k.1).sum();
    assert!((1..400_000).contains(&requests));
    assert_eq!(summary.merged, Some(Merged::Exact { requests }));
}

#[test]
fn a_popularity_table_gives_all_objects_and_all_requests() {
    let workload = "kvcache_reg";
    let popularity = Popularity::parse(POPULARITY.as_bytes(), workload).unwrap();
    let rows = POPULARITY
        .lines()
        .filter_map(|line| line.strip_prefix("kvcache_reg,"));
    let (objects, requests) = rows.fold((0, 0), |(objects, requests), row| {
        let (of, to) = row.split_once(',').unwrap();
        (
            objects + of.parse::<u64>().unwrap(),
            requests + to.parse::<u64>().unwrap(),
        )
    });
    assert_eq!(
        (popularity.objects(), popularity.requests()),
        (objects, requests)
    );
    assert_eq!(popularity.keys(), objects);
    let (mut keys, mut sum, mut last) = (0, 0, u64::MAX);
    assert!(popularity.for_each(&AtomicBool::new(false), |_, requests| {
        // Within a bucket the first ones may have one more.
        assert!(requests <= last.saturating_add(1));
        last = requests;
        keys += 1;
        sum += requests;
    }));
    assert_eq!((keys, sum), (objects, requests));
}
