//! One `gen:` pattern: read from text, then turned like an odometer over a single buffer.

use std::fmt;

/// What is wrong at one place of a pattern.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum PatternFault {
    /// Nothing after `gen:`.
    Empty,
    /// An opening brace without its closing one.
    NeverClosed,
    /// A closing brace without its opening one.
    NeverOpened,
    /// An opening brace inside braces.
    Nested,
    /// Braces that hold neither `..` nor a comma.
    NoChoice,
    /// An end of a range that is no number.
    NotANumber,
    /// Both `..` and a comma in one pair of braces.
    RangeInList,
    /// A backslash before a character that needs none.
    UnknownEscape(char),
    /// A backslash at the end.
    CutOff,
}

impl PatternFault {
    /// What to write instead, when that is known.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NeverOpened => Some("write \\} for a brace that is part of the key".to_owned()),
            Self::NeverClosed | Self::NoChoice | Self::Nested => {
                Some("write \\{ and \\} for braces that are part of the key".to_owned())
            }
            Self::RangeInList => Some("use two patterns, or list every value".to_owned()),
            _ => None,
        }
    }
}

impl fmt::Display for PatternFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("the pattern is empty"),
            Self::NeverClosed => f.write_str("the brace is never closed"),
            Self::NeverOpened => f.write_str("a closing brace without an opening one"),
            Self::Nested => f.write_str("braces do not nest"),
            Self::NoChoice => f.write_str("a place needs a range like {0..9} or a list like {a,b}"),
            Self::NotANumber => write!(
                f,
                "an end of the range is not a whole number up to {}",
                u64::MAX
            ),
            Self::RangeInList => f.write_str("a range and a list in one place"),
            Self::UnknownEscape(c) => write!(f, "unknown escape \\{c}"),
            Self::CutOff => f.write_str("the escape is cut off by the end"),
        }
    }
}

/// Text and places, in the order in which they are written.
#[derive(Clone, Debug)]
pub(super) struct Pattern {
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug)]
enum Piece {
    Text(Vec<u8>),
    Range { first: u64, last: u64, width: usize },
    List(Vec<Vec<u8>>),
}

impl Pattern {
    /// Reads a pattern whose first `skip` bytes (ASCII) are its prefix. The error's position counts
    /// characters from 1 and includes the prefix.
    pub(super) fn parse(text: &str, skip: usize) -> Result<Self, (usize, PatternFault)> {
        let mut chars = text.chars().zip(1..).skip(skip).peekable();
        if chars.peek().is_none() {
            return Err((skip + 1, PatternFault::Empty));
        }
        let mut pieces = Vec::new();
        let mut plain = String::new();
        while let Some((c, position)) = chars.next() {
            match c {
                '\\' => plain.push(escaped(chars.next(), position)?),
                '}' => return Err((position, PatternFault::NeverOpened)),
                '{' => {
                    if !plain.is_empty() {
                        pieces.push(Piece::Text(std::mem::take(&mut plain).into_bytes()));
                    }
                    pieces.push(place(&mut chars, position)?);
                }
                _ => plain.push(c),
            }
        }
        if !plain.is_empty() {
            pieces.push(Piece::Text(plain.into_bytes()));
        }
        Ok(Self { pieces })
    }

    /// How many keys; `None` past `u64`.
    pub(super) fn len(&self) -> Option<u64> {
        self.pieces
            .iter()
            .try_fold(1_u64, |product, piece| product.checked_mul(piece.len()?))
    }

    /// Calls `each` until it returns `false`; says whether it never did.
    pub(super) fn for_each(&self, mut each: impl FnMut(&[u8]) -> bool) -> bool {
        let mut key = Vec::new();
        // For each piece: which of its values is shown, and where in `key` it starts.
        let mut wheels = vec![(0_u64, 0_usize); self.pieces.len()];
        self.write_from(0, &mut wheels, &mut key);
        loop {
            if !each(&key) {
                return false;
            }
            let turned = (0..self.pieces.len()).rev().find(|&at| {
                let (shown, start) = &mut wheels[at];
                if self.pieces[at].len().is_none_or(|len| *shown + 1 < len) {
                    *shown += 1;
                    key.truncate(*start);
                    return true;
                }
                *shown = 0;
                false
            });
            match turned {
                Some(at) => self.write_from(at, &mut wheels, &mut key),
                None => return true,
            }
        }
    }

    fn write_from(&self, first: usize, wheels: &mut [(u64, usize)], key: &mut Vec<u8>) {
        for (piece, (shown, start)) in self.pieces.iter().zip(wheels).skip(first) {
            *start = key.len();
            piece.write(*shown, key);
        }
    }
}

impl Piece {
    fn len(&self) -> Option<u64> {
        match self {
            Self::Text(_) => Some(1),
            Self::Range { first, last, .. } => first.abs_diff(*last).checked_add(1),
            Self::List(items) => Some(items.len() as u64),
        }
    }

    fn write(&self, shown: u64, key: &mut Vec<u8>) {
        match self {
            Self::Text(text) => key.extend_from_slice(text),
            Self::Range { first, last, width } => {
                let value = if first <= last {
                    first + shown
                } else {
                    first - shown
                };
                write_number(value, *width, key);
            }
            // `shown` stays under `len`, which came from a usize.
            Self::List(items) => key.extend_from_slice(&items[shown as usize]),
        }
    }
}

fn write_number(mut value: u64, width: usize, key: &mut Vec<u8>) {
    // u64::MAX has 20 digits.
    let mut digits = [b'0'; 20];
    let mut at = digits.len();
    while value > 0 || at == digits.len() {
        at -= 1;
        digits[at] = b'0' + (value % 10) as u8;
        value /= 10;
    }
    let zeros = width.saturating_sub(digits.len() - at);
    key.resize(key.len() + zeros, b'0');
    key.extend_from_slice(&digits[at..]);
}

fn escaped(next: Option<(char, usize)>, position: usize) -> Result<char, (usize, PatternFault)> {
    match next {
        Some((c @ ('{' | '}' | ',' | '\\'), _)) => Ok(c),
        Some((c, _)) => Err((position, PatternFault::UnknownEscape(c))),
        None => Err((position, PatternFault::CutOff)),
    }
}

/// Reads what follows an opening brace, up to its closing one.
fn place(
    chars: &mut impl Iterator<Item = (char, usize)>,
    opened: usize,
) -> Result<Piece, (usize, PatternFault)> {
    let mut items = vec![String::new()];
    let mut item = String::new();
    // Only a `..` that was written without escapes makes a range.
    let mut dots = false;
    loop {
        let (c, position) = chars.next().ok_or((opened, PatternFault::NeverClosed))?;
        match c {
            '\\' => item.push(escaped(chars.next(), position)?),
            '{' => return Err((position, PatternFault::Nested)),
            ',' | '}' => {
                // The slot for this item was made when the item before it ended.
                if let Some(slot) = items.last_mut() {
                    *slot = std::mem::take(&mut item);
                }
                if c == '}' {
                    break;
                }
                items.push(String::new());
            }
            _ => {
                dots |= c == '.' && item.ends_with('.');
                item.push(c);
            }
        }
    }
    match (items.as_slice(), dots) {
        ([range], true) => range_of(range).ok_or((opened, PatternFault::NotANumber)),
        ([_], false) => Err((opened, PatternFault::NoChoice)),
        (several, true) if several.iter().any(|item| range_of(item).is_some()) => {
            Err((opened, PatternFault::RangeInList))
        }
        _ => Ok(Piece::List(
            items.into_iter().map(String::into_bytes).collect(),
        )),
    }
}

fn range_of(text: &str) -> Option<Piece> {
    let (first, last) = text.split_once("..")?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if !digits(first) || !digits(last) {
        return None;
    }
    let padded = |text: &str| text.len() > 1 && text.starts_with('0');
    let width = if padded(first) || padded(last) {
        first.len().max(last.len())
    } else {
        0
    };
    Some(Piece::Range {
        first: first.parse().ok()?,
        last: last.parse().ok()?,
        width,
    })
}
