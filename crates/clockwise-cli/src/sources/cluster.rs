//! The masters of a Redis Cluster, from the answer to `CLUSTER NODES`.
//!
//! That command is known to every version of Redis and Valkey. Promises that a master with slots is never left out in
//! silence: what cannot be understood or has failed is an error.

/// A master with slots.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Master {
    /// Where it is; `None` for the node that was asked.
    pub(crate) place: Option<(String, u16)>,
}

/// All masters that hold keys.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Masters {
    pub(crate) masters: Vec<Master>,
    /// Slots that they hold together.
    pub(crate) slots: u64,
    /// Whether slots are on their way from one to another.
    pub(crate) moving: bool,
}

impl Masters {
    /// Reads the answer. With `by_name` a node that has a host name goes by it, as certificates need.
    pub(crate) fn parse(answer: &str, by_name: bool) -> Result<Self, String> {
        let mut all = Self::default();
        for line in answer.lines() {
            // id, ip:port@bus[,name[,...]], flags, master, two times, epoch, link, slots
            let words: Vec<&str> = line.split_ascii_whitespace().collect();
            let [_, address, flags, _, _, _, _, _, slots @ ..] = words.as_slice() else {
                return Err(format!("CLUSTER NODES has a line {line:?}"));
            };
            let flags: Vec<&str> = flags.split(',').collect();
            let is = |flag: &str| flags.contains(&flag);
            all.moving |= slots.iter().any(|slot| slot.starts_with('['));
            let count = slots
                .iter()
                .filter(|slot| !slot.starts_with('['))
                .map(|range| count(range))
                .sum::<Option<u64>>()
                .ok_or_else(|| format!("CLUSTER NODES has a line {line:?}"))?;
            if !is("master") || count == 0 {
                continue;
            }
            if is("fail") || is("noaddr") {
                return Err(format!("master {address} of the cluster has failed"));
            }
            all.slots += count;
            let place = if is("myself") {
                None
            } else {
                let place = place(address, by_name);
                Some(place.ok_or_else(|| format!("CLUSTER NODES has a line {line:?}"))?)
            };
            all.masters.push(Master { place });
        }
        Ok(all)
    }
}

fn place(address: &str, by_name: bool) -> Option<(String, u16)> {
    let mut parts = address.split(',');
    let (host, port) = parts.next()?.split_once('@')?.0.rsplit_once(':')?;
    let name = parts.next().filter(|name| by_name && !name.is_empty());
    let host = name.unwrap_or(host);
    (!host.is_empty()).then_some((host.to_owned(), port.parse().ok()?))
}

fn count(range: &str) -> Option<u64> {
    let (first, last) = range.split_once('-').unwrap_or((range, range));
    let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
    (last >= first && last < SLOTS).then(|| last - first + 1)
}

/// Slots of every Redis Cluster.
pub(crate) const SLOTS: u64 = 16_384;

#[cfg(test)]
mod tests {
    use super::*;

    const NODES: &str = "\
a 10.0.0.1:6379@16379,one.example myself,master - 0 0 1 connected 0-5460
b 10.0.0.2:6379@16379,two.example master - 0 0 2 connected 5461-10922 [5461->-c]
c ::1:6380@16380 master - 0 0 3 connected 10923-16382 16383
d 10.0.0.4:6379@16379 slave a 0 0 1 connected
e 10.0.0.5:6379@16379 master - 0 0 0 connected
f 10.0.0.6:6379@16379 master,fail - 0 0 0 disconnected
";

    #[test]
    fn masters_with_slots_are_found() {
        let place = |host: &str, port| Master {
            place: Some((host.to_owned(), port)),
        };
        let masters = Masters::parse(NODES, false).unwrap();
        let expected = [
            Master { place: None },
            place("10.0.0.2", 6379),
            place("::1", 6380),
        ];
        assert_eq!(masters.masters, expected);
        assert_eq!((masters.slots, masters.moving), (SLOTS, true));
        let named = Masters::parse(NODES, true).unwrap();
        assert_eq!(named.masters[1], place("two.example", 6379));
    }

    #[test]
    fn a_failed_master_with_slots_and_lines_of_another_form_are_errors() {
        for (line, piece) in [
            ("f h:1@2 master,fail - 0 0 0 disconnected 0-9", "h:1@2"),
            ("f h:1@2 master - 0 0 0 connected 0-16384", "0-16384"),
            ("f h:1@2 master - 0 0 0 connected 9-0", "9-0"),
            ("f :1@2 master - 0 0 0 connected 9", ":1@2"),
            ("ERR", "ERR"),
        ] {
            let error = Masters::parse(line, false).unwrap_err();
            assert!(error.contains(piece), "{error}");
        }
    }
}
