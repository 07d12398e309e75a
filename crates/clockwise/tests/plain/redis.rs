//! The Redis Cluster key tag and slot by the scheme definitions.

use super::hash::crc16_xmodem;

/// The part of a key that is hashed: from behind the first `{` up to the next `}`, if both are there and not side by
/// side; else the whole key.
pub(crate) fn redis_tag(key: &[u8]) -> &[u8] {
    let Some(open) = key.iter().position(|&byte| byte == b'{') else {
        return key;
    };
    let rest = &key[open + 1..];
    let Some(close) = rest.iter().position(|&byte| byte == b'}') else {
        return key;
    };
    if close == 0 { key } else { &rest[..close] }
}

/// The slot of a whole key, 0 to 16383; applies the tag rule itself.
pub(crate) fn redis_slot(key: &[u8]) -> u16 {
    crc16_xmodem(redis_tag(key)) & 16383
}
