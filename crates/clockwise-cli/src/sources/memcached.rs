//! Keys of a live memcached, by `lru_crawler metadump all`.
//!
//! What it is: one connection, two commands, `stats` and the dump. What it promises: only what stands in lines of the
//! known form is taken; a line is bounded; keys with their sizes as the server counts them. What it does not: speak
//! TLS or SASL. Cost: the server walks all its items on a thread of its own. Source: memcached's doc/protocol.txt.

use std::io::{BufRead as _, BufReader, ErrorKind, Read as _, Write as _};
use std::net::{TcpStream, ToSocketAddrs as _};

use clockwise_plan::grouped;
use clockwise_plan::keys::Escaped;

use super::address::{Address, percent_decoded};
use super::{Done, Feed, TIMEOUT};
use crate::failure::Failure;
use crate::output::note;

/// A memcached to be asked.
#[derive(Debug)]
pub(crate) struct Memcached {
    address: Address,
    /// Share of bad lines above which the dump is refused.
    max_bad: f64,
}

impl Memcached {
    /// The server behind `memcached://`.
    pub(crate) fn parse(rest: &str, max_bad: f64) -> Result<Self, Failure> {
        let refuse = |reason: &str| {
            Failure::usage(format!("--keys memcached://...: {reason}"))
                .hint("write memcached://host:port")
        };
        let address =
            Address::parse("memcached", rest, 11_211).map_err(|reason| refuse(&reason))?;
        if address.user.is_some() || address.password.is_some() {
            return Err(refuse("this version cannot log in to a memcached"));
        }
        if !address.path.is_empty() {
            return Err(refuse(
                "a memcached has no databases: nothing may follow the port",
            ));
        }
        Ok(Self { address, max_bad })
    }

    /// The address.
    pub(crate) fn name(&self) -> String {
        self.address.to_string()
    }

    /// Reads all keys.
    pub(crate) fn scan(self, feed: &mut Feed) -> Result<Done, Failure> {
        let mut reader = BufReader::with_capacity(1 << 16, self.connect()?);
        self.send(&mut reader, "stats\r\n")?;
        let mut line = Vec::new();
        loop {
            self.read_line(&mut reader, &mut line, 0)?;
            if let Some(items) = line.strip_prefix(b"STAT curr_items ") {
                let items = std::str::from_utf8(items).unwrap_or_default();
                feed.expect(items.parse().unwrap_or_default());
            } else if !line.starts_with(b"STAT ") {
                break;
            }
        }
        if line != b"END" {
            return Err(self.refusal(&line));
        }
        self.send(&mut reader, "lru_crawler metadump all\r\n")?;
        let (mut bad, mut lines) = (0_u64, 0_u64);
        while !feed.is_stopped() {
            self.read_line(&mut reader, &mut line, feed.given())?;
            if line == b"END" {
                break;
            }
            if !line.starts_with(b"key=") && lines == 0 {
                return Err(self.refusal(&line));
            }
            lines += 1;
            match item(&line) {
                Some((key, bytes)) => {
                    feed.key(&key, bytes);
                }
                None => {
                    bad += 1;
                    if bad <= BAD_SHOWN {
                        note(&format!("{}: bad line: {}", self.name(), Escaped(&line)));
                    }
                }
            }
            // What waits in the buffer comes at once; before a pause of the server, hand over what there is.
            if reader.buffer().is_empty() {
                feed.flush();
            }
        }
        if bad as f64 > self.max_bad * lines as f64 {
            let text = format!("{} of {} lines are no items", grouped(bad), grouped(lines));
            return Err(self.failure(&text, feed.given()));
        }
        Ok(Done {
            text: "lru_crawler metadump".to_owned(),
            bad,
            warnings: Vec::new(),
        })
    }

    fn connect(&self) -> Result<TcpStream, Failure> {
        let addresses = (self.address.host.as_str(), self.address.port).to_socket_addrs();
        let mut failure = self.failure("the host has no address", 0);
        for address in addresses.map_err(|error| self.explain(&error, 0))? {
            match TcpStream::connect_timeout(&address, TIMEOUT) {
                Ok(stream) => {
                    let set = stream
                        .set_read_timeout(Some(TIMEOUT))
                        .and_then(|()| stream.set_write_timeout(Some(TIMEOUT)));
                    set.map_err(|error| self.explain(&error, 0))?;
                    return Ok(stream);
                }
                Err(error) => failure = self.explain(&error, 0),
            }
        }
        Err(failure)
    }

    fn send(&self, reader: &mut BufReader<TcpStream>, command: &str) -> Result<(), Failure> {
        let sent = reader.get_mut().write_all(command.as_bytes());
        sent.map_err(|error| self.explain(&error, 0))
    }

    /// The next line without its end.
    fn read_line(
        &self,
        reader: &mut BufReader<TcpStream>,
        line: &mut Vec<u8>,
        given: u64,
    ) -> Result<(), Failure> {
        line.clear();
        let read = reader.by_ref().take(LONGEST_LINE).read_until(b'\n', line);
        read.map_err(|error| self.explain(&error, given))?;
        if line.pop_if(|byte| *byte == b'\n').is_none() {
            let text = if line.len() as u64 == LONGEST_LINE {
                "a line without end: this is no memcached"
            } else {
                "it closed the connection"
            };
            return Err(self.failure(text, given));
        }
        line.pop_if(|byte| *byte == b'\r');
        Ok(())
    }

    /// What the server says instead of items.
    fn refusal(&self, line: &[u8]) -> Failure {
        let hint = if line.starts_with(b"BUSY") {
            "another crawl of its items is running: try again when it is done"
        } else if line == b"ERROR" {
            "metadump needs memcached 1.4.31 or later, without -o no_lru_crawler"
        } else if line.starts_with(b"CLIENT_ERROR") {
            "is it without a login, and its lru_crawler enabled?"
        } else {
            "is it a memcached?"
        };
        let answer = format!("it answers {}", Escaped(&line[..line.len().min(200)]));
        self.failure(&answer, 0).hint(hint)
    }

    fn explain(&self, error: &std::io::Error, given: u64) -> Failure {
        match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => {
                let text = format!("no answer within {} s", TIMEOUT.as_secs());
                self.failure(&text, given)
            }
            _ => self.failure(&error.to_string(), given),
        }
    }

    fn failure(&self, text: &str, given: u64) -> Failure {
        let so_far = match given {
            0 => String::new(),
            given => format!(" after {} keys", grouped(given)),
        };
        let place = self.address.place();
        Failure::unreachable(format!("cannot read memcached at {place}{so_far}: {text}"))
            .hint("does it run, and is it reached at this host and port?")
    }
}

/// The key and the size of a line such as `key=a%20b exp=-1 la=1 cas=2 fetch=no cls=1 size=70`.
fn item(line: &[u8]) -> Option<(Vec<u8>, Option<u64>)> {
    let mut words = line.split(|byte| *byte == b' ');
    let key = percent_decoded(words.next()?.strip_prefix(b"key=")?)?;
    let size = words.find_map(|word| word.strip_prefix(b"size="));
    let bytes = size
        .map(|digits| std::str::from_utf8(digits).ok()?.parse().ok())
        .map_or(Some(None), |bytes| bytes.map(Some))?;
    Some((key, bytes))
}

/// A key of 250 bytes, all of them percent-encoded, and some 150 bytes about it, with room to spare.
const LONGEST_LINE: u64 = 4096;
/// Bad lines that are shown; the others are counted.
const BAD_SHOWN: u64 = 5;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_a_dump_is_a_key_and_a_size() {
        for (line, key, bytes) in [
            (
                "key=a%20b exp=-1 la=1 cas=2 fetch=no cls=1 size=70",
                "a b",
                Some(70),
            ),
            ("key=gi%E1%BB%8F exp=0", "giỏ", None),
        ] {
            let expected = Some((key.as_bytes().to_vec(), bytes));
            assert_eq!(item(line.as_bytes()), expected, "{line}");
        }
    }

    #[test]
    fn other_lines_are_none() {
        for line in [
            "",
            "key",
            "key=%",
            "key=a size=x",
            "key=a size=-1",
            "size=1",
        ] {
            assert_eq!(item(line.as_bytes()), None, "{line}");
        }
    }
}
