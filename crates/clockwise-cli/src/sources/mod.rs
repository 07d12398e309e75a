//! Keys of live servers: a thread reads them, the command takes them from a bounded queue.
//!
//! What it is: the part that all kinds of servers share, one file for each kind beside it. What it promises: nothing
//! is written to a server; a password is in no message; Ctrl-C is heard within [`POLL`] whatever the server does,
//! because the thread that waits for the server is left behind; memory bounded by the queue and by [`Seen`]. What it
//! does not: give a moment's picture. Keys that come or go during a scan may be in it or not.

mod address;
mod cluster;
mod memcached;
mod pace;
mod redis;
mod seen;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use clockwise_plan::{Basis, Source, Warning, grouped};

use crate::args::KeyArgs;
use crate::failure::Failure;
use crate::keys::{Reading, bad_lines};
use crate::output::note;
use crate::progress::{Progress, Unit};

use self::memcached::Memcached;
use self::redis::Redis;
use self::seen::Seen;

/// A live server, ready to be asked.
#[derive(Debug)]
pub(crate) enum LiveSource {
    Memcached(Memcached),
    Redis(Box<Redis>),
}

impl LiveSource {
    /// What `--keys SOURCE` names, if it is a live server. Does not connect yet.
    pub(crate) fn parse(source: &str, args: &KeyArgs) -> Result<Option<Self>, Failure> {
        let scheme = split_scheme(source);
        let is = |names: &[&str]| scheme.is_some_and(|(scheme, _)| names.contains(&scheme));
        if args.scan_rate.is_some() && !is(&["redis", "rediss"]) {
            return Err(Failure::usage("--scan-rate is for keys of a live Redis"));
        }
        if args.tls_ca.is_some() && !is(&["rediss"]) {
            return Err(Failure::usage(
                "--tls-ca is for keys of a live Redis over TLS: --keys rediss://HOST:PORT",
            ));
        }
        let Some((scheme, rest)) = scheme else {
            let begins = |scheme: &&str| {
                source
                    .split_once(':')
                    .is_some_and(|(start, _)| start == *scheme)
            };
            // What follows may hold a password: it is not shown.
            if let Some(scheme) = ["redis", "rediss", "memcached"].into_iter().find(begins) {
                return Err(Failure::usage(format!(
                    "--keys {scheme}:…: an address begins with {scheme}://"
                ))
                .hint("for a file of that name, put ./ before it"));
            }
            return Ok(None);
        };
        Ok(Some(if scheme == "memcached" {
            Self::Memcached(Memcached::parse(rest, args.max_bad)?)
        } else {
            Self::Redis(Box::new(Redis::parse(scheme, rest, args)?))
        }))
    }

    /// Passes every key to `each`.
    pub(crate) fn read(
        self,
        stop: &Arc<AtomicBool>,
        mut each: impl FnMut(&[u8], Option<u64>, Option<u64>),
    ) -> Result<Reading, Failure> {
        let name = match &self {
            Self::Memcached(server) => server.name(),
            Self::Redis(server) => server.name(),
        };
        let of_memcached = matches!(self, Self::Memcached(_));
        let mut reading = take_all(&name, stop, &mut each, move |feed| match self {
            Self::Memcached(server) => server.scan(feed),
            Self::Redis(server) => server.scan(feed),
        })?;
        reading.source.of_memcached = of_memcached;
        Ok(reading)
    }
}

/// Runs `scan` on a thread of its own and passes its keys on, until it ends or Ctrl-C comes.
fn take_all(
    name: &str,
    stop: &Arc<AtomicBool>,
    each: &mut impl FnMut(&[u8], Option<u64>, Option<u64>),
    scan: impl FnOnce(&mut Feed) -> Result<Done, Failure> + Send + 'static,
) -> Result<Reading, Failure> {
    let (sender, receiver) = sync_channel(QUEUE);
    let mut feed = Feed {
        sender,
        stop: Arc::clone(stop),
        seen: Seen::new(),
        batch: Batch::default(),
        given: 0,
        cut: false,
    };
    let reader = std::thread::spawn(move || {
        let done = scan(&mut feed)?;
        feed.flush();
        // Either thread may be the first to see Ctrl-C.
        Ok((!feed.cut).then(|| feed.close(done)))
    });
    let (keys, ended) = pass_on(&receiver, stop, each);
    let done = if ended {
        match reader.join() {
            Ok(done) => done?,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    } else {
        None
    };
    let reading = match done {
        Some(done) => Reading {
            source: Source {
                basis: Basis::Exact,
                text: format!("{name} ({})", done.text),
                each_key_once: false,
                of_memcached: false,
                bad_lines: done.bad,
                partial: false,
            },
            warnings: done.warnings,
        },
        None => Reading {
            source: Source {
                basis: Basis::Exact,
                text: format!("{name} (its first {} keys)", grouped(keys)),
                each_key_once: false,
                of_memcached: false,
                bad_lines: 0,
                partial: true,
            },
            warnings: Vec::new(),
        },
    };
    note(&format!("keys: {}", reading.source.text));
    Ok(reading)
}

/// What a thread that reads a server hands over.
enum Message {
    /// About so many keys are to be expected.
    Expect(u64),
    Keys(Batch),
}

/// Some keys with their sizes.
#[derive(Debug, Default)]
struct Batch {
    /// All keys, one behind the other.
    text: Vec<u8>,
    /// Where each key ends, and its bytes in the server.
    keys: Vec<(usize, Option<u64>)>,
}

/// Where a server's keys go.
pub(crate) struct Feed {
    sender: SyncSender<Message>,
    stop: Arc<AtomicBool>,
    seen: Seen,
    batch: Batch,
    given: u64,
    /// Whether the scan was told to end early.
    cut: bool,
}

impl Feed {
    /// Says how many keys are to be expected.
    pub(crate) fn expect(&self, keys: u64) {
        // Nobody listens once the command was stopped.
        let _ = self.sender.send(Message::Expect(keys));
    }

    /// Hands over a key, unless it came before. Says whether it did so.
    pub(crate) fn key(&mut self, key: &[u8], bytes: Option<u64>) -> bool {
        if !self.seen.is_new(key) {
            return false;
        }
        self.given += 1;
        self.batch.text.extend_from_slice(key);
        self.batch.keys.push((self.batch.text.len(), bytes));
        if self.batch.keys.len() >= BATCH_KEYS || self.batch.text.len() >= BATCH_BYTES {
            self.flush();
        }
        true
    }

    /// Sends what has gathered; waits while the queue is full.
    pub(crate) fn flush(&mut self) {
        let batch = std::mem::take(&mut self.batch);
        if !batch.keys.is_empty() {
            let _ = self.sender.send(Message::Keys(batch));
        }
    }

    /// Keys handed over so far.
    pub(crate) fn given(&self) -> u64 {
        self.given
    }

    /// Whether nobody wants more keys: a scan that hears so ends, and counts as cut short.
    pub(crate) fn is_stopped(&mut self) -> bool {
        self.cut |= self.stop.load(Ordering::Relaxed);
        self.cut
    }

    /// Adds what is to be said about repeated keys.
    fn close(&self, mut done: Done) -> Done {
        if done.bad > 0 {
            done.warnings.push(bad_lines(done.bad));
        }
        let repeats = self.seen.repeats();
        if repeats > 0 {
            done.text
                .push_str(&format!(", {} repeats left out", grouped(repeats)));
        }
        let forgotten = self.seen.forgotten();
        if forgotten > 0 {
            done.warnings.push(Warning::new(
                "live-keys",
                format!(
                    "repeats were looked for among the first {} keys only; of the {} after them some may count twice",
                    grouped(Seen::LIMIT as u64),
                    grouped(forgotten)
                ),
            ));
        }
        done
    }
}

/// What there is to say about a scan that reached its end.
#[derive(Debug, Default)]
pub(crate) struct Done {
    /// How the keys were read, in words.
    pub(crate) text: String,
    /// Lines that could not be used.
    pub(crate) bad: u64,
    pub(crate) warnings: Vec<Warning>,
}

/// Takes keys until no more come, or until Ctrl-C: how many, and whether the former.
fn pass_on(
    receiver: &Receiver<Message>,
    stop: &AtomicBool,
    each: &mut impl FnMut(&[u8], Option<u64>, Option<u64>),
) -> (u64, bool) {
    let mut progress = Progress::new(None, Unit::Keys);
    let mut passed = 0;
    let complete = 'all: loop {
        if stop.load(Ordering::Relaxed) {
            break false;
        }
        match receiver.recv_timeout(POLL) {
            Ok(Message::Expect(keys)) => progress = Progress::new(Some(keys), Unit::Keys),
            Ok(Message::Keys(batch)) => {
                let mut start = 0;
                for (end, bytes) in batch.keys {
                    if stop.load(Ordering::Relaxed) {
                        break 'all false;
                    }
                    each(&batch.text[start..end], None, bytes);
                    start = end;
                    passed += 1;
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break true,
        }
        progress.update(passed, passed);
    };
    progress.finish();
    (passed, complete)
}

/// The scheme of a live server and what follows it. Letter case does not matter: what looks like an address with a
/// password must not be taken for a file and shown.
fn split_scheme(source: &str) -> Option<(&'static str, &str)> {
    let (scheme, rest) = source.split_once("://")?;
    let known = ["redis", "rediss", "memcached"];
    let scheme = known
        .into_iter()
        .find(|name| scheme.eq_ignore_ascii_case(name))?;
    Some((scheme, rest))
}

/// How long a server may take to accept, and to answer each command: far more than one that works ever needs.
const TIMEOUT: Duration = Duration::from_secs(5);
/// How often Ctrl-C is looked for; an answer to it is due after 200 ms, and `locate` allows itself 150 ms.
const POLL: Duration = Duration::from_millis(20);
/// Batches on their way: enough to keep both threads busy.
const QUEUE: usize = 16;
/// A batch is handed over with so many keys, or so many bytes of them: at most 16 MiB wait, but for larger keys.
const BATCH_KEYS: usize = 1000;
const BATCH_BYTES: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    fn read(scan: impl FnOnce(&mut Feed) + Send + 'static) -> (Reading, Vec<Vec<u8>>) {
        let mut keys = Vec::new();
        let stop = Arc::new(AtomicBool::new(false));
        let mut each = |key: &[u8], _: Option<u64>, _: Option<u64>| keys.push(key.to_vec());
        let reading = take_all("a server", &stop, &mut each, |feed| {
            scan(feed);
            Ok(Done::default())
        });
        (reading.unwrap(), keys)
    }

    #[test]
    fn a_scan_that_is_the_first_to_see_ctrl_c_is_still_partial() {
        // Which of the threads sees it first is chance: both do in so many attempts.
        for _ in 0..200 {
            let (reading, _) = read(|feed| {
                feed.key(b"a", None);
                feed.flush();
                feed.stop.store(true, Ordering::Relaxed);
                assert!(feed.is_stopped());
            });
            assert!(reading.source.partial, "{}", reading.source.text);
        }
    }

    #[test]
    fn a_scan_that_ends_is_whole() {
        let (reading, keys) = read(|feed| {
            for key in [&b"a"[..], b"", b"a"] {
                feed.key(key, Some(1));
            }
            assert!(!feed.is_stopped());
        });
        assert!(!reading.source.partial);
        assert_eq!(keys, [&b"a"[..], b""]);
        assert!(
            reading.source.text.contains("1 repeats left out"),
            "{}",
            reading.source.text
        );
    }
}
