"""The graphs of the suite: what each reads and writes, its inputs, a float64 reference, and its text for Ingot.

A contestant implements a graph by its `kind`; sizes come with the arrays.
"""
import math
from dataclasses import dataclass, field

import numpy as np

import texts

F4, I8, I64 = np.dtype("f4"), np.dtype("i1"), np.dtype("i8")
M4 = 1 << 22

# Constants that every contestant has: Black-Scholes' rate and volatility, and AdamW's tenth step.
RATE, VOLATILITY = 0.02, 0.3
LR, BETA1, BETA2, EPSILON, DECAY, STEP = 1e-3, 0.9, 0.999, 1e-8, 0.01, 10
SCALE = 0.125  # of the masked softmax


@dataclass
class Graph:
    key: str
    kind: str
    title: str
    family: str  # 'twelve', 'more', 'small' or 'growth'
    make: object  # rng -> list of arrays
    reference: object  # float64 arrays (integers as they are) -> list of arrays
    outputs: list  # of (shape, dtype)
    text: str
    relative: float = 2e-6
    absolute: float = 2e-6  # of the largest magnitude of an output
    in_place: dict = field(default_factory=dict)  # output -> the input whose memory it may take
    streams: list = None  # inputs that the memory limit counts, where not all do


def normal(*shapes):
    return lambda rng: [rng.standard_normal(s, dtype=F4) for s in shapes]


def erf(x):
    return np.fromiter(map(math.erf, x.ravel().tolist()), np.float64, x.size).reshape(x.shape)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def gelu(x):
    return 0.5 * x * (1 + erf(x * math.sqrt(0.5)))


def gelu_tanh(x):
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def layer_norm(x, scale, bias):
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred * centred).mean(-1, keepdims=True) + 1e-5) * scale + bias


def adamw(p, g, m, v):
    m = BETA1 * m + (1 - BETA1) * g
    v = BETA2 * v + (1 - BETA2) * g * g
    direction = m / (1 - BETA1**STEP) / (np.sqrt(v / (1 - BETA2**STEP)) + EPSILON)
    return [p - LR * (direction + DECAY * p), m, v]


def adamw_many(*arrays):
    n = len(arrays) // 4
    updated = [adamw(*(arrays[k * n + i] for k in range(4))) for i in range(n)]
    return [u[k] for k in range(3) for u in updated]


def adamw_inputs(sizes):
    def make(rng):
        p, g, m = ([rng.standard_normal(n, dtype=F4) for n in sizes] for _ in range(3))
        return p + g + m + [rng.random(n, dtype=F4) for n in sizes]
    return make


def black_scholes(spot, strike, years):
    deviation = VOLATILITY * np.sqrt(years)
    d1 = (np.log(spot / strike) + (RATE + 0.5 * VOLATILITY**2) * years) / deviation
    d2 = d1 - deviation
    present = strike * np.exp(-RATE * years)
    call = spot * 0.5 * (1 + erf(d1 * math.sqrt(0.5))) - present * 0.5 * (1 + erf(d2 * math.sqrt(0.5)))
    return [call, call - spot + present]


def options(n):
    return lambda rng: [rng.uniform(10, 50, n).astype(F4), rng.uniform(10, 50, n).astype(F4),
                        rng.uniform(0.1, 2, n).astype(F4)]


def rope(x, cos, sin):
    a, b = np.split(x, 2, -1)
    return np.concatenate([a * cos - b * sin, b * cos + a * sin], -1)


def rope_inputs(rng):
    angle = np.arange(2048)[:, None, None] / 10000 ** (np.arange(64) / 64)
    return [rng.standard_normal((2048, 16, 128), dtype=F4), np.cos(angle).astype(F4), np.sin(angle).astype(F4)]


def cross_entropy(scores, labels):
    top = scores.max(1, keepdims=True)
    logs = np.log(np.exp(scores - top).sum(1)) + top[:, 0] - scores[np.arange(len(labels)), labels]
    return [logs.mean()]


def chain(x):
    y = x
    for _ in range(16):
        y = np.maximum(y * 0.75 + x, -1.5) - 0.125
    return [y]


def quantize(x, scale):
    return [np.clip(np.rint(x / scale[:, None]), -128, 127)]


def quantize_inputs(rng):
    return [rng.standard_normal((4096, 1024), dtype=F4), rng.uniform(0.01, 0.03, 4096).astype(F4)]


def dequantize_inputs(rng):
    return [rng.integers(-128, 128, (4096, 1024), dtype=I8), rng.uniform(0.01, 0.03, 4096).astype(F4)]


def poly(key, n, family):
    return Graph(key, "poly", "2a + 3b - c*c, " + count(n), family, normal(n, n, n),
                 lambda a, b, c: [2 * a + 3 * b - c * c], [((n,), F4)], texts.poly)


def bias_gelu(key, rows, columns, family):
    return Graph(key, "bias_gelu", f"bias + GELU (erf), {rows}x{columns}", family,
                 normal((rows, columns), columns), lambda x, b: [gelu(x + b)], [((rows, columns), F4)],
                 texts.bias_gelu("none"))


def softmax_graph(key, rows, columns, family):
    return Graph(key, "softmax", f"softmax, {rows}x{columns}", family, normal((rows, columns)),
                 lambda x: [softmax(x)], [((rows, columns), F4)], texts.softmax, relative=1e-5)


def count(n):
    for unit, name in ((1 << 20, "M"), (1 << 10, "K")):
        if n >= unit:
            return f"{n // unit}{name}"
    return str(n)


def twelve():
    rows = (4096, 1024)
    return [
        poly("poly", M4, "twelve"),
        bias_gelu("bias_gelu_erf", 2048, 3072, "twelve"),
        Graph("bias_gelu_tanh", "bias_gelu_tanh", "bias + GELU (tanh), 2048x3072", "twelve",
              normal((2048, 3072), 3072), lambda x, b: [gelu_tanh(x + b)], [((2048, 3072), F4)],
              texts.bias_gelu("tanh")),
        Graph("swiglu", "swiglu", "SiLU(g) * u, 4M", "twelve", normal(M4, M4),
              lambda g, u: [g * sigmoid(g) * u], [((M4,), F4)], texts.swiglu),
        softmax_graph("softmax", *rows, "twelve"),
        Graph("masked_softmax", "masked_softmax", "scale + mask + softmax, 4096x1024", "twelve",
              lambda rng: [rng.standard_normal(rows, dtype=F4),
                           np.where(rng.random(rows) < 0.9, 0, -np.inf).astype(F4)],
              lambda x, mask: [softmax(x * SCALE + mask)], [(rows, F4)], texts.masked_softmax),
        Graph("layer_norm", "layer_norm", "layer norm + affine, 4096x1024", "twelve",
              normal(rows, 1024, 1024), lambda *a: [layer_norm(*a)], [(rows, F4)], texts.layer_norm),
        Graph("adamw", "adamw", "AdamW step in place, 4M", "twelve", adamw_inputs([M4]), adamw,
              [((M4,), F4)] * 3, texts.adamw(1), in_place={0: 0, 1: 2, 2: 3}),
        Graph("black_scholes", "black_scholes", "Black-Scholes call and put, 4M", "twelve", options(M4),
              black_scholes, [((M4,), F4)] * 2, texts.black_scholes, relative=1e-5, absolute=2e-6),
        Graph("transpose_add", "transpose_add", "2a + transpose(b), 2048x2048", "twelve",
              normal((2048, 2048), (2048, 2048)), lambda a, b: [2 * a + b.T], [((2048, 2048), F4)],
              texts.transpose_add),
        Graph("column_sums", "column_sums", "column sums of a*b, 4096x1024", "twelve", normal(rows, rows),
              lambda a, b: [(a * b).sum(0)], [((1024,), F4)], texts.column_sums, absolute=5e-6),
        Graph("mse", "mse", "mean((a-b)^2), 4M", "twelve", normal(M4, M4), lambda a, b: [((a - b) ** 2).mean()],
              [((), F4)], texts.mse, relative=2e-5),
    ]


def more():
    rows = (4096, 1024)
    rng = np.random.default_rng(6)
    sizes = [int(n) for n in np.exp(rng.uniform(math.log(256), math.log(220000), 100))]
    many = len(sizes)
    in_place = {k * many + i: s * many + i for k, s in ((0, 0), (1, 2), (2, 3)) for i in range(many)}
    graphs = [
        Graph("rope", "rope", "rope, 2048x16x128", "more", rope_inputs, lambda *a: [rope(*a)],
              [((2048, 16, 128), F4)], texts.rope),
        Graph("cross_entropy", "cross_entropy", "cross-entropy, 2048x8192, i64 labels", "more",
              lambda rng: [rng.standard_normal((2048, 8192), dtype=F4), rng.integers(0, 8192, 2048, dtype=I64)],
              cross_entropy, [((), F4)], texts.cross_entropy, relative=1e-5),
        Graph("batch_statistics", "batch_statistics", "mean and variance of columns, 4096x1024", "more",
              normal(rows), lambda x: [x.mean(0), x.var(0)], [((1024,), F4)] * 2, texts.batch_statistics,
              absolute=1e-5),
        Graph("adamw_many", "adamw_many", f"AdamW step in place, 100 tensors, {sum(sizes) / 2**20:.1f}M in all",
              "more", adamw_inputs(sizes), adamw_many, [((n,), F4) for _ in range(3) for n in sizes],
              texts.adamw(many), in_place=in_place),
        Graph("quantize", "quantize", "quantise to i8 by row, 4096x1024", "more", quantize_inputs, quantize,
              [(rows, I8)], texts.quantize),
        Graph("dequantize", "dequantize", "dequantise from i8 by row, 4096x1024", "more", dequantize_inputs,
              lambda q, s: [q * s[:, None]], [(rows, F4)], texts.dequantize),
        Graph("chain64", "chain64", "chain of 64 elementwise ops, 4K (in L1)", "more", normal(4096), chain,
              [((4096,), F4)], texts.chain64, relative=1e-5, absolute=1e-5),
    ]
    for columns in (7, 64, 1000, 50257):
        graphs.append(softmax_graph(f"softmax_{columns}", M4 // columns, columns, "more"))
    graphs += [
        Graph("argmax_max", "argmax_max", "argmax and max of rows, 4096x1024", "more", normal(rows),
              lambda x: [x.argmax(1), x.max(1)], [((4096,), I64), ((4096,), F4)], texts.argmax_max),
        Graph("cumsum", "cumsum", "cumulative sum, 4M", "more", lambda rng: [rng.random(M4, dtype=F4)],
              lambda x: [np.cumsum(x)], [((M4,), F4)], texts.cumsum, relative=1e-3, absolute=1e-3),
    ]
    return graphs


def small():
    graphs = []
    for n, columns in ((256, 64), (4096, 256), (65536, 1024)):
        graphs += [poly(f"poly@{n}", n, "small"), bias_gelu(f"bias_gelu@{n}", n // columns, columns, "small"),
                   softmax_graph(f"softmax@{n}", n // columns, columns, "small")]
    return graphs


def growth():
    graphs = []
    for power in (10, 16, 22, 26):
        n, rows = 1 << power, 1 << max(power - 10, 0)
        graphs += [poly(f"poly^{power}", n, "growth"), softmax_graph(f"softmax^{power}", rows, 1024, "growth")]
    return graphs


def every():
    return twelve() + more() + small() + growth()


def find(key):
    return next(g for g in every() if g.key == key)
