#!/usr/bin/env python3
"""Float scans in the order of docs/numerics.md, by numpy, as reference data: scans.py > scans.txt makes the file,
scans.py --check scans.txt compares it. The last line of the file is the SHA-256 of those before it.

The order: tiles of 16, in each of which p[i] = p[i - d] + p[i] for d = 1, 2, 4, 8 at once for all i; a carry adds up
the totals of the tiles of a chunk of 4,096, an offset those of the chunks, both from the identity (-0.0; 1.0 for
products); the result is offset + (carry + p). In reverse the elements are counted from the end. An exclusive scan's
first result is +0 (1), the others are the inclusive one's before them.

The elements are those of sums.py. A line has dtype, kind, direction, n, a hash of the results' bits taken one after the
other (h = (h ^ bits) * 1099511628211 mod 2^64 from 14695981039346656037), and the last of them in the direction. The
script also holds each scan against the sum in f64: it differs by rounding alone."""
import hashlib
import sys

import numpy as np

from sums import elements

SIZES = (1, 2, 15, 16, 17, 255, 1000, 1024, 1025, 4095, 4096, 4097, 8192, 20000)


def tiles(x, merge):
    p = x.copy()
    for d in (1, 2, 4, 8):
        before = p.copy()
        p[:, d:] = merge(before[:, :-d], before[:, d:])
    return p


def scan(x, identity, merge):
    n = x.size
    padded = np.full(-(-n // 16) * 16, identity, x.dtype)
    padded[:n] = x
    p = tiles(padded.reshape(-1, 16), merge)
    carries, offsets = np.empty(len(p), x.dtype), np.empty(len(p), x.dtype)
    carry = offset = x.dtype.type(identity)
    for i, total in enumerate(p[:, 15]):
        if i and i % 256 == 0:
            offset, carry = merge(offset, carry), x.dtype.type(identity)
        carries[i], offsets[i] = carry, offset
        carry = merge(carry, total)
    return merge(offsets[:, None], merge(carries[:, None], p)).reshape(-1)[:n]


def exclusive(y, nothing):
    return np.concatenate([np.array([nothing], y.dtype), y[:-1]])


def hashed(bits):
    h = 14695981039346656037
    for b in bits.tolist():
        h = (h ^ b) * 1099511628211 % 2**64
    return h


def close(y, x, kind):
    exact = np.cumsum(x.astype(np.float64)) if kind == "sum" else np.cumprod(x.astype(np.float64))
    scale = np.cumsum(np.abs(x.astype(np.float64))) if kind == "sum" else np.abs(exact)
    return np.all(np.abs(y - exact) <= (8 + y.size / 16) * np.finfo(y.dtype).eps * scale)


def lines():
    for name, dtype, bits in (("f32", np.float32, np.uint32), ("f64", np.float64, np.uint64)):
        for n in SIZES:
            for kind, identity, merge in (("sum", -0.0, np.add), ("prod", 1.0, np.multiply)):
                x = elements(n, dtype, kind)
                for way in ("up", "down", "up-exclusive", "down-exclusive"):
                    down = way.startswith("down")
                    y = scan(x[::-1] if down else x, identity, merge)
                    assert close(y, x[::-1] if down else x, kind), (name, kind, n)
                    if way.endswith("exclusive"):
                        y = exclusive(y, 0 if kind == "sum" else 1)
                    ordered = y[::-1] if down else y
                    yield (f"{name} {kind} {way} {n} {hashed(np.ascontiguousarray(ordered).view(bits)):#x} "
                           f"{int(y[-1:].view(bits)[0]):#x}")


def main():
    text = "\n".join(lines()) + "\n"
    text += "sha256 " + hashlib.sha256(text.encode()).hexdigest() + "\n"
    if len(sys.argv) == 3 and sys.argv[1] == "--check":
        with open(sys.argv[2], encoding="utf-8") as file:
            same = file.read() == text
        print("current" if same else f"{sys.argv[2]} is not what this script makes")
        return 0 if same else 1
    sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
