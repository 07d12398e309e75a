//! One object's members, read without building a tree: the wanted values are kept, the others are skipped.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::super::columns::{MAX_COUNT, not_a_number};
use super::super::csv::MAX_FIELDS;
use super::super::error::{BadLineReason, excerpt};
use super::{Asked, Role};

/// What was found on the last line that was parsed.
#[derive(Default)]
pub(in super::super) struct Members {
    /// All names back to back, and where each ends.
    names: Vec<u8>,
    ends: Vec<usize>,
    /// Start and end of each name, sorted by name when looking for one that comes twice.
    order: Vec<(usize, usize)>,
    pub(super) text: Vec<u8>,
    pub(super) text_found: Found,
    pub(super) hex: Vec<u8>,
    pub(super) hex_found: Found,
    pub(super) requests: Count,
    pub(super) bytes: Count,
}

/// A string member.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Found {
    /// Not there, or `null`.
    #[default]
    Absent,
    /// There; its text is in a buffer.
    Value,
    /// No string.
    Other,
}

/// The best-ranked of the members that may hold a count.
#[derive(Default)]
pub(super) struct Count {
    best: Option<(usize, Counted)>,
}

/// A count, or the start of what was there instead.
type Counted = Result<u64, String>;

impl Members {
    pub(super) fn parse(&mut self, line: &[u8], asked: &Asked) -> Result<(), BadLineReason> {
        self.clear();
        let not_json = |problem: String| BadLineReason::NotJson { problem };
        let text = std::str::from_utf8(line)
            .map_err(|e| not_json(format!("no UTF-8 at byte {}", e.valid_up_to())))?;
        let mut reader = serde_json::Deserializer::from_str(text);
        let object = Object {
            members: self,
            asked,
        };
        object
            .deserialize(&mut reader)
            .and_then(|()| reader.end())
            .map_err(|e| not_json(problem(&e)))?;
        self.find_repeated()
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.spans()
            .any(|(start, end)| self.names[start..end] == *name.as_bytes())
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.spans()
            .map(|(start, end)| String::from_utf8_lossy(&self.names[start..end]).into_owned())
            .collect()
    }

    fn spans(&self) -> impl Iterator<Item = (usize, usize)> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(self.ends.iter().copied())
    }

    fn find_repeated(&mut self) -> Result<(), BadLineReason> {
        let mut order = std::mem::take(&mut self.order);
        order.clear();
        order.extend(self.spans());
        let name = |(start, end): (usize, usize)| &self.names[start..end];
        order.sort_unstable_by(|a, b| name(*a).cmp(name(*b)));
        let repeated = order
            .windows(2)
            .find(|pair| name(pair[0]) == name(pair[1]))
            .map(|pair| BadLineReason::RepeatedMember {
                member: excerpt(name(pair[0])),
            });
        self.order = order;
        repeated.map_or(Ok(()), Err)
    }

    fn clear(&mut self) {
        self.names.clear();
        self.ends.clear();
        self.text.clear();
        self.text_found = Found::Absent;
        self.hex.clear();
        self.hex_found = Found::Absent;
        self.requests.best = None;
        self.bytes.best = None;
    }
}

impl Count {
    fn offer(&mut self, rank: usize, counted: Option<Counted>) {
        if let Some(counted) = counted
            && self.best.as_ref().is_none_or(|(best, _)| rank < *best)
        {
            self.best = Some((rank, counted));
        }
    }

    /// The count; `name` is told once under which name it was found first.
    pub(super) fn take(
        &mut self,
        asked: &Option<String>,
        known: &[&str],
        name: &mut Option<String>,
    ) -> Result<Option<u64>, BadLineReason> {
        let Some((rank, counted)) = self.best.take() else {
            return match asked {
                Some(asked) => Err(BadLineReason::NoMember {
                    member: asked.clone(),
                }),
                None => Ok(None),
            };
        };
        let member = asked
            .as_deref()
            .or(known.get(rank).copied())
            .unwrap_or_default();
        match counted {
            Ok(count) => {
                if name.is_none() {
                    *name = Some(member.to_owned());
                }
                Ok(Some(count))
            }
            Err(value) => Err(not_a_number(member, value.as_bytes())),
        }
    }
}

/// serde_json counts lines and columns; here each text is one line.
fn problem(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let what = text.split(" at line ").next().unwrap_or_default();
    format!("{what} at byte {}", error.column().saturating_sub(1))
}

struct Object<'m> {
    members: &'m mut Members,
    asked: &'m Asked,
}

impl<'de> DeserializeSeed<'de> for Object<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Object<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Members {
            names,
            ends,
            text,
            text_found,
            hex,
            hex_found,
            requests,
            bytes,
            ..
        } = self.members;
        while let Some(role) = map.next_key_seed(Name {
            names,
            ends,
            asked: self.asked,
        })? {
            match role {
                Role::Text => *text_found = map.next_value_seed(Text(text))?,
                Role::Hex => *hex_found = map.next_value_seed(Text(hex))?,
                Role::Requests(rank) => requests.offer(rank, map.next_value_seed(Number)?),
                Role::Bytes(rank) => bytes.offer(rank, map.next_value_seed(Number)?),
                Role::Other => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

/// Notes a member's name and tells what the member is read for.
struct Name<'m> {
    names: &'m mut Vec<u8>,
    ends: &'m mut Vec<usize>,
    asked: &'m Asked,
}

impl<'de> DeserializeSeed<'de> for Name<'_> {
    type Value = Role;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Role, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Name<'_> {
    type Value = Role;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Role, E> {
        if self.ends.len() == MAX_FIELDS {
            return Err(E::custom(format_args!("more than {MAX_FIELDS} members")));
        }
        self.names.extend_from_slice(name.as_bytes());
        self.ends.push(self.names.len());
        Ok(self.asked.role(name))
    }
}

/// Copies a string to a buffer; takes any other value too, so that the reason of a bad line names the member.
struct Text<'m>(&'m mut Vec<u8>);

impl<'de> DeserializeSeed<'de> for Text<'_> {
    type Value = Found;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Found, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Text<'_> {
    type Value = Found;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Found, E> {
        // A name that comes twice is refused later; until then the last one counts.
        self.0.clear();
        self.0.extend_from_slice(text.as_bytes());
        Ok(Found::Value)
    }

    fn visit_unit<E: Error>(self) -> Result<Found, E> {
        Ok(Found::Absent)
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Found, E> {
        Ok(Found::Other)
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Found, E> {
        Ok(Found::Other)
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Found, E> {
        Ok(Found::Other)
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Found, E> {
        Ok(Found::Other)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Found, A::Error> {
        IgnoredAny.visit_seq(seq).map(|_| Found::Other)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Found, A::Error> {
        IgnoredAny.visit_map(map).map(|_| Found::Other)
    }
}

/// Reads a count; `None` for `null`.
struct Number;

impl<'de> DeserializeSeed<'de> for Number {
    type Value = Option<Counted>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Number {
    type Value = Option<Counted>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_u64<E: Error>(self, count: u64) -> Result<Self::Value, E> {
        Ok(Some(if count <= MAX_COUNT {
            Ok(count)
        } else {
            Err(count.to_string())
        }))
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Some(Err(format!("{text:?}"))))
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Self::Value, E> {
        Ok(Some(Err(value.to_string())))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Self::Value, E> {
        Ok(Some(Err(value.to_string())))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Self::Value, E> {
        Ok(Some(Err(value.to_string())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
        IgnoredAny
            .visit_seq(seq)
            .map(|_| Some(Err("a list".to_owned())))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        IgnoredAny
            .visit_map(map)
            .map(|_| Some(Err("an object".to_owned())))
    }
}
