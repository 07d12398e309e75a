//! Where a node is reached: `host:port`, `[ipv6]:port` or `unix:path`.
//!
//! Promises a strict reading: a port of 1 to 65535 in plain digits, IPv6 only in brackets, nothing guessed from an
//! unbracketed colon. Does not resolve or connect, and never takes part in placement: changing an endpoint moves no
//! key. Cost: one pass. Source: RFC 3986 section 3.2.2 for the bracket form, RFC 6874 for the zone after `%25`.

use alloc::borrow::ToOwned;
use alloc::string::{String, ToString as _};
use core::fmt;
use core::net::Ipv6Addr;
use core::str::FromStr;

/// A node's address, kept as it was written.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Endpoint {
    text: String,
    /// What two spellings of one address share.
    canonical: String,
}

impl Endpoint {
    /// The address as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    pub(crate) fn canonical(&self) -> &str {
        &self.canonical
    }

    /// Whether both name one place although they may be spelt differently: letter case and a closing dot of a host
    /// name, and the forms of an IPv6 address, do not matter. Names are not resolved.
    #[must_use]
    pub fn is_same_place(&self, other: &Self) -> bool {
        self.canonical == other.canonical
    }
}

impl FromStr for Endpoint {
    type Err = EndpointError;

    fn from_str(text: &str) -> Result<Self, EndpointError> {
        let refuse = |why| EndpointError {
            endpoint: text.to_owned(),
            why,
        };
        if let Some(path) = text.strip_prefix("unix:") {
            let fits = !path.is_empty() && !path.contains(|c: char| c.is_control());
            return if fits {
                Ok(Self {
                    text: text.to_owned(),
                    canonical: text.to_owned(),
                })
            } else {
                Err(refuse(WhyNot::NoPath))
            };
        }
        let (host, port) = if let Some(rest) = text.strip_prefix('[') {
            let (address, port) = rest
                .split_once(']')
                .ok_or_else(|| refuse(WhyNot::OpenBracket))?;
            (
                canonical_ipv6(address).ok_or_else(|| refuse(WhyNot::NotIpv6))?,
                port.strip_prefix(':'),
            )
        } else {
            let (host, port) = text.split_once(':').ok_or_else(|| refuse(WhyNot::NoPort))?;
            if port.contains(':') {
                return Err(refuse(WhyNot::BareColons));
            }
            (
                canonical_host(host).ok_or_else(|| refuse(WhyNot::NotHost))?,
                Some(port),
            )
        };
        let port = port.ok_or_else(|| refuse(WhyNot::NoPort))?;
        let port = parse_port(port).ok_or_else(|| refuse(WhyNot::NotPort(port.to_owned())))?;
        let mut canonical = host;
        canonical.push(':');
        canonical.push_str(&port.to_string());
        Ok(Self {
            text: text.to_owned(),
            canonical,
        })
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A text that is no endpoint.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("endpoint {endpoint:?}: {why}")]
pub struct EndpointError {
    endpoint: String,
    why: WhyNot,
}

#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
enum WhyNot {
    #[error("must be host:port, [ipv6]:port or unix:path")]
    NoPort,
    #[error("port {0:?} must be a number from 1 to 65535")]
    NotPort(String),
    #[error("an IPv6 address needs brackets, as in [::1]:6379")]
    BareColons,
    #[error("the bracket is not closed")]
    OpenBracket,
    #[error("the brackets do not hold an IPv6 address")]
    NotIpv6,
    #[error("the host must be letters, digits, dots, hyphens and underscores")]
    NotHost,
    #[error("no path after unix:")]
    NoPath,
}

fn canonical_ipv6(text: &str) -> Option<String> {
    let (address, zone) = text
        .split_once('%')
        .map_or((text, None), |(address, zone)| (address, Some(zone)));
    let mut canonical = String::from("[");
    canonical.push_str(&address.parse::<Ipv6Addr>().ok()?.to_string());
    if let Some(zone) = zone {
        let zone = zone.strip_prefix("25").unwrap_or(zone);
        if zone.is_empty() || !zone.bytes().all(is_host_byte) {
            return None;
        }
        canonical.push('%');
        canonical.push_str(zone);
    }
    canonical.push(']');
    Some(canonical)
}

fn canonical_host(host: &str) -> Option<String> {
    let name = host.strip_suffix('.').unwrap_or(host);
    let fits = (1..=253).contains(&name.len())
        && name.bytes().all(is_host_byte)
        && name.split('.').all(|label| (1..=63).contains(&label.len()));
    fits.then(|| name.to_ascii_lowercase())
}

const fn is_host_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')
}

fn parse_port(text: &str) -> Option<u16> {
    let plain =
        !text.is_empty() && !text.starts_with('0') && text.bytes().all(|b| b.is_ascii_digit());
    if plain { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_taken_as_written() {
        for text in [
            "[::1]:7001",
            "[2001:db8::5]:7001",
            "[fe80::1%25lo]:7001",
            "[::ffff:127.0.0.1]:7001",
            "127.0.0.1:7001",
            "localhost:7001",
            "LOCALHOST:7001",
            "localhost.:7001",
            "cache_1.svc:65535",
            "unix:./n1.sock",
        ] {
            assert_eq!(
                text.parse::<Endpoint>().map(|e| e.to_string()),
                Ok(text.to_owned())
            );
        }
    }

    #[test]
    fn nothing_is_guessed_from_a_malformed_address() {
        for text in [
            "::1:7001",
            "2001:db8::5:7001",
            "[::1]",
            "[::1]:",
            "[::1]:70000",
            "[::1]7001",
            "[nonsense]:1",
            "[fe80::1%25]:1",
            "[::1:7001",
            "127.0.0.1:0",
            "127.0.0.1:07001",
            "127.0.0.1:07001x",
            "127.0.0.1:+1",
            "127.0.0.1:7001:1:2",
            ":7001",
            " ",
            "",
            "host",
            "a..b:1",
            "a b:1",
            "unix:",
        ] {
            let error = text.parse::<Endpoint>().expect_err(text);
            assert!(
                error.to_string().contains(&alloc::format!("{text:?}")),
                "{error}"
            );
        }
    }

    #[test]
    fn spellings_of_one_address_are_the_same_place() {
        let place = |text: &str| text.parse::<Endpoint>().unwrap();
        assert!(place("LOCALHOST:1").is_same_place(&place("localhost.:1")));
        assert!(place("[::0001]:1").is_same_place(&place("[::1]:1")));
        assert!(place("[fe80::1%lo]:1").is_same_place(&place("[fe80::1%25lo]:1")));
        assert!(!place("localhost:1").is_same_place(&place("127.0.0.1:1")));
        assert!(!place("localhost:1").is_same_place(&place("localhost:2")));
    }
}
