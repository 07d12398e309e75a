//! Keys made up to follow a table of popularity: how many objects were asked for how often, in buckets.
//!
//! Promises: the same table gives the same keys with the same requests, in the same order. An object of a bucket is a key
//! `pop:BUCKET:INDEX`, both numbered from 0: the bucket by its place among the workload's rows, the index within the
//! bucket. A bucket's requests are spread evenly, and what is left over goes to its first objects, one each. Buckets
//! come by requests per object, falling, and equal ones in the order of the table. A workload of more than
//! [`Popularity::MAX_KEYS`] objects is cut after its [`Popularity::SAMPLED_KEYS`] most wanted.
//! Does not: know sizes, or the names that the real keys had.
//! Cost: the table in memory, at most [`MAX_TABLE_BYTES`] of it; nothing for a key but its text.
//! Source: the popularity tables of CacheLib's cachebench.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};

use super::columns;

/// A workload, ready to be turned into keys.
#[derive(Clone, Debug)]
pub struct Popularity {
    /// In the order in which they come.
    buckets: Vec<Bucket>,
    objects: u64,
    requests: u64,
    keys: u64,
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    number: u64,
    objects: u64,
    requests: u64,
}

impl Popularity {
    /// Most keys that are made all: minutes of work.
    pub const MAX_KEYS: u64 = 100_000_000;

    /// Keys that are made of a larger workload.
    pub const SAMPLED_KEYS: u64 = 1_000_000;

    /// Reads the rows of `workload` from a table with the columns `workload`, `objects_in_bucket` and
    /// `total_requests_of_bucket`.
    ///
    /// # Errors
    ///
    /// [`PopularityError`] when the table is malformed, too large or without that workload.
    pub fn parse(table: &[u8], workload: &str) -> Result<Self, PopularityError> {
        if table.len() > MAX_TABLE_BYTES {
            return Err(PopularityError::TooLarge);
        }
        let mut lines = (1..).zip(table.split(|b| *b == b'\n'));
        let fields = |line: &[u8]| -> Vec<String> {
            let text = String::from_utf8_lossy(line);
            text.split(',')
                .map(|field| field.trim().to_owned())
                .collect()
        };
        let header = lines
            .next()
            .map(|(_, line)| fields(line))
            .unwrap_or_default();
        let column = |name: &'static str| {
            let at = header.iter().position(|field| field == name);
            at.ok_or(PopularityError::NoColumn { column: name })
        };
        let places = [
            column("workload")?,
            column("objects_in_bucket")?,
            column("total_requests_of_bucket")?,
        ];
        let mut buckets: Vec<Bucket> = Vec::new();
        let mut known: Vec<String> = Vec::new();
        for (line, row) in lines.filter(|(_, row)| !row.trim_ascii().is_empty()) {
            let row = fields(row);
            let [name, objects, requests] = places.map(|at| row.get(at).map_or("", String::as_str));
            let count = |text: &str| columns::number(text.as_bytes());
            let (Some(objects), Some(requests)) = (count(objects), count(requests)) else {
                return Err(PopularityError::BadRow { line });
            };
            if name.is_empty() || (objects == 0 && requests > 0) || row.len() != header.len() {
                return Err(PopularityError::BadRow { line });
            }
            if !known.iter().any(|known| known == name) && known.len() < MAX_WORKLOADS {
                known.push(name.to_owned());
            }
            if name == workload {
                buckets.push(Bucket {
                    number: buckets.len() as u64,
                    objects,
                    requests,
                });
            }
        }
        if buckets.is_empty() {
            return Err(PopularityError::UnknownWorkload {
                given: workload.to_owned(),
                known,
            });
        }
        let sum = |of: fn(&Bucket) -> u64| {
            let sum = buckets
                .iter()
                .try_fold(0_u64, |sum, bucket| sum.checked_add(of(bucket)));
            sum.filter(|sum| *sum <= columns::MAX_COUNT)
                .ok_or(PopularityError::TooMany)
        };
        let objects = sum(|bucket| bucket.objects)?;
        let requests = sum(|bucket| bucket.requests)?;
        buckets.retain(|bucket| bucket.objects > 0);
        // a.requests / a.objects against b's, without a division.
        buckets.sort_by(|a, b| {
            let left = u128::from(a.requests) * u128::from(b.objects);
            let right = u128::from(b.requests) * u128::from(a.objects);
            right.cmp(&left)
        });
        let keys = if objects > Self::MAX_KEYS {
            Self::SAMPLED_KEYS
        } else {
            objects
        };
        Ok(Self {
            buckets,
            objects,
            requests,
            keys,
        })
    }

    /// The same workload, cut after its `keys` most wanted.
    #[must_use]
    pub fn cut(self, keys: u64) -> Self {
        Self {
            keys: keys.min(self.keys),
            ..self
        }
    }

    /// Objects of the workload.
    #[must_use]
    pub fn objects(&self) -> u64 {
        self.objects
    }

    /// Requests of the workload.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.requests
    }

    /// Keys that are made; fewer than there are objects when the workload is cut.
    #[must_use]
    pub fn keys(&self) -> u64 {
        self.keys
    }

    /// Requests to the keys that are made.
    #[must_use]
    pub fn requests_covered(&self) -> u64 {
        let mut left = self.keys;
        let covered = self.buckets.iter().map(|bucket| {
            let taken = left.min(bucket.objects);
            left -= taken;
            let (each, more) = (
                bucket.requests / bucket.objects,
                bucket.requests % bucket.objects,
            );
            each * taken + more.min(taken)
        });
        covered.sum()
    }

    /// Calls `each` with every key and its requests; `false` when `stop` was set before the end.
    pub fn for_each(&self, stop: &AtomicBool, mut each: impl FnMut(&[u8], u64)) -> bool {
        let mut key = String::new();
        let mut left = self.keys;
        for bucket in &self.buckets {
            key.clear();
            // Writing to a String does not fail.
            let _ = write!(key, "pop:{}:", bucket.number);
            let head = key.len();
            let (every, more) = (
                bucket.requests / bucket.objects,
                bucket.requests % bucket.objects,
            );
            for index in 0..bucket.objects.min(left) {
                if left.is_multiple_of(KEYS_PER_LOOK) && stop.load(Ordering::Relaxed) {
                    return false;
                }
                key.truncate(head);
                let _ = write!(key, "{index}");
                each(key.as_bytes(), every + u64::from(index < more));
                left -= 1;
            }
        }
        true
    }
}

/// Why a table gives no keys.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PopularityError {
    /// A column is missing.
    #[error("no column {column} in its first line")]
    NoColumn {
        /// Its name.
        column: &'static str,
    },
    /// A row is malformed.
    #[error(
        "line {line}: a row needs a workload and whole numbers of objects and requests, and requests need an object"
    )]
    BadRow {
        /// The line, from 1.
        line: u64,
    },
    /// The table has no such workload.
    #[error("no workload {given}: it has {}", known.join(", "))]
    UnknownWorkload {
        /// What was asked for.
        given: String,
        /// What there is.
        known: Vec<String>,
    },
    /// Objects or requests add up to more than 2^53.
    #[error("its objects or requests add up to more than 2^53")]
    TooMany,
    /// The table is too large.
    #[error("a popularity table of more than {} MiB", MAX_TABLE_BYTES >> 20)]
    TooLarge,
}

/// A million buckets, more than any curve needs.
pub const MAX_TABLE_BYTES: usize = 32 << 20;

/// Workloads that a message lists.
const MAX_WORKLOADS: usize = 20;

/// A key takes some 50 ns.
const KEYS_PER_LOOK: u64 = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "workload,objects_in_bucket,total_requests_of_bucket\n\
        a,3,7\nb,1,1\na,1,100\na,2,6\n";

    fn keys(popularity: &Popularity) -> Vec<(String, u64)> {
        let mut keys = Vec::new();
        assert!(
            popularity.for_each(&AtomicBool::new(false), |key, requests| {
                keys.push((String::from_utf8(key.to_vec()).unwrap(), requests));
            })
        );
        keys
    }

    #[test]
    fn objects_become_keys_from_the_most_wanted_down() {
        let a = Popularity::parse(TABLE.as_bytes(), "a").unwrap();
        let expected = [
            ("pop:1:0", 100),
            ("pop:2:0", 3),
            ("pop:2:1", 3),
            ("pop:0:0", 3),
            ("pop:0:1", 2),
            ("pop:0:2", 2),
        ]
        .map(|(key, requests)| (key.to_owned(), requests));
        assert_eq!(keys(&a), expected);
        assert_eq!((a.objects(), a.requests(), a.keys()), (6, 113, 6));
        assert_eq!(a.requests_covered(), 113);
        let cut = a.cut(4);
        assert_eq!(keys(&cut), expected[..4]);
        assert_eq!(cut.requests_covered(), 109);
    }

    #[test]
    fn a_workload_of_more_than_a_hundred_million_objects_is_cut() {
        let table =
            "workload,objects_in_bucket,total_requests_of_bucket\nw,100000001,100000001\nw,1,9\n";
        let large = Popularity::parse(table.as_bytes(), "w").unwrap();
        assert_eq!(large.keys(), Popularity::SAMPLED_KEYS);
        assert_eq!(large.requests_covered(), 999_999 + 9);
    }

    #[test]
    fn a_table_that_cannot_be_used_says_why() {
        let says = |table: &str| {
            Popularity::parse(table.as_bytes(), "w")
                .unwrap_err()
                .to_string()
        };
        assert_eq!(says(""), "no column workload in its first line");
        assert_eq!(says(TABLE), "no workload w: it has a, b");
        let head = "workload,objects_in_bucket,total_requests_of_bucket\n";
        for row in ["w,1", "w,x,1", "w,1,-1", "w,0,1", ",1,1", "w,1,1,1"] {
            assert!(
                says(&format!("{head}{row}\n")).starts_with("line 2: "),
                "{row}"
            );
        }
        let most = format!("{head}w,9007199254740992,1\nw,1,1\n");
        assert_eq!(
            says(&most),
            "its objects or requests add up to more than 2^53"
        );
    }

    #[test]
    fn a_set_stop_ends_the_keys_soon() {
        let a = Popularity::parse(
            b"workload,objects_in_bucket,total_requests_of_bucket\nw,100000,1\n",
            "w",
        )
        .unwrap();
        let stop = AtomicBool::new(false);
        let mut seen = 0;
        assert!(!a.for_each(&stop, |_, _| {
            seen += 1;
            stop.store(true, Ordering::Relaxed);
        }));
        assert!(seen <= KEYS_PER_LOOK);
    }
}
