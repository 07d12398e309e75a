"""The scheme definitions of clockwise, and redis-cluster, in plain Python, for make_placement.py.

Apart from the Rust ones; nothing here calls clockwise. Needs Python 3.9 or later and the package xxhash.
"""

import hashlib
import heapq
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
