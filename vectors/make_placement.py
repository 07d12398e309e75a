#!/usr/bin/env python3
"""Writes placement.json: golden vectors of clockwise's own schemes and of redis-cluster.

A plain implementation of the scheme definitions in Python, apart from the Rust ones; nothing here calls clockwise.
Needs Python 3.9 or later and the package xxhash (made with xxhash 4.1.0). Run: python3 make_placement.py > placement.json
"""

import hashlib
import heapq
import json
import struct
import zlib

import xxhash

MASK = (1 << 64) - 1
GAMMA = 0x9E3779B97F4A7C15


def mix(z):
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def splitmix64(z):
    return mix((z + GAMMA) & MASK)


def outputs(seed, count):
    return [mix((seed + (i + 1) * GAMMA) & MASK) for i in range(count)]


def node_hash(name):
    return splitmix64(xxhash.xxh3_64_intdigest(name.encode()))


# --- hashes ---------------------------------------------------------------------------------------------------------

def crc16(data):
    crc = 0
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = ((crc << 1) ^ 0x1021 if crc & 0x8000 else crc << 1) & 0xFFFF
    return crc


def siphash_2_4(key, data):
    k0, k1 = struct.unpack("<QQ", key)
    v = [k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D, k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573]
    rotl = lambda x, n: ((x << n) | (x >> (64 - n))) & MASK

    def rounds(count):
        for _ in range(count):
            v[0] = (v[0] + v[1]) & MASK
            v[1] = rotl(v[1], 13) ^ v[0]
            v[0] = rotl(v[0], 32)
            v[2] = (v[2] + v[3]) & MASK
            v[3] = rotl(v[3], 16) ^ v[2]
            v[0] = (v[0] + v[3]) & MASK
            v[3] = rotl(v[3], 21) ^ v[0]
            v[2] = (v[2] + v[1]) & MASK
            v[1] = rotl(v[1], 17) ^ v[2]
            v[2] = rotl(v[2], 32)

    padded = data + b"\0" * (7 - len(data) % 8) + bytes([len(data) & 255])
    for (word,) in struct.iter_unpack("<Q", padded):
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    v[2] ^= 255
    rounds(4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


SECRET = bytes(range(16))
HASHES = {
    "xxh3-64": lambda data: xxhash.xxh3_64_intdigest(data),
    "xxh64": lambda data: xxhash.xxh64_intdigest(data, 0),
    "crc-16": crc16,
    "crc-32": zlib.crc32,
    "md5-be64": lambda data: int.from_bytes(hashlib.md5(data).digest()[:8], "big"),
    "sha1-be64": lambda data: int.from_bytes(hashlib.sha1(data).digest()[:8], "big"),
    "siphash-2-4": lambda data: siphash_2_4(SECRET, data),
}


def redis_tag(key):
    start = key.find(b"{")
    if start < 0:
        return key
    end = key.find(b"}", start + 1)
    return key if end <= start + 1 else key[start + 1:end]


# --- the weighted race ----------------------------------------------------------------------------------------------

def log_table():
    table = []
    for i in range(1024):
        x, bits = (1024 + i) << 53, 0
        for b in range(55, -1, -1):
            x = (x * x) >> 63
            if x >= 1 << 64:
                x >>= 1
                bits |= 1 << b
        table.append(bits)
    return table + [1 << 56]


TABLE = log_table()


def neg_log2(h):
    u = h | 1
    zeros = 64 - u.bit_length()
    fraction = (u << zeros << 1) & MASK
    i, q = fraction >> 54, (fraction >> 22) & 0xFFFFFFFF
    return ((zeros + 1) << 56) - (TABLE[i] + ((TABLE[i + 1] - TABLE[i]) * q >> 32))


def cost(k, hashed, milli):
    return (neg_log2(mix(k ^ hashed)) << 32) // milli


def race(k, nodes):
    """Indices of the nodes with weight as they rank for the number k."""
    hashed = [(node_hash(name), name.encode(), i, milli) for i, (name, milli) in enumerate(nodes) if milli > 0]
    return [row[3] for row in sorted((cost(k, h, milli), h, name, i) for h, name, i, milli in hashed)]


# --- schemes --------------------------------------------------------------------------------------------------------

def by_id(nodes):
    return sorted(range(len(nodes)), key=lambda i: nodes[i][0].encode())


def targets(nodes, count):
    total = sum(milli for _, milli in nodes)
    if total == 0:
        return [0] * len(nodes)
    due = [count * milli // total for _, milli in nodes]
    order = sorted(by_id(nodes), key=lambda i: -(count * nodes[i][1] % total))
    for i in order[:count - sum(due)]:
        due[i] += 1
    assert all(due[i] > 0 for i in range(len(nodes)) if nodes[i][1] > 0)
    return due


def stateless(nodes, count):
    due = targets(nodes, count)
    if not any(due):
        return []
    hashed = [node_hash(name) for name, _ in nodes]
    ranks = [race(splitmix64(slot), nodes) for slot in range(count)]
    asked, table = [0] * count, [None] * count
    held = [[] for _ in nodes]
    waiting = list(range(count))
    while waiting:
        slot = waiting.pop()
        node = ranks[slot][asked[slot]]
        asked[slot] += 1
        heapq.heappush(held[node], (-cost(splitmix64(slot), hashed[node], nodes[node][1]), -slot))
        if len(held[node]) > due[node]:
            waiting.append(-heapq.heappop(held[node])[1])
    for node, slots in enumerate(held):
        for _, slot in slots:
            table[-slot] = node
    return table


def least_movement(before, old_nodes, nodes, count):
    due = targets(nodes, count)
    index = {name: i for i, (name, _) in enumerate(nodes)}
    table = [index.get(old_nodes[owner][0]) for owner in before]
    have = [table.count(i) for i in range(len(nodes))]
    surplus = [max(0, h - d) for h, d in zip(have, due)]
    for slot, owner in enumerate(table):
        if owner is not None and surplus[owner] > 0:
            surplus[owner] -= 1
            table[slot] = None
    takers = [i for i in by_id(nodes) for _ in range(max(0, due[i] - have[i]))]
    for slot, owner in enumerate(table):
        if owner is None:
            table[slot] = takers.pop(0)
    return table


def vnodes(tokens, milli):
    return max(1, (tokens * milli + 500) // 1000) if milli > 0 else 0


def ring_tokens(nodes, tokens):
    points = []
    for i, (name, milli) in enumerate(nodes):
        base = xxhash.xxh3_64_intdigest(name.encode())
        points += [(mix(base ^ splitmix64(j)), name.encode(), i) for j in range(vnodes(tokens, milli))]
    return [(token, i) for token, _, i in sorted(points)]


def jump(key, buckets):
    b, j = -1, 0
    while j < buckets:
        b = j
        key = (key * 2862933555777941757 + 1) & MASK
        j = int((b + 1) * (float(1 << 31) / float((key >> 33) + 1)))
    return b


def single(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


def created_ranges(masters):
    """redis-cli's first deal of slots: borders in single precision, rounded half away from zero."""
    table, cursor = [], 0.0
    each = single(16384 / masters)
    for place in range(masters):
        last = 16383 if place + 1 == masters else int(single(single(cursor + each) - 1.0) + 0.5)
        table += [place] * (last + 1 - len(table))
        cursor = single(cursor + each)
    return table


class Placed:
    """A scheme's text in full with its tables. Nodes are (id, thousandths) in listing order."""

    def __init__(self, text, nodes, table=None):
        head, *parameters = text.split(",")
        self.name, self.hash, version = head.split("/")
        assert version == "v1"
        self.text, self.nodes = text, nodes
        self.parameters = dict(p.split("=") for p in parameters)
        self.live = [i for i, (_, milli) in enumerate(nodes) if milli > 0]
        self.table = table
        if self.name == "slots":
            self.count = int(self.parameters["count"])
            if table is None:
                self.table = stateless(nodes, self.count)
        if self.name == "redis-cluster" and table is None:
            self.table = [self.live[i] for i in created_ranges(len(self.live))] if self.live else []
        if self.name == "ring":
            self.ring = ring_tokens(nodes, int(self.parameters["tokens"]))

    def token(self, key):
        return HASHES[self.hash](redis_tag(key) if self.name == "redis-cluster" else key)

    def ranked(self, token):
        if not self.live:
            return []
        if self.name == "rendezvous":
            return race(token, self.nodes)
        if self.name == "ring":
            start = next((i for i, (point, _) in enumerate(self.ring) if point >= token), 0)
            return list(dict.fromkeys(node for _, node in self.ring[start:] + self.ring[:start]))
        if self.name == "redis-cluster":
            return [self.table[token % 16384]]
        if self.name == "slots":
            slot = token * self.count >> 64
            owner, others = self.table[slot], race(splitmix64(slot), self.nodes)
        else:
            bucket = token % len(self.live) if self.name == "modulo" else jump(token, len(self.live))
            owner, others = self.live[bucket], race(token, self.nodes)
        return [owner] + [i for i in others if i != owner]

    def checksum(self):
        digest = hashlib.sha256(self.text.encode() + b"\n")
        places = self.table or []
        if self.name in ("jump", "modulo"):
            places = self.live
        for i in by_id(self.nodes):
            name, milli = self.nodes[i]
            own = [place for place, owner in enumerate(places) if owner == i]
            digest.update(struct.pack("<I", len(name.encode())) + name.encode())
            digest.update(struct.pack("<II", milli, len(own)) + struct.pack("<%dI" % len(own), *own))
        return "sha256:" + digest.hexdigest()


# --- cases ----------------------------------------------------------------------------------------------------------

KEYS = outputs(42, 10_000)
LONG = "n" * 255


def numbered(count, weight=lambda i: 1000, without=()):
    return [("node-%d" % i, weight(i)) for i in range(count) if i not in without]


def crc_of(numbers):
    return "%08x" % zlib.crc32(struct.pack("<%dI" % len(numbers), *numbers))


def place_hashes(name, text, nodes, each, placed=None):
    placed = placed or Placed(text, nodes)
    answers = [node for key in KEYS for node in placed.ranked(key)[:each]]
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


def main():
    slots, ring, rendezvous = "slots/xxh3-64/v1,count=16384", "ring/xxh3-64/v1,tokens=%d", "rendezvous/xxh3-64/v1"
    ten, rising = numbered(10), numbered(10, lambda i: 1000 * (i + 1))
    odd_ids = ["zone b", "a#1", "nút-một", "10.0.0.1:6379", "N1", "n1", "日本-1", "a", LONG]
    odd = list(zip(odd_ids, [1000, 250, 2500, 1000, 0, 3001, 1000, 500, 1000]))
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
        "jump": [[n, [jump(key, n) for key in KEYS[:5]], crc_of([jump(key, n) for key in KEYS])]
                 for n in [1, 2, 3, 10, 100, 1000, 65536, 1000003]],
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
