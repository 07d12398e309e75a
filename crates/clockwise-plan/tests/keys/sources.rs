//! Sources that are huge, silent, failing or shrinking.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

use clockwise_plan::keys::{Format, KeyError, Progress, read_keys};

use super::{fails, gzip, keys, many_lines, named, read, zst};

/// `head`, then `count` bytes `x`, then `tail`.
fn long(head: &'static [u8], count: u64, tail: &'static [u8]) -> Box<dyn Read + Send> {
    Box::new(head.chain(io::repeat(b'x').take(count)).chain(tail))
}

#[test]
fn a_line_of_one_gibibyte_is_one_bad_line_in_every_format() {
    let gibibyte = 1 << 30;
    for (name, source) in [
        ("lines", long(b"a\n", gibibyte, b"\nb\n")),
        ("lines", long(b"", gibibyte, b"\na\nb")),
        ("csv", long(b"key,n\na,1\n\"\n", gibibyte, b"\",2\nb,3\n")),
        ("tsv", long(b"key\tn\na\t1\n", gibibyte, b"\nb\t1\n")),
        (
            "jsonl",
            long(
                b"{\"key\":\"a\"}\n{\"key\":\"",
                gibibyte,
                b"\"}\n{\"key\":\"b\"}\n",
            ),
        ),
    ] {
        let mut options = named(name);
        options.format = Some(name.parse().unwrap());
        options.max_bad_share = 0.5;
        let mut keys = Vec::new();
        let mut last = Progress::default();
        let summary = read_keys(
            source,
            options,
            |r| keys.push(r.key.to_vec()),
            |now| {
                assert!(now.bytes_read >= last.bytes_read && now.records >= last.records);
                last = *now;
            },
        )
        .unwrap();
        assert_eq!(keys, [b"a", b"b"], "{name}");
        assert_eq!(summary.bad_lines, 1);
    }
}

/// Gives what it is sent, and waits for more until the sender has gone.
struct Fed {
    parts: Receiver<Vec<u8>>,
    waiting: Sender<()>,
    rest: Cursor<Vec<u8>>,
}

impl Read for Fed {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.rest.read(out)?;
            if read > 0 {
                return Ok(read);
            }
            let _ = self.waiting.send(());
            match self.parts.recv() {
                Ok(part) => self.rest = Cursor::new(part),
                Err(_) => return Ok(0),
            }
        }
    }
}

fn fed() -> (Sender<Vec<u8>>, Receiver<()>, Box<Fed>) {
    let (send, parts) = channel();
    let (waiting, waits) = channel();
    let rest = Cursor::default();
    (
        send,
        waits,
        Box::new(Fed {
            parts,
            waiting,
            rest,
        }),
    )
}

#[test]
fn keys_arrive_while_the_source_has_not_ended_and_stop_ends_the_read() {
    for format in [None, Some(Format::Lines)] {
        let (send, _waits, source) = fed();
        send.send(b"a\nb\nunfinished".to_vec()).unwrap();
        let mut options = named("-");
        options.format = format;
        let stop = Arc::clone(&options.stop);
        let mut keys = Vec::new();
        let summary = read_keys(
            source,
            options,
            |record| {
                keys.push(record.key.to_vec());
                if record.key == b"b" {
                    stop.store(true, Ordering::Relaxed);
                }
            },
            |_| {},
        )
        .unwrap();
        assert_eq!(keys, [b"a", b"b"]);
        assert!(!summary.complete);
        assert_eq!(summary.records, 2);
        // The source was blocked all along.
        drop(send);
    }
}

#[test]
fn compressed_keys_are_not_held_back_while_the_source_gives_nothing() {
    for packed in [gzip(b"a\nb\n"), zst(b"a\nb\n")] {
        let (send, _waits, source) = fed();
        // In many parts, so that some arrive while others are worked on.
        for part in packed.chunks(3) {
            send.send(part.to_vec()).unwrap();
        }
        let options = named("-");
        let stop = Arc::clone(&options.stop);
        let summary = read_keys(
            source,
            options,
            |record| stop.store(record.key == b"b", Ordering::Relaxed),
            |_| {},
        );
        assert_eq!(summary.unwrap().records, 2);
        drop(send);
    }
}

#[test]
fn stop_set_by_another_thread_ends_a_read_whose_source_gives_nothing() {
    let (send, waits, source) = fed();
    let options = named("-");
    let stop = Arc::clone(&options.stop);
    let summary = std::thread::scope(|scope| {
        scope.spawn(move || {
            waits.recv().unwrap();
            stop.store(true, Ordering::Relaxed);
        });
        read_keys(source, options, |_| {}, |_| {}).unwrap()
    });
    assert!(!summary.complete);
    assert_eq!((summary.lines, summary.format), (0, Format::Lines));
    drop(send);
}

#[test]
fn progress_is_told_while_the_source_gives_nothing() {
    let (send, _waits, source) = fed();
    send.send(b"key,n\na,1\n".to_vec()).unwrap();
    let options = named("-");
    let stop = Arc::clone(&options.stop);
    let mut calls = 0;
    let summary = read_keys(
        source,
        options,
        |_| {},
        |now| {
            calls += 1;
            if calls == 4 {
                assert_eq!(
                    *now,
                    Progress {
                        bytes_read: 10,
                        records: 1
                    }
                );
                stop.store(true, Ordering::Relaxed);
            }
        },
    )
    .unwrap();
    assert!(!summary.complete);
    assert_eq!((summary.format, summary.bad_lines), (Format::Csv, 0));
    drop(send);
}

#[test]
fn a_stop_set_before_the_start_reads_nothing() {
    let mut options = named("-");
    options.stop = Arc::new(AtomicBool::new(true));
    let (kept, summary) = read("a\nb\n", options).unwrap();
    assert!(kept.is_empty() && !summary.complete);
}

#[test]
fn a_source_that_fails_is_an_error_with_its_cause() {
    struct Failing(u32);
    impl Read for Failing {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            self.0 += 1;
            match self.0 {
                1 => Err(io::ErrorKind::Interrupted.into()),
                2 => {
                    out[..2].copy_from_slice(b"a\n");
                    Ok(2)
                }
                _ => Err(io::Error::new(
                    io::ErrorKind::UnexpectedEof,
                    "the disk is gone",
                )),
            }
        }
    }
    let packed = gzip(&many_lines());
    let sources: [Box<dyn Read + Send>; 2] = [
        Box::new(Failing(0)),
        Box::new(Cursor::new(packed[..5_000].to_vec()).chain(Failing(2))),
    ];
    for source in sources {
        let error = read_keys(source, named("keys"), |_| {}, |_| {}).unwrap_err();
        assert_eq!(error.to_string(), "cannot read keys from keys");
        assert_eq!(
            std::error::Error::source(&error).unwrap().to_string(),
            "the disk is gone"
        );
    }
}

#[test]
fn a_directory_is_no_file_of_keys() {
    let source = Box::new(File::open(".").unwrap());
    let error = read_keys(source, named("samples"), |_| {}, |_| {}).unwrap_err();
    assert_eq!(
        error.to_string(),
        "samples is a directory, not a file of keys"
    );
    assert!(error.hint().is_some());
}

#[test]
fn a_source_that_panics_is_an_error() {
    struct Panicking;
    impl Read for Panicking {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            panic!("on purpose, by the test of a source that panics")
        }
    }
    let error = read_keys(Box::new(Panicking), named("keys"), |_| {}, |_| {}).unwrap_err();
    assert!(matches!(error, KeyError::Io { .. }));
}

#[test]
fn a_plain_file_that_shrank_is_an_error_and_one_that_grew_is_not() {
    let mut options = named("keys.txt");
    options.expected_bytes = Some(5);
    let error = fails("a\nb\n", options.clone());
    assert_eq!(
        error.to_string(),
        "keys.txt shrank while it was read: 5 bytes when opened, 4 read"
    );
    assert!(error.hint().is_some());
    for text in [&b"a\nbc\n"[..], b"a\nbcdef\n"] {
        assert_eq!(keys(text, options.clone()).len(), 2);
    }
    // The size of a compressed file says nothing about the plain bytes; a cut shows in the data.
    options.expected_bytes = Some(1 << 20);
    assert_eq!(keys(gzip(b"a\n"), options), [b"a"]);
}
