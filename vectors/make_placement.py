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
from itertools import islice

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


class Rng:
    def __init__(self, seed):
        self.state = seed

    def next(self):
        self.state = (self.state + GAMMA) & MASK
        return mix(self.state)


LOW32 = (1 << 32) - 1


def jumpback(key, buckets):
    if buckets == 1:
        return 0
    rng = Rng(key)
    word = rng.next()
    low, high = word & LOW32, word >> 32
    moves = (low ^ high) & ((1 << (buckets - 1).bit_length()) - 1)
    while moves:
        base = 1 << (moves.bit_length() - 1)
        half = high if bin(moves).count("1") % 2 else low
        bucket = base + (half & (base - 1))
        if bucket < buckets:
            return bucket
        bucket = drawn_within(rng, base, buckets)
        if bucket is not None:
            return bucket
        moves ^= base
    return 0


def drawn_within(rng, base, buckets):
    while True:
        word = rng.next()
        for half in (word & LOW32, word >> 32):
            bucket = half & (2 * base - 1)
            if bucket < base:
                return None
            if bucket < buckets:
                return bucket


FULL = 65536


def probes(key, thresholds):
    """Slots that the 64 probes of a key take, in order and with repeats."""
    for i in range(64):
        draw = mix(((key ^ 0x6A09E667F3BCC908) + i * GAMMA) & MASK) if i else key
        slot = jumpback(draw, len(thresholds))
        open_to = thresholds[slot]
        if open_to == FULL or open_to and mix(draw ^ mix(slot + 0x5BD1E995)) >> 48 < open_to:
            yield slot


def last_resort(key, thresholds):
    live = [slot for slot, open_to in enumerate(thresholds) if open_to]
    return sorted(live, key=lambda s: ((neg_log2(mix(key ^ splitmix64(s))) << 32) // thresholds[s], s))


def probed_slot(key, thresholds):
    for slot in probes(key, thresholds):
        return slot
    return last_resort(key, thresholds)[0]


def layer(key, j, number):
    half = j + 1
    rounds = {1: 12, 2: 12, 3: 10, 4: 6}.get(half, 4)
    layer_key = mix((key + half * GAMMA) & MASK)
    left, right = number >> half, number & ((1 << half) - 1)
    for t in range(1, rounds + 1):
        left, right = right, left ^ mix(layer_key ^ (t << 32 | right)) >> (64 - half)
    return left << half | right


def rank(key, slots):
    """All slots in a key's order, one after the other."""
    top = (slots - 1).bit_length() - 1 >> 1 if slots > 1 else 0
    counters = [0] * (top + 1)
    j = top
    while j < top or counters[j] < 4 ** (j + 1):
        number = layer(key, j, counters[j])
        counters[j] += 1
        if j and number < 4 ** j:
            j -= 1
            continue
        j = top
        if number < slots:
            yield number


def maglev(nodes, size):
    turns = []
    for i in by_id(nodes):
        name, milli = nodes[i]
        if milli:
            start, step = (xxhash.xxh64_intdigest(name.encode(), seed) for seed in (0, 1))
            turns.append([i, milli, start % size, step % (size - 1) + 1, 0])
    table, filled, rounds = [None] * size, 0, 0
    most = max((milli for _, milli, *_ in turns), default=0)
    while turns and filled < size:
        rounds += 1
        for turn in turns:
            i, milli, entry, step, due = turn
            if rounds * milli < due or filled == size:
                continue
            while table[entry] is not None:
                entry = (entry + step) % size
            table[entry] = i
            filled += 1
            turn[2], turn[4] = entry, due + most
    return table if turns else []


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
        if self.name == "maglev":
            self.table = maglev(nodes, int(self.parameters["size"]))
        if self.name in ("probed", "rank"):
            # A node of weight 0 keeps one slot, closed.
            self.table = [i for i, (_, milli) in enumerate(nodes) for _ in range(max(1, milli // 1000))]
            self.thresholds = [FULL if nodes[i][1] else 0 for i in self.table]
        if self.name == "redis-cluster" and table is None:
            self.table = [self.live[i] for i in created_ranges(len(self.live))] if self.live else []
        if self.name == "ring":
            self.ring = ring_tokens(nodes, int(self.parameters["tokens"]))

    def token(self, key):
        token = HASHES[self.hash](redis_tag(key) if self.name == "redis-cluster" else key)
        number = int(self.parameters.get("layer", 0))
        return mix(token ^ splitmix64(number)) if number else token

    def ranked(self, token, count=None):
        """The first `count` nodes of a key's ranking; all of them without a number."""
        return list(islice(dict.fromkeys(self.sequence(token)), count))

    def sequence(self, token):
        if not self.live:
            return []
        if self.name == "probed":
            return (self.table[slot] for slot in self.probed_slots(token))
        if self.name == "rank":
            return (self.table[slot] for slot in rank(token, len(self.table)) if self.thresholds[slot])
        if self.name == "rendezvous":
            return race(token, self.nodes)
        if self.name == "ring":
            start = next((i for i, (point, _) in enumerate(self.ring) if point >= token), 0)
            return (node for _, node in self.ring[start:] + self.ring[:start])
        if self.name == "redis-cluster":
            return [self.table[token % 16384]]
        if self.name == "slots":
            slot = token * self.count >> 64
            return [self.table[slot]] + race(splitmix64(slot), self.nodes)
        if self.name == "maglev":
            return [self.table[token % len(self.table)]] + race(token, self.nodes)
        bucket = {"modulo": lambda k, n: k % n, "jump": jump, "jumpback": jumpback}[self.name]
        return [self.live[bucket(token, len(self.live))]] + race(token, self.nodes)

    def probed_slots(self, token):
        yield from probes(token, self.thresholds)
        yield from last_resort(token, self.thresholds)

    def checksum(self):
        digest = hashlib.sha256(self.text.encode() + b"\n")
        places = self.table or []
        if self.name in ("jump", "jumpback", "modulo"):
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
