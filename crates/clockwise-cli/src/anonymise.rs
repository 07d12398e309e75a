//! Names in place of keys, for output that leaves the house.
//!
//! Promises: a name is the SipHash-2-4 of the key, 16 hexadecimal digits; equal keys have equal names, in every run with
//! the same secret. Without a secret of one's own the published [`KEY`] is taken and that is said: whoever guesses a key
//! can then check the guess.
//! Does not: tell apart two keys with the same hash, of which there is one pair among some five thousand million keys.

use clockwise::hash::siphash_2_4;

use crate::args::KeyArgs;
use crate::failure::Failure;
use crate::membership::read_secret;
use crate::output::note;

/// Makes names.
pub(crate) struct Names([u8; 16]);

impl Names {
    /// What `--anonymise` and `--anonymise-key` ask for.
    pub(crate) fn read(args: &KeyArgs) -> Result<Option<Self>, Failure> {
        if !args.anonymise {
            return Ok(None);
        }
        let Some(reference) = &args.anonymise_key else {
            note(
                "anonymise: names are made with a published key, so equal keys have equal names everywhere and a guessed key can be checked; --anonymise-key takes one of your own",
            );
            return Ok(Some(Self(KEY)));
        };
        let secret = read_secret(reference).map_err(|failure| failure.at("--anonymise-key"))?;
        Ok(Some(Self(*secret.bytes())))
    }

    /// The name of a key.
    pub(crate) fn of(&self, key: &[u8]) -> String {
        format!("{:016x}", siphash_2_4(&self.0, key))
    }
}

/// Any fixed bytes, the same in every version, so that names can be compared between reports.
const KEY: [u8; 16] = *b"clockwise-names!";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_depends_on_the_key_and_the_secret_alone() {
        let names = Names(KEY);
        assert_eq!(names.of(b"user:1"), names.of(b"user:1"));
        assert_ne!(names.of(b"user:1"), names.of(b"user:2"));
        assert_ne!(names.of(b"user:1"), Names([0; 16]).of(b"user:1"));
        assert_eq!(names.of(b"").len(), 16);
    }
}
