#!/usr/bin/env python3
"""Writes placement.json: golden vectors of clockwise's own schemes and of redis-cluster, by schemes.py.

Needs Python 3.9 or later and the package xxhash (made with xxhash 4.1.0). Run: python3 make_placement.py > placement.json
"""

import hashlib
import json
import struct
import zlib
from itertools import islice

from schemes import (
    FULL, GAMMA, MASK, SECRET, jump, jumpback, least_movement, mix, neg_log2,
    node_hash, outputs, Placed, probed_slot, rank, ring_tokens, stateless,
)

KEYS = outputs(42, 10_000)
LONG = "n" * 255


def numbered(count, weight=lambda i: 1000, without=()):
    return [("node-%d" % i, weight(i)) for i in range(count) if i not in without]


def crc_of(numbers):
    return "%08x" % zlib.crc32(struct.pack("<%dI" % len(numbers), *numbers))


def place_hashes(name, text, nodes, each, placed=None):
    placed = placed or Placed(text, nodes)
    answers = [node for key in KEYS for node in placed.ranked(key, each)]
    return {"name": name, "scheme": text, "nodes": nodes, "each": each, "first": answers[:16],
            "crc32": crc_of(answers), "checksum": placed.checksum()}


def slot_table(name, text, nodes):
    placed = Placed(text, nodes)
    return {"name": name, "scheme": text, "nodes": nodes, "first": placed.table[:16], "crc32": crc_of(placed.table),
            "slots": [placed.table.count(i) for i in range(len(nodes))], "checksum": placed.checksum()}


def least_move(name, text, before, after):
    count = int(text.rpartition("=")[2])
    old = stateless(before, count)
    table = least_movement(old, before, after, count)
    moved = sum(before[o][0] != after[n][0] for o, n in zip(old, table))
    return {"name": name, "scheme": text, "before": before, "after": after, "moved": moved, "crc32": crc_of(table),
            "checksum": Placed(text, after, table).checksum()}


def text_keys(name, text, nodes, keys):
    placed = Placed(text, nodes)
    rows = [[key.hex(), "%016x" % placed.token(key), placed.ranked(placed.token(key))] for key in keys]
    case = {"name": name, "scheme": text, "nodes": nodes, "checksum": placed.checksum(), "keys": rows}
    if placed.hash == "siphash-2-4":
        case["secret_hex"] = SECRET.hex()
    return case


def range_rows(bucket, sizes):
    return [[n, [bucket(key, n) for key in KEYS[:5]], crc_of([bucket(key, n) for key in KEYS])] for n in sizes]


def probed_row(name, thresholds):
    """Thresholds as [how many, threshold] runs."""
    runs = []
    for open_to in thresholds:
        if not runs or runs[-1][1] != open_to:
            runs.append([0, open_to])
        runs[-1][0] += 1
    slots = [probed_slot(key, thresholds) for key in KEYS]
    return {"name": name, "thresholds": runs, "first": slots[:8], "crc32": crc_of(slots)}


def probed_rows():
    thresholds = [FULL] * 10
    rows = [probed_row("ten full slots", thresholds)]
    for slot, open_to in ((3, 0), (5, 16384)):
        thresholds[slot] = open_to
        rows.append(probed_row("then slot %d at %d" % (slot, open_to), thresholds))
    rows.append(probed_row("then a full slot appended", thresholds + [FULL]))
    nearly_down = [0] * 200
    nearly_down[7], nearly_down[50], nearly_down[133] = 300, FULL, 20000
    rows.append(probed_row("nearly all of 200 closed: the last resort decides for many", nearly_down))
    return rows


def rank_row(slots):
    answers = [slot for key in KEYS for slot in islice(rank(key, slots), 3)]
    return [slots, answers[:8], crc_of(answers)]


def open_rank_row(slots, closed):
    owners = [next(slot for slot in rank(key, slots) if slot not in closed) for key in KEYS]
    return [slots, closed, crc_of(owners)]


def domain(node, level):
    """The labels down to a level; without a host label a node is a host by itself."""
    labels = node[2]
    return tuple(labels[:level + 1]) + ((node[0],) if level == 3 and labels[3] is None else ())


LEVELS = ["region", "zone", "rack", "host"]


def replica_set(ranking, nodes, factor, rules):
    """Rules are [level, cap, preferred], coarsest first. The chosen nodes, and the levels that were raised."""
    caps, chosen, degraded = [cap for _, cap, _ in rules], [], []

    def full(rule, i):
        level = rules[rule][0]
        return sum(domain(nodes[c], level) == domain(nodes[i], level) for c in chosen) >= caps[rule]

    while True:
        for i in ranking:
            if len(chosen) < factor and i not in chosen and not any(full(r, i) for r in range(len(rules))):
                chosen.append(i)
        raised = [r for r in range(len(rules)) if rules[r][2] and any(full(r, i) for i in ranking if i not in chosen)]
        if len(chosen) == factor or not raised:
            return chosen, degraded
        caps[raised[0]] += 1
        degraded.append(rules[raised[0]][0])


def replica_sets(name, text, nodes, factor, rules):
    """Nodes are [id, weight in thousandths, [region, zone, rack, host]]."""
    placed = Placed(text, [node[:2] for node in nodes])
    parsed = []
    for rule in rules.split(","):
        rule, _, mode = rule.partition(":")
        level, cap = rule.split("=")
        parsed.append([LEVELS.index(level), int(cap), mode == "preferred"])
    answers, raised, short = [], 0, 0
    for key in KEYS:
        chosen, degraded = replica_set(placed.ranked(key), nodes, factor, parsed)
        answers += chosen
        raised += len(degraded)
        short += factor - len(chosen)
    return {"name": name, "scheme": text, "nodes": nodes, "factor": factor, "rules": rules, "first": answers[:16],
            "crc32": crc_of(answers), "raised": raised, "missing": short}


def bounded(name, text, nodes, factor_milli):
    placed = Placed(text, nodes)
    weights = sum(milli for _, milli in nodes)
    caps = [-(-factor_milli * len(KEYS) * milli // (1000 * weights)) for _, milli in nodes]
    loads, owners, spilled = [0] * len(nodes), {}, 0
    for key in sorted(KEYS):
        ranking = placed.ranked(key)
        owners[key] = next(i for i in ranking if loads[i] < caps[i])
        loads[owners[key]] += 1
        spilled += owners[key] != ranking[0]
    return {"name": name, "scheme": text, "nodes": nodes, "bound_milli": factor_milli, "caps": caps, "loads": loads,
            "spilled": spilled, "first": [owners[key] for key in KEYS[:16]],
            "crc32": crc_of([owners[key] for key in KEYS])}


def main():
    slots, ring, rendezvous = "slots/xxh3-64/v1,count=16384", "ring/xxh3-64/v1,tokens=%d", "rendezvous/xxh3-64/v1"
    maglev_text = "maglev/xxh3-64/v1,size=%d"
    preferred = "zone=1:preferred,rack=1:preferred,host=1"
    units = numbered(10, lambda i: 1000 * (i % 4))
    places = zip("0000111222", "0011001011", "0123445678")
    racks = [["node-%d" % i, 1000 * (i + 1), ["r", "z" + zone, "k" + rack, "h" + host]]
             for i, (zone, rack, host) in enumerate(places)]
    some_labels = [["node-%d" % i, 1000, ["r%d" % (i % 2), [None, "a", "b"][i % 3], None, [None, "h"][i % 2]]]
                   for i in range(9)]
    ten, rising = numbered(10), numbered(10, lambda i: 1000 * (i + 1))
    odd_ids = ["zone b", "a#1", "nút-một", "10.0.0.1:6379", "N1", "n1", "日本-1", "a", LONG]
    odd = list(zip(odd_ids, [1000, 250, 2500, 1000, 0, 3001, 1000, 500, 1000]))
    whole = list(zip(odd_ids, [1000, 0, 3000, 1000, 0, 2000, 1000, 0, 5000]))
    even = [(name, 1000) for name in odd_ids]
    keys = [text.encode() for text in (
        "", "a", "user:1", "user:2", "user:3", "key:0", "nút-một", "phiên:giỏ-hàng:42",
        "phie\u0302n:gio\u0309-ha\u0300ng:42", "{user1000}.following", "{user1000}.followers", "foo{}{bar}",
        "foo{{bar}}zap", "foo{bar}{zap}", "{}", "{", "}{a}", "a{b}c{d}e", "x" * 300)]
    keys += [b"\xff\xfe", b"\xff\xfe{\xff\x00}\x00", b"a\x00b", b"\x00"]
    digest = hashlib.sha256(SECRET).hexdigest()
    node_ids = ["", "a", "node-0", "nút-một"]
    logs = [0, 1, 3, 1 << 63, MASK, GAMMA]
    document = {
        "system": "clockwise's own schemes, and redis-cluster as clockwise defines it",
        "version": "scheme definitions version 1",
        "how": "vectors/make_placement.py, see README.md. 64-bit numbers are hex. A node is [id, weight in thousandths]; "
               "a node in an answer is its place in the case's list, from 0. crc32: CRC-32 (zlib) over numbers as "
               "unsigned 32-bit little-endian. checksum: the placement checksum of clockwise.",
        "hashed_keys": {"generator": "SplitMix64", "seed": 42, "count": len(KEYS),
                        "first": ["%016x" % key for key in KEYS[:5]]},
        "mix": [["%016x" % z, "%016x" % mix(z)] for z in [0, 1, GAMMA, MASK]],
        "node_hash": [[name, "%016x" % node_hash(name)] for name in node_ids],
        "neg_log2": [["%016x" % h, "%016x" % neg_log2(h)] for h in logs],
        "jump": range_rows(jump, [1, 2, 3, 10, 100, 1000, 65536, 1000003]),
        "jumpback": range_rows(jumpback, [1, 2, 3, 10, 100, 1000, 65536, 1000003, 1 << 31]),
        "probed": probed_rows(),
        "rank": [rank_row(n) for n in [1, 2, 4, 5, 10, 16, 17, 100, 1000, 65536]],
        "rank_lists": [["%016x" % key, 10, list(rank(key, 10))] for key in KEYS[:2]],
        "rank_open": [open_rank_row(10, closed) for closed in [[], [3], [3, 7], [7]]],
        "ring_tokens": [{"scheme": ring % 4, "nodes": numbered(3),
                         "tokens": [["%016x" % token, node] for token, node in ring_tokens(numbered(3), 4)]}],
        "slot_tables": [
            slot_table("ten nodes", slots, ten),
            slot_table("weights 1 to 10", slots, rising),
            slot_table("nine nodes", slots, numbered(9)),
            slot_table("ten nodes without node-3", slots, numbered(10, without=[3])),
            slot_table("ten nodes, node-3 without weight", slots, numbered(10, lambda i: 0 if i == 3 else 1000)),
            slot_table("64 slots, three nodes", "slots/xxh3-64/v1,count=64", numbered(3)),
            slot_table("one slot, one node", "slots/xxh3-64/v1,count=1", numbered(1)),
            slot_table("1000 slots, three nodes", "slots/xxh3-64/v1,count=1000", numbered(3)),
            slot_table("maglev, ten nodes", maglev_text % 65537, ten),
            slot_table("maglev, weights 1 to 10", maglev_text % 65537, rising),
            slot_table("maglev, node-3 without weight", maglev_text % 65537, numbered(10, lambda i: 0 if i == 3 else 1000)),
            slot_table("maglev, published: six addresses", maglev_text % 7, [("127.0.0.1:9%d" % i, 1000) for i in range(6)]),
            slot_table("maglev, published: six ports", maglev_text % 7, [("9%d" % i, 1000) for i in range(6)]),
            slot_table("maglev, published: two addresses", maglev_text % 17, [("127.0.0.1:9%d" % i, 1000) for i in range(2)]),
            slot_table("maglev, published: weights 1 and 2", maglev_text % 17,
                       [("127.0.0.1:9%d" % i, 1000 * (i + 1)) for i in range(2)]),
            slot_table("maglev, two entries", maglev_text % 2, numbered(2)),
        ],
        "least_movement": [
            least_move("nine nodes and one more", slots, numbered(9), ten),
            least_move("ten nodes, node-3 leaves", slots, ten, numbered(10, without=[3])),
            least_move("ten nodes, node-3 to 0", slots, ten, numbered(10, lambda i: 0 if i == 3 else 1000)),
            least_move("ten nodes, node-9 to 2.5", slots, ten, numbered(10, lambda i: 2500 if i == 9 else 1000)),
        ],
        "owners": [
            place_hashes("rendezvous, ten nodes", rendezvous, ten, 1),
            place_hashes("rendezvous, ten nodes, whole ranking", rendezvous, ten, 10),
            place_hashes("rendezvous, weights 1 to 10", rendezvous, rising, 1),
            place_hashes("rendezvous, weights 1 to 10, three each", rendezvous, rising, 3),
            place_hashes("ring, ten nodes", ring % 160, ten, 1),
            place_hashes("ring, 40 to 400 tokens", ring % 40, rising, 1),
            place_hashes("ring, ten nodes, three each", ring % 160, ten, 3),
            place_hashes("slots, ten nodes", slots, ten, 1),
            place_hashes("slots, weights 1 to 10", slots, rising, 1),
            place_hashes("slots, ten nodes, three each", slots, ten, 3),
            place_hashes("slots, weights 1 to 10, three each", slots, rising, 3),
            place_hashes("jump, ten nodes, three each", "jump/xxh3-64/v1", ten, 3),
            place_hashes("modulo, ten nodes, three each", "modulo/xxh3-64/v1", ten, 3),
            place_hashes("jumpback, ten nodes, three each", "jumpback/xxh3-64/v1", ten, 3),
            place_hashes("maglev, ten nodes", maglev_text % 65537, ten, 1),
            place_hashes("maglev, ten nodes, three each", maglev_text % 65537, ten, 3),
            place_hashes("probed, ten nodes", "probed/xxh3-64/v1", ten, 1),
            place_hashes("probed, ten nodes, whole ranking", "probed/xxh3-64/v1", ten, 10),
            place_hashes("probed, node-3 without weight", "probed/xxh3-64/v1", numbered(10, lambda i: 0 if i == 3 else 1000), 1),
            place_hashes("probed, weights 0 to 3, whole ranking", "probed/xxh3-64/v1", units, 10),
            place_hashes("rank, ten nodes", "rank/xxh3-64/v1", ten, 1),
            place_hashes("rank, ten nodes, three each", "rank/xxh3-64/v1", ten, 3),
            place_hashes("rank, weights 0 to 3, whole ranking", "rank/xxh3-64/v1", units, 10),
        ],
        "replica_sets": [
            replica_sets("weights 1 to 10, three zones, three replicas", rendezvous, racks, 3, "zone=1"),
        ] + [
            replica_sets("zone and rack preferred, host required, %d replicas" % factor, rendezvous, racks, factor, preferred)
            for factor in (3, 4, 6, 9, 10)
        ] + [
            replica_sets("two zones, three replicas", rendezvous, racks[:7], 3, preferred),
            replica_sets("two zones required, three replicas", rendezvous, racks[:7], 3, "zone=1"),
            replica_sets("two for a zone, required", rendezvous, racks, 5, "zone=2,host=1"),
            replica_sets("labels that are missing, preferred", rendezvous, some_labels, 7, "region=4,zone=1:preferred,host=1"),
            replica_sets("on slots", slots, racks, 3, "zone=1"),
            replica_sets("on rank", "rank/xxh3-64/v1", racks, 3, "zone=1"),
        ],
        "bounded": [
            bounded("factor 1.05", rendezvous, ten, 1050),
            bounded("factor 1", rendezvous, ten, 1000),
            bounded("factor 1.1, weights 1 to 10", rendezvous, rising, 1100),
            bounded("factor 1, on maglev", maglev_text % 65537, ten, 1000),
        ],
        "text_keys": [
            text_keys("slots, odd ids", slots, odd, keys),
            text_keys("slots, odd ids, 64 slots, xxh64", "slots/xxh64/v1,count=64", odd, keys),
            text_keys("ring, odd ids", ring % 160, odd, keys),
            text_keys("ring, odd ids, one token each", ring % 1, odd, keys),
            text_keys("ring, keyed hash", "ring/siphash-2-4/v1,key_sha256=%s,tokens=160" % digest, odd, keys),
            text_keys("rendezvous, odd ids", rendezvous, odd, keys),
            text_keys("rendezvous, ten nodes", rendezvous, ten, keys),
            text_keys("rendezvous, odd ids, sha1", "rendezvous/sha1-be64/v1", odd, keys),
            text_keys("maglev, odd ids", maglev_text % 1009, odd, keys),
            text_keys("maglev, odd ids, another layer", "maglev/xxh3-64/v1,layer=1,size=1009", odd, keys),
            text_keys("slots, odd ids, 1000 slots, another layer", "slots/xxh3-64/v1,count=1000,layer=4294967295", odd, keys),
            text_keys("probed, odd ids in this order", "probed/xxh3-64/v1", whole, keys),
            text_keys("rank, odd ids in this order", "rank/xxh3-64/v1", whole, keys),
            text_keys("rank, no open slot", "rank/xxh3-64/v1", [("a", 0), ("b", 0)], keys[:2]),
            text_keys("jumpback, odd ids in this order", "jumpback/xxh3-64/v1", even, keys),
            text_keys("jumpback, crc-32", "jumpback/crc-32/v1", even, keys),
            text_keys("jump, odd ids in this order", "jump/xxh3-64/v1", even, keys),
            text_keys("jump, md5", "jump/md5-be64/v1", even, keys),
            text_keys("modulo, odd ids in this order", "modulo/xxh3-64/v1", even, keys),
            text_keys("modulo, crc-32", "modulo/crc-32/v1", even, keys),
            text_keys("redis-cluster, three masters in this order", "redis-cluster/crc-16/v1", even[:3], keys),
            text_keys("redis-cluster, nine masters", "redis-cluster/crc-16/v1", even, keys),
            text_keys("nobody has weight", slots, [("a", 0), ("b", 0)], keys[:2]),
            text_keys("no node", ring % 160, [], keys[:2]),
        ],
    }
    print(pretty(document))


def pretty(document):
    """JSON with one case, or one row of a short table, on a line."""
    dump = lambda value: json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    lines = []
    for name, value in document.items():
        if isinstance(value, list):
            lines.append("%s:[\n%s\n]" % (dump(name), ",\n".join(map(dump, value))))
        else:
            lines.append("%s:%s" % (dump(name), dump(value)))
    return "{\n%s\n}" % ",\n".join(lines)


main()
