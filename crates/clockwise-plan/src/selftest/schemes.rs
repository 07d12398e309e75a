//! clockwise's own schemes against `vectors/placement.json`, which a program in another language made.

use std::num::NonZeroU32;

use clockwise::hash::{self, crc32};
use clockwise::{
    FailureDomains, HashedKey, LoadBound, Member, Membership, NodeId, Placement, ReplicaSet,
    ReplicaSets, Replication, Scheme, Token, Weight, jump, jumpback, neg_log2, node_hash,
};
use serde_json::Value;

use super::vectors::{bytes, file, hex};
use super::{Check, check};

pub(super) fn checks() -> Vec<Check> {
    checks_of(&file(PLACEMENT))
}

fn checks_of(file: &Value) -> Vec<Check> {
    let keys = hashed_keys(&file["hashed_keys"]).unwrap_or_default();
    let mut checks = vec![
        check("mixer, node hash and logarithm", primitives(file)),
        check("jump ranges", buckets(&file["jump"], &keys, jump)),
        check(
            "jumpback ranges",
            buckets(&file["jumpback"], &keys, jumpback),
        ),
        check("ring tokens", every(&file["ring_tokens"], ring_tokens)),
    ];
    let groups: [(&str, &str, &Case<'_>); 6] = [
        ("table", "slot_tables", &slot_table),
        ("least movement", "least_movement", &least_movement),
        ("owners", "owners", &|case| owners(case, &keys)),
        ("keys as text", "text_keys", &text_keys),
        ("replicas", "replica_sets", &|case| replicas(case, &keys)),
        ("bounded load", "bounded", &|case| bounded(case, &keys)),
    ];
    for (title, member, holds) in groups {
        let cases = file[member].as_array().map_or(&[][..], Vec::as_slice);
        checks.push(check(
            format!("{title}: {} cases are there", cases.len()),
            Some(!cases.is_empty()),
        ));
        checks.extend(cases.iter().map(|case| {
            let name = case["name"].as_str().unwrap_or("a case");
            check(format!("{title}: {name}"), holds(case))
        }));
    }
    checks
}

/// Whether a case holds; `None` where something of it is missing.
type Case<'c> = dyn Fn(&Value) -> Option<bool> + 'c;

fn every(cases: &Value, holds: impl Fn(&Value) -> Option<bool>) -> Option<bool> {
    let cases = cases.as_array()?;
    Some(!cases.is_empty() && cases.iter().all(|case| holds(case) == Some(true)))
}

/// The keys of the file: outputs of SplitMix64.
fn hashed_keys(form: &Value) -> Option<Vec<u64>> {
    let mut random = hash::Rng::new(form["seed"].as_u64()?);
    let count = form["count"].as_u64()?.min(MOST_KEYS);
    Some((0..count).map(|_| random.next_u64()).collect())
}

fn primitives(file: &Value) -> Option<bool> {
    let mixes = every(&file["mix"], |row| {
        Some(hash::mix(hex(&row[0])?) == hex(&row[1])?)
    });
    let nodes = every(&file["node_hash"], |row| {
        let hash = match row[0].as_str()? {
            // The empty text is no id, but its hash is written down as well.
            "" => hash::splitmix64(hash::xxh3_64(b"")),
            id => node_hash(&id.parse().ok()?),
        };
        Some(hash == hex(&row[1])?)
    });
    let logarithms = every(&file["neg_log2"], |row| {
        Some(neg_log2(hex(&row[0])?) == hex(&row[1])?)
    });
    Some(mixes? && nodes? && logarithms?)
}

/// Rows of `[n, first answers, crc32]`.
fn buckets(rows: &Value, keys: &[u64], bucket: fn(u64, NonZeroU32) -> u32) -> Option<bool> {
    every(rows, |row| {
        let buckets = NonZeroU32::new(small(&row[0])?)?;
        let answers: Vec<u32> = keys.iter().map(|&key| bucket(key, buckets)).collect();
        Some(answers.starts_with(&numbers(&row[1])?) && crc_of(answers) == hex(&row[2])?)
    })
}

fn ring_tokens(case: &Value) -> Option<bool> {
    let listed = Listed::of(case)?;
    let wanted = case["tokens"].as_array()?;
    let mut good = wanted.len() == listed.placement.token_count();
    for ((token, member), row) in listed.placement.tokens().zip(wanted) {
        good &= token.0 == hex(&row[0])? && listed.place(member.id())? == small(&row[1])?;
    }
    Some(good)
}

fn slot_table(case: &Value) -> Option<bool> {
    let listed = Listed::of(case)?;
    let table = listed.table()?;
    let nodes = case["nodes"].as_array()?.len() as u32;
    let slots: Vec<u32> = (0..nodes)
        .map(|node| table.iter().filter(|&&owner| owner == node).count() as u32)
        .collect();
    let same = table.starts_with(&numbers(&case["first"])?)
        && slots == numbers(&case["slots"])?
        && crc_of(table) == hex(&case["crc32"])?;
    Some(same && listed.has_checksum(case))
}

fn least_movement(case: &Value) -> Option<bool> {
    let scheme: Scheme = case["scheme"].as_str()?.parse().ok()?;
    let before = Listed::new(&scheme, &case["before"])?;
    let after = membership(&case["after"])?;
    let after = Listed {
        placement: before.placement.least_movement(&after).ok()?,
        ids: ids(&after),
    };
    let ids_of = |listed: &Listed| -> Option<Vec<NodeId>> {
        let owners = listed.placement.slot_owners()?.iter();
        let members = listed.placement.members();
        Some(
            owners
                .map(|&node| members[node as usize].id().clone())
                .collect(),
        )
    };
    let (old, new) = (ids_of(&before)?, ids_of(&after)?);
    let moved = old.iter().zip(&new).filter(|(old, new)| old != new).count();
    let same =
        moved as u64 == case["moved"].as_u64()? && crc_of(after.table()?) == hex(&case["crc32"])?;
    Some(same && after.has_checksum(case))
}

fn owners(case: &Value, keys: &[u64]) -> Option<bool> {
    let listed = Listed::of(case)?;
    let each = small(&case["each"])? as usize;
    let mut answers = Vec::new();
    for &key in keys {
        let mut ranked = listed
            .placement
            .ranked(&HashedKey::of_token(Token(key)), each);
        while let Some(node) = ranked.next_index() {
            answers.push(listed.place_of_index(node)?);
        }
    }
    let same =
        answers.starts_with(&numbers(&case["first"])?) && crc_of(answers) == hex(&case["crc32"])?;
    Some(same && listed.has_checksum(case))
}

fn text_keys(case: &Value) -> Option<bool> {
    let listed = Listed::of(case)?;
    let mut good = listed.has_checksum(case);
    for row in case["keys"].as_array()? {
        let key = bytes(&row[0])?;
        let ranked: Option<Vec<u32>> = listed
            .placement
            .replicas(&key, usize::MAX)
            .map(|member| listed.place(member.id()))
            .collect();
        let ranked = ranked?;
        let owner = listed.placement.owner(&key).map(Member::id);
        good &= listed.placement.token(&key).0 == hex(&row[1])?
            && owner.and_then(|id| listed.place(id)) == ranked.first().copied()
            && ranked == numbers(&row[2])?;
    }
    Some(good)
}

fn replicas(case: &Value, keys: &[u64]) -> Option<bool> {
    let listed = Listed::of(case)?;
    let factor = NonZeroU32::new(small(&case["factor"])?)?;
    let replication = Replication::new(factor)
        .with_rules(case["rules"].as_str()?)
        .ok()?;
    let sets = ReplicaSets::new(&listed.placement, replication).ok()?;
    let (mut answers, mut raised, mut missing) = (Vec::new(), 0, 0);
    let mut set = ReplicaSet::default();
    for &key in keys {
        sets.select_into(&HashedKey::of_token(Token(key)), |_| true, &mut set);
        for &node in &set.nodes {
            answers.push(listed.place_of_index(node?)?);
        }
        raised += set.degraded.len() as u64;
        missing += set
            .deficit
            .as_ref()
            .map_or(0, |deficit| deficit.missing as u64);
    }
    Some(
        answers.starts_with(&numbers(&case["first"])?)
            && raised == case["raised"].as_u64()?
            && missing == case["missing"].as_u64()?
            && crc_of(answers) == hex(&case["crc32"])?,
    )
}

fn bounded(case: &Value, keys: &[u64]) -> Option<bool> {
    let listed = Listed::of(case)?;
    let bound = LoadBound::from_milli(small(&case["bound_milli"])?)?;
    let hashed: Vec<HashedKey<'_>> = keys
        .iter()
        .map(|&key| HashedKey::of_token(Token(key)))
        .collect();
    let assigned = listed.placement.assign_bounded(&hashed, bound);
    let (mut loads, mut spilled) = (vec![0; listed.ids.len()], 0);
    let mut owners = Vec::with_capacity(hashed.len());
    for (key, node) in hashed.iter().zip(assigned) {
        spilled += u64::from(node != listed.placement.owner_index(key));
        let place = listed.place_of_index(node?)?;
        loads[place as usize] += 1;
        owners.push(place);
    }
    Some(
        loads == numbers(&case["loads"])?
            && spilled == case["spilled"].as_u64()?
            && owners.starts_with(&numbers(&case["first"])?)
            && crc_of(owners) == hex(&case["crc32"])?,
    )
}

/// A case's placement, and its ids in listing order.
struct Listed {
    placement: Placement,
    ids: Vec<NodeId>,
}

impl Listed {
    fn of(case: &Value) -> Option<Self> {
        let mut scheme: Scheme = case["scheme"].as_str()?.parse().ok()?;
        if let Some(secret) = case["secret_hex"].as_str() {
            scheme = scheme.with_secret(secret.parse().ok()?).ok()?;
        }
        Self::new(&scheme, &case["nodes"])
    }

    fn new(scheme: &Scheme, nodes: &Value) -> Option<Self> {
        let membership = membership(nodes)?;
        Some(Self {
            placement: Placement::build(scheme, &membership).ok()?,
            ids: ids(&membership),
        })
    }

    fn place(&self, id: &NodeId) -> Option<u32> {
        let place = self.ids.iter().position(|other| other == id)?;
        u32::try_from(place).ok()
    }

    fn place_of_index(&self, node: usize) -> Option<u32> {
        self.place(self.placement.members().get(node)?.id())
    }

    /// The owner of each slot.
    fn table(&self) -> Option<Vec<u32>> {
        let owners = self.placement.slot_owners()?.iter();
        owners
            .map(|&node| self.place_of_index(node as usize))
            .collect()
    }

    fn has_checksum(&self, case: &Value) -> bool {
        case["checksum"] == self.placement.placement_checksum().to_string()
    }
}

fn ids(membership: &Membership) -> Vec<NodeId> {
    let members = membership.members().iter();
    members.map(|member| member.id().clone()).collect()
}

fn membership(nodes: &Value) -> Option<Membership> {
    let members: Option<Vec<Member>> = nodes.as_array()?.iter().map(member).collect();
    Membership::new(members?).ok()
}

/// A member of the form `[id, weight in thousandths]`, or with its region, zone, rack and host behind.
fn member(row: &Value) -> Option<Member> {
    let weight = Weight::from_milli(small(&row[1])?)?;
    let label = |level: usize| row[2][level].as_str().map(str::to_owned);
    let domains = FailureDomains {
        region: label(0),
        zone: label(1),
        rack: label(2),
        host: label(3),
    };
    let id = row[0].as_str()?.parse().ok()?;
    Some(Member::new(id).with_weight(weight).with_domains(domains))
}

fn small(value: &Value) -> Option<u32> {
    u32::try_from(value.as_u64()?).ok()
}

fn numbers(value: &Value) -> Option<Vec<u32>> {
    value.as_array()?.iter().map(small).collect()
}

/// CRC-32 over numbers as unsigned 32-bit little-endian.
fn crc_of(numbers: impl IntoIterator<Item = u32>) -> u64 {
    let bytes: Vec<u8> = numbers.into_iter().flat_map(u32::to_le_bytes).collect();
    u64::from(crc32(&bytes))
}

/// The file has 10,000; the bound keeps the answer to a broken file short.
const MOST_KEYS: u64 = 100_000;
const PLACEMENT: &str = include_str!("../../../../vectors/placement.json");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_answer_fails_its_check_and_no_other() {
        let whole = file(PLACEMENT);
        assert!(checks_of(&whole).iter().all(|check| check.ok));
        for (member, part, name) in [
            ("slot_tables", "crc32", "table: ten nodes"),
            ("owners", "crc32", "owners: rendezvous, ten nodes"),
            ("text_keys", "checksum", "keys as text: slots, odd ids"),
            ("bounded", "spilled", "bounded load: factor 1.05"),
        ] {
            let mut changed = whole.clone();
            changed[member][0][part] = 1.into();
            let checks = checks_of(&changed);
            let failed: Vec<&str> = checks
                .iter()
                .filter(|check| !check.ok)
                .map(|check| check.name.as_str())
                .collect();
            assert_eq!(failed, [name]);
        }
    }

    #[test]
    fn nothing_to_compare_with_is_a_failure() {
        assert!(checks_of(&Value::Null).iter().all(|check| !check.ok));
    }
}
