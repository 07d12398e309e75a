//! Addresses of live servers: `scheme://[user:password@]host[:port][/path]`.
//!
//! Promises that neither the name of an address nor a message about it holds what stands before the `@`. A password
//! may be written as it is or percent-encoded; the last `@` ends it.

use std::fmt;

/// Where a server listens.
#[derive(Clone, Eq, PartialEq)]
pub(crate) struct Address {
    pub(crate) scheme: &'static str,
    pub(crate) user: Option<String>,
    pub(crate) password: Option<String>,
    /// Name or number; an IPv6 address without its brackets.
    pub(crate) host: String,
    pub(crate) port: u16,
    /// What follows the slash.
    pub(crate) path: String,
}

impl Address {
    /// The address in `source`, which follows `scheme://`. The reason for a refusal can be shown.
    pub(crate) fn parse(
        scheme: &'static str,
        source: &str,
        default_port: u16,
    ) -> Result<Self, String> {
        let (credentials, place) = match source.rsplit_once('@') {
            Some((credentials, place)) => (Some(credentials), place),
            None => (None, source),
        };
        let (user, password) = match credentials {
            None => (None, None),
            Some(text) => {
                let (user, password) = match text.split_once(':') {
                    Some((user, password)) => (user, Some(password)),
                    None => (text, None),
                };
                let decoded = |text: &str| {
                    percent_decoded(text.as_bytes())
                        .and_then(|bytes| String::from_utf8(bytes).ok())
                        .ok_or(
                            "what stands before the @ is no percent-encoded text: write % as %25",
                        )
                };
                let user = Some(decoded(user)?).filter(|user| !user.is_empty());
                (user, password.map(decoded).transpose()?)
            }
        };
        let (place, path) = place.split_once('/').unwrap_or((place, ""));
        let (host, port) = match place.strip_prefix('[') {
            Some(rest) => {
                let (host, rest) = rest.split_once(']').ok_or("a [ without its ]")?;
                (
                    host,
                    rest.strip_prefix(':').or(rest.is_empty().then_some("")),
                )
            }
            None => match place.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (place, Some("")),
            },
        };
        if host.is_empty() {
            return Err("the host is missing".to_owned());
        }
        if !host.bytes().all(is_of_host) {
            return Err(
                "the host may hold letters, digits, dots, hyphens, colons in []".to_owned(),
            );
        }
        let port = match port {
            Some("") => default_port,
            Some(port) if port.bytes().all(|byte| byte.is_ascii_digit()) => {
                port.parse().map_err(|_| "the port must be 1 to 65535")?
            }
            _ => return Err("the port must be 1 to 65535".to_owned()),
        };
        if port == 0 {
            return Err("the port must be 1 to 65535".to_owned());
        }
        Ok(Self {
            scheme,
            user,
            password,
            host: host.to_owned(),
            port,
            path: path.to_owned(),
        })
    }

    /// Host and port, as people write them.
    pub(crate) fn place(&self) -> String {
        place(&self.host, self.port)
    }
}

/// The whole address with `***` for the credentials.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let credentials = self.user.is_some() || self.password.is_some();
        let hidden = if credentials { "***@" } else { "" };
        write!(f, "{}://{hidden}{}", self.scheme, self.place())?;
        if self.path.is_empty() {
            return Ok(());
        }
        write!(f, "/{}", self.path)
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Address({self})")
    }
}

/// Host and port, with brackets where the host has colons.
pub(crate) fn place(host: &str, port: u16) -> String {
    if host.contains(':') {
        format!("[{host}]:{port}")
    } else {
        format!("{host}:{port}")
    }
}

/// The bytes that percent-encoded text stands for; `None` where a `%` is not followed by two hexadecimal digits.
pub(crate) fn percent_decoded(text: &[u8]) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte == b'%' {
            let &[high, low, ref after @ ..] = rest else {
                return None;
            };
            bytes.push(digit(high)? << 4 | digit(low)?);
            rest = after;
        } else {
            bytes.push(byte);
        }
    }
    Some(bytes)
}

fn is_of_host(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b".-_:".contains(&byte) || !byte.is_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(source: &str) -> (Option<String>, Option<String>, String, u16, String) {
        let address = Address::parse("redis", source, 6379).unwrap();
        let Address {
            user,
            password,
            host,
            port,
            path,
            ..
        } = address;
        (user, password, host, port, path)
    }

    #[test]
    fn addresses_are_taken_apart() {
        let text = |text: &str| Some(text.to_owned());
        for (source, user, password, host, port, path) in [
            ("h", None, None, "h", 6379, ""),
            ("h:1/2", None, None, "h", 1, "2"),
            ("[::1]:7", None, None, "::1", 7, ""),
            ("[::1]/3", None, None, "::1", 6379, "3"),
            (":p@h", None, text("p"), "h", 6379, ""),
            ("u:p%40%25@h", text("u"), text("p@%"), "h", 6379, ""),
            (
                "u:a/b#c?d:e@f@h:1/0",
                text("u"),
                text("a/b#c?d:e@f"),
                "h",
                1,
                "0",
            ),
            ("u@h", text("u"), None, "h", 6379, ""),
        ] {
            let expected = (user, password, host.to_owned(), port, path.to_owned());
            assert_eq!(parts(source), expected, "{source}");
        }
    }

    #[test]
    fn a_refusal_does_not_tell_the_password() {
        for source in [
            "u:secret@",
            "u:sec%ret@h",
            "u:secret@h:x",
            "u:secret@h:0",
            "u:secret@[h",
            "u:secret@h:65536",
            "u:secret@a b",
        ] {
            let reason = Address::parse("redis", source, 6379).unwrap_err();
            assert!(!reason.contains("sec"), "{reason}");
        }
    }

    #[test]
    fn a_name_hides_what_stands_before_the_host() {
        for (source, name) in [
            ("u:secret@h:1/2", "redis://***@h:1/2"),
            ("secret@[::1]", "redis://***@[::1]:6379"),
            ("h", "redis://h:6379"),
        ] {
            let address = Address::parse("redis", source, 6379).unwrap();
            assert_eq!(address.to_string(), name);
            assert_eq!(format!("{address:?}"), format!("Address({name})"));
        }
    }

    #[test]
    fn percent_codes_are_decoded_or_refused() {
        assert_eq!(percent_decoded(b"a%00%fF%25").unwrap(), b"a\0\xff%");
        for bad in ["%", "%1", "%g0", "%0g"] {
            assert_eq!(percent_decoded(bad.as_bytes()), None, "{bad}");
        }
    }
}
