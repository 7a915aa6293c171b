#!/usr/bin/env python3
"""Float sums and products in the order of docs/numerics.md, by numpy, as reference data: sums.py > sums.txt makes the
file, sums.py --check sums.txt compares it. The last line of the file is the SHA-256 of those before it.

The order: absent elements are the identity (-0.0; 1.0 for products). Groups of 64 become 8 values t_j by a fixed tree;
blocks of 16 groups add theirs in ascending order to 8 accumulators; blocks merge like the carries of a binary counter;
what is left is folded from the top of the stack; the 8 accumulators become one by a fixed tree.

Element k of the input of length n is built from h = (k * 2654435761 + n * 40503) mod 2^32, so that any language can:
sums take (h / 2^24 mod 256) - 127.5 + (h mod 2^16) / 2^12, products 1 + ((h / 2^16 mod 2^12) - 2048) / 2^20, both
exact in f32."""
import hashlib
import sys

import numpy as np

SIZES = (0, 1, 2, 5, 17, 63, 64, 65, 127, 1000, 1023, 1024, 1025, 2047, 3072, 5000, 65536, 65537, 100003)


def ordered(x, identity, merge):
    n = x.size
    blocks = (n + 1023) // 1024
    v = np.full(blocks * 1024, identity, x.dtype)
    v[:n] = x
    v = v.reshape(blocks, 16, 8, 8)  # block, group, eighth of the group, j
    e = [v[:, :, i, :] for i in range(8)]
    t = merge(merge(merge(e[0], e[4]), merge(e[2], e[6])), merge(merge(e[1], e[5]), merge(e[3], e[7])))
    stack = []
    for b in range(blocks):
        a = np.full(8, identity, x.dtype)
        for group in range(16):
            a = merge(a, t[b, group])
        carry = b
        while carry & 1:
            a = merge(stack.pop(), a)
            carry >>= 1
        stack.append(a)
    a = stack.pop()
    while stack:
        a = merge(stack.pop(), a)
    a = merge(a[0:4], a[4:8])
    return merge(merge(a[0], a[2]), merge(a[1], a[3]))


def elements(n, dtype, kind):
    k = np.arange(n, dtype=np.uint64)
    h = (k * np.uint64(2654435761) + np.uint64(n * 40503)) % np.uint64(2**32)
    if kind == "sum":
        x = (h >> np.uint64(24)).astype(np.float64) - 127.5 + (h % np.uint64(2**16)).astype(np.float64) / 4096
    else:
        x = 1 + ((h >> np.uint64(16)) % np.uint64(2**12)).astype(np.float64) / 2**20 - 2048 / 2**20
    return x.astype(dtype)


def lines():
    for name, dtype, bits in (("f32", np.float32, np.uint32), ("f64", np.float64, np.uint64)):
        for n in SIZES:
            for kind, identity, merge in (("sum", -0.0, np.add), ("prod", 1.0, np.multiply)):
                x = elements(n, dtype, kind)
                r = ordered(x, dtype(identity), merge) if n else dtype(0 if kind == "sum" else 1)
                yield f"{name} {kind} {n} {int(np.array(r, dtype).view(bits)):#x}"
    for n in (1_000_000, 10_000_000):
        r = ordered(np.full(n, np.float32(0.1)), np.float32(-0.0), np.add)
        yield f"f32 tenths {n} {int(np.array(r).view(np.uint32)):#x}"


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
