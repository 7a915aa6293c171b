"""Every op as NumPy (functions that it lacks by Python's math, or by MPFR) computes it: values in float64, integers
exactly. values.py stores what this table gives; tests/tool/test_numpy.py judges the engine by both."""

import ctypes
import math
import statistics

import numpy as np

NAMES = {
    "float32": "f32", "float64": "f64", "float16": "f16", "int8": "i8", "int16": "i16", "int32": "i32",
    "int64": "i64", "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64", "bool": "bool",
}  # fmt: skip

EXACT, NEAR, SUMMED = "exact", "near", "summed"

# What has no answer here, and which test has.
WITHOUT = {"dim": "tests/oracle: a size of the run"}


def each(function):
    return lambda *arrays: np.vectorize(function, otypes=[np.float64])(*(a.astype(np.float64) for a in arrays))


def f64(a):
    return a.astype(np.float64)


def softmax(x, axis=-1):
    e = np.exp(f64(x) - f64(x).max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def normalised(x, axes, eps=1e-5):
    d = f64(x) - f64(x).mean(axes, keepdims=True)
    return d / np.sqrt((d * d).mean(axes, keepdims=True) + eps)


class Mpfr(ctypes.Structure):
    _fields_ = [
        ("precision", ctypes.c_long),
        ("sign", ctypes.c_int),
        ("exponent", ctypes.c_long),
        ("limbs", ctypes.c_void_p),
    ]


def mpfr():
    library = ctypes.CDLL("libmpfr.so.6")
    library.mpfr_get_version.restype = ctypes.c_char_p
    library.mpfr_get_d.restype = ctypes.c_double
    return library


def digamma(x):
    library, value = mpfr(), Mpfr()
    library.mpfr_init2(ctypes.byref(value), ctypes.c_long(53))
    library.mpfr_set_d(ctypes.byref(value), ctypes.c_double(x), 0)
    library.mpfr_digamma(ctypes.byref(value), ctypes.byref(value), 0)
    result = library.mpfr_get_d(ctypes.byref(value), 0)
    library.mpfr_clear(ctypes.byref(value))
    return result


def gelu_tanh(x):
    x = f64(x)
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def rope(x, cos, sin):
    a, b = np.split(f64(x), 2, -1)
    return np.concatenate([a * cos - b * sin, b * cos + a * sin], -1)


def attention(q, k, v, keep):
    s = f64(q) @ f64(k).T / math.sqrt(q.shape[-1])
    return softmax(np.where(keep, s, -np.inf)) @ f64(v)


def groups(x, count):
    n, c, h = x.shape
    return normalised(x.reshape(n, count, -1), (2,)).reshape(n, c, h)


def philox(seed, stream, n):
    """The first n words: Philox4x32-10, four a block."""
    word, half = np.uint64(2**32 - 1), np.uint64(32)
    block = np.arange(-(-n // 4), dtype=np.uint64)
    c = [block & word, block >> half, *(np.full_like(block, s) for s in (stream % 2**32, stream // 2**32))]
    key = [seed % 2**32, seed // 2**32]
    for _ in range(10):
        a, b = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [b >> half ^ c[1] ^ np.uint64(key[0]), b & word, a >> half ^ c[3] ^ np.uint64(key[1]), a & word]
        key = [(key[0] + 0x9E3779B9) % 2**32, (key[1] + 0xBB67AE85) % 2**32]
    return np.stack(c, 1).reshape(-1)[:n].astype(np.uint32)


def uniform(seed, stream, *shape):
    return (philox(seed, stream, math.prod(shape)) >> 8).astype(np.float32).reshape(shape) * np.float32(2**-24)


def normal(seed, stream, *shape):
    u = f64(uniform(seed, stream, math.prod(shape) // 2, 2))
    r, angle = np.sqrt(-2 * np.log(1 - u[:, 0])), 2 * np.pi * u[:, 1]
    return np.stack([r * np.cos(angle), r * np.sin(angle)], 1).reshape(shape)


def scattered(x, n, y, add):
    x = x.copy()
    for at in np.ndindex(n.shape):
        place = (n[at], at[1])
        x[place] = x[place] + y[at] if add else y[at]
    return x


def data():
    rng = np.random.default_rng(2026)
    shape = (6, 8)
    a = {
        "x": rng.standard_normal(shape) * 3,
        "y": rng.standard_normal(shape) * 2,
        "p": rng.uniform(0.05, 9, shape),  # positive
        "u": rng.uniform(-0.999, 0.999, shape),  # within (-1, 1)
        "m": rng.standard_normal((8, 5)),
        "v": rng.standard_normal(8),
        "w": rng.uniform(0.5, 2, 8),
        "h": rng.standard_normal((6, 4)),
        "c": rng.standard_normal((3, 4, 5)),
        "d": rng.uniform(0.5, 2, 4),
    }
    a = {name: value.astype(np.float32) for name, value in a.items()}
    a["x"][0, :6] = [0.0, -0.0, 0.5, -1.5, 2.5, -8.0]
    a["i"] = rng.integers(-100, 100, shape).astype(np.int32)
    a["j"] = rng.integers(-9, 9, shape).astype(np.int32)
    a["j"][a["j"] == 0] = 3
    a["k"] = rng.integers(0, 31, shape).astype(np.int32)
    a["q"] = rng.integers(0, 256, shape).astype(np.uint8)
    a["z"] = np.array(7, np.uint8)
    a["s"] = np.array(0.04, np.float32)
    a["a"] = rng.integers(0, 2, shape).astype(bool)
    a["b"] = rng.integers(0, 2, shape).astype(bool)
    a["low"] = np.tri(6, 6).astype(bool)
    a["n"] = rng.integers(-6, 6, shape)
    a["pair"] = np.stack([rng.integers(-6, 6, 5), rng.integers(-8, 8, 5)], 1)
    a["l"] = rng.integers(0, 8, 6)
    a["sorted"] = np.append(np.sort(a["x"][1, :6]), [np.inf, np.nan]).astype(np.float32)
    a["sought"] = np.append(a["sorted"], a["x"][2])
    a["t"], a["g"], a["e"] = a["i"].T.copy(), a["p"] + np.float32(1), a["x"][:1, :1].reshape(1, 1, 1)
    return a


def table(a):
    """(statement, expected results, how they are judged): EXACT to the bit, NEAR within the 1 ULP of docs/numerics.md,
    SUMMED within the roundings of sums whose terms may cancel."""
    x, y, p, u, m, v, w, i, j, k, q, c, d = (a[n] for n in "xypumvwijkqcd")
    exact = {
        "add %x, %y": x + y, "sub %x, %y": x - y, "mul %x, %y": x * y, "div %x, %y": x / y,
        "neg %x": -x, "abs %x": np.abs(x), "min %x, %y": np.minimum(x, y), "max %x, %y": np.maximum(x, y),
        "sqrt %p": np.sqrt(p), "floor %x": np.floor(x), "ceil %x": np.ceil(x), "round %x": np.rint(x),
        "trunc %x": np.trunc(x), "sign %x": np.copysign(np.sign(x), x), "reciprocal %p": 1 / p, "square %x": x * x,
        "fma %x, %y, %p": (f64(x) * f64(y) + f64(p)).astype(np.float32),
        "copysign %x, %y": np.copysign(x, y), "nextafter %x, %y": np.nextafter(x, y),
        "ldexp %x, %j": np.ldexp(x, j), "rem %x, %p": np.fmod(x, p), "mod %x, %p": np.mod(x, p),
        "floor_div %x, %p": np.floor_divide(x, p), "relu %x": np.maximum(x, 0),
        "isnan %x": np.isnan(x), "isinf %x": np.isinf(x), "isfinite %x": np.isfinite(x), "signbit %x": np.signbit(x),
        "hardtanh %x": np.clip(x, -1, 1), "clamp %x, -0.5, 2.0": np.clip(x, np.float32(-0.5), np.float32(2)),
        "eq %i, %j": i == j, "ne %i, %j": i != j, "lt %x, %y": x < y, "le %x, %y": x <= y, "gt %x, %y": x > y,
        "ge %x, %y": x >= y, "and %i, %j": i & j, "or %i, %j": i | j, "xor %i, %j": i ^ j, "not %i": ~i,
        "and %a, %b": a["a"] & a["b"], "not %a": ~a["a"],
        "floor_div %i, %j": i // j, "mod %i, %j": i % j, "rem %i, %j": np.fmod(i, j),
        "shift_left %i, %k": np.left_shift(i, k), "shift_right %i, %k": np.right_shift(i, k),
        "shift_right_logical %i, %k": np.right_shift(i.view(np.uint32), k.view(np.uint32)).view(np.int32),
        "popcount %i": np.vectorize(lambda n: bin(n & 0xFFFFFFFF).count("1"), otypes=[np.int32])(i),
        "clz %i": np.vectorize(lambda n: 32 - (n & 0xFFFFFFFF).bit_length(), otypes=[np.int32])(i),
        "ctz %j": np.vectorize(lambda n: (n & -n).bit_length() - 1, otypes=[np.int32])(j),
        "rotate_left %i, 5":
            (np.left_shift(i.view(np.uint32), 5) | np.right_shift(i.view(np.uint32), 27)).view(np.int32),
        'bitcast %x {to = "i32"}': x.view(np.int32),
        "select %a, %x, %y": np.where(a["a"], x, y), 'cast %x {to = "i16"}': x.astype(np.int16),
        'cast %x {to = "f16"}': x.astype(np.float16),
        'iota {shape = [6, 8], dtype = "i32", axis = 1}': np.indices((6, 8))[1].astype(np.int32),
        "reshape %x {shape = [4, -1]}": x.reshape(4, -1), "transpose %c {perm = [2, 0, 1]}": c.transpose(2, 0, 1),
        "broadcast %v {shape = [6, 8]}": np.broadcast_to(v, (6, 8)),
        "slice %x {starts = [1, -1], limits = [5, -9], steps = [2, -3]}": x[1:5:2, -1:-9:-3],
        "pad %x, 1.5 {low = [1, 0], high = [0, 2]}": np.pad(x, ((1, 0), (0, 2)), constant_values=1.5),
        'pad %x {low = [2, 1], high = [1, 3], mode = "reflect"}': np.pad(x, ((2, 1), (1, 3)), "reflect"),
        'pad %x {low = [2, 1], high = [1, 3], mode = "edge"}': np.pad(x, ((2, 1), (1, 3)), "edge"),
        'pad %x {low = [2, 1], high = [1, 3], mode = "wrap"}': np.pad(x, ((2, 1), (1, 3)), "wrap"),
        "concat %x, %y {axis = 1}": np.concatenate([x, y], 1), "reverse %x {axes = [0]}": x[::-1],
        "squeeze %e {axes = [0, 2]}": x[0, :1],
        "expand_dims %x {axes = [0, -1]}": x[None, ..., None], "stack %x, %y {axis = 1}": np.stack([x, y], 1),
        "roll %x {shifts = [2, -3], axes = [0, 1]}": np.roll(x, (2, -3), (0, 1)),
        "tile %x {repeats = [2, 3]}": np.tile(x, (2, 3)), "repeat %x {repeats = 3, axis = 0}": np.repeat(x, 3, 0),
        "diagonal %x {offset = 1}": np.diagonal(x, 1), "tril %x {diagonal = 1}": np.tril(x, 1),
        "triu %x": np.triu(x), "eye {shape = [4, 5], diagonal = -1}": np.eye(4, 5, -1, dtype=np.float32),
        "reduce_sum %i {axes = [0]}": i.sum(0, dtype=np.int32),
        "reduce_prod %j {axes = [1]}": j.prod(1, dtype=np.int32),
        "reduce_max %x {axes = [1]}": x.max(1), "reduce_min %x {axes = [0], keepdims = true}": x.min(0, keepdims=True),
        "reduce_any %a {axes = [1]}": a["a"].any(1), "reduce_all %a {axes = [0]}": a["a"].all(0),
        "count_nonzero %i {axes = [0]}": np.count_nonzero(i, 0), "argmax %x {axis = 1}": x.argmax(1),
        "argmin %x {axis = 0}": x.argmin(0), "reduce_l1 %i {axes = [1]}": np.abs(i).sum(1, dtype=np.int32),
        "gather %x, %n {axis = 0}": np.take(x, a["n"], 0), "gather %x, %l {axis = -1}": np.take(x, a["l"], -1),
        "take_along_axis %x, %n {axis = 0}": np.take_along_axis(x, a["n"], 0),
        "gather_nd %x, %pair": x[a["pair"][:, 0], a["pair"][:, 1]],
        "one_hot %l {depth = 9, axis = 0}": (np.arange(9)[:, None] == a["l"]).astype(np.float32),
        "scatter %x, %n, %y {axis = 0}": scattered(x, a["n"], y, False),
        "scatter_add %x, %n, %y {axis = 0}": scattered(x, a["n"], y, True),
        "searchsorted %sorted, %sought": np.searchsorted(a["sorted"], a["sought"]),
        'searchsorted %sorted, %sought {side = "right"}': np.searchsorted(a["sorted"], a["sought"], "right"),
        "matmul %i, %t": i @ i.T, "dot_general %i, %j {lhs_batch = [1], rhs_batch = [1], lhs_contract = [0], "
        "rhs_contract = [0]}": np.einsum("ab,ab->b", i, j).astype(np.int32),
        "quantize %x, %s, %z {dtype = \"u8\"}":
            np.clip(np.rint(x / a["s"]) + 7, 0, 255).astype(np.uint8),
        "cumsum %i {axis = 0}": i.cumsum(0, dtype=np.int32),
        "cumprod %j {reverse = true}": j[:, ::-1].cumprod(1, dtype=np.int32)[:, ::-1],
        "cummax %x {axis = 0}": np.maximum.accumulate(x, 0), "cummin %x": np.minimum.accumulate(x, 1),
        "unpack_bits %q": np.unpackbits(q, 1, bitorder="little").astype(bool),
        'unpack_bits %q {count = 61, bitorder = "big"}': np.unpackbits(q, 1, 61, bitorder="big").astype(bool),
        "random_bits 81985529216486895 {shape = [6, 9]}": philox(81985529216486895, 0, 54).reshape(6, 9),
        "random_uniform 7 {shape = [5, 3], stream = 9}": uniform(7, 9, 5, 3),
        "random_bernoulli 7, 0.25 {shape = [40]}": uniform(7, 0, 40) < 0.25,
        "leaky_relu %x {negative_slope = 0.1}": np.where(x > 0, x, x * np.float32(0.1)),
        "hardsigmoid %x": np.clip(x + np.float32(3), 0, 6) / np.float32(6),
        "hardswish %y": y * np.clip(y + np.float32(3), 0, 6) / np.float32(6),
        "softsign %x": x / (np.float32(1) + np.abs(x)),
        "dropout %x, 7 {p = 0.75}": np.where(uniform(7, 0, 6, 8) >= 0.75, x * 4, np.float32(0)),
    }  # fmt: skip
    near = {
        "rsqrt %p": 1 / np.sqrt(f64(p)), "exp %x": np.exp(f64(x)), "log %p": np.log(f64(p)), "tanh %x": np.tanh(f64(x)),
        "erf %x": each(math.erf)(x), "erfc %x": each(math.erfc)(x), "sigmoid %x": 1 / (1 + np.exp(-f64(x))),
        "pow %p, %y": np.power(f64(p), f64(y)),
        "gelu %x": 0.5 * f64(x) * each(lambda t: math.erfc(-t / math.sqrt(2)))(x),
        'gelu %y {approximate = "tanh"}': gelu_tanh(y), "silu %x": f64(x) / (1 + np.exp(-f64(x))),
        "exp2 %x": np.exp2(f64(x)), "expm1 %x": np.expm1(f64(x)), "log2 %p": np.log2(f64(p)),
        "log1p %u": np.log1p(f64(u)), "exp10 %x": np.power(10.0, f64(x)), "log10 %p": np.log10(f64(p)),
        "sin %x": np.sin(f64(x)), "cos %x": np.cos(f64(x)), "tan %x": np.tan(f64(x)),
        "sinpi %u": np.sin(np.pi * f64(u)), "cospi %u": np.cos(np.pi * f64(u)),
        "asin %u": np.arcsin(f64(u)), "acos %u": np.arccos(f64(u)), "atan %x": np.arctan(f64(x)),
        "atan2 %x, %y": np.arctan2(f64(x), f64(y)), "sinh %x": np.sinh(f64(x)), "cosh %x": np.cosh(f64(x)),
        "asinh %x": np.arcsinh(f64(x)), "acosh %g": np.arccosh(f64(p) + 1), "atanh %u": np.arctanh(f64(u)),
        "cbrt %x": np.cbrt(f64(x)), "hypot %x, %y": np.hypot(f64(x), f64(y)),
        "softplus %x": np.logaddexp(0, f64(x)), "log_sigmoid %x": -np.logaddexp(0, -f64(x)),
        "elu %x {alpha = 0.3}": np.where(x > 0, f64(x), 0.3 * np.expm1(f64(x))),
        "selu %x": 1.0507009873554805 * np.where(x > 0, f64(x), 1.6732632423543772 * np.expm1(f64(x))),
        "mish %x": f64(x) * np.tanh(np.logaddexp(0, f64(x))), "logaddexp %x, %y": np.logaddexp(f64(x), f64(y)),
        "erfinv %u": each(lambda t: statistics.NormalDist().inv_cdf((1 + t) / 2) / math.sqrt(2))(u),
        "lgamma %p": each(math.lgamma)(p), "digamma %p": each(digamma)(p),
    }  # fmt: skip
    summed = {
        "reduce_sum %x {axes = [0]}": f64(x).sum(0), "reduce_prod %p {axes = [1]}": f64(p).prod(1),
        "reduce_mean %x": f64(x).mean(), "reduce_var %x {axes = [1], ddof = 1}": f64(x).var(1, ddof=1),
        "reduce_std %x {axes = [0]}": f64(x).std(0), "reduce_l2 %x {axes = [0]}": np.sqrt((f64(x) ** 2).sum(0)),
        "reduce_logsumexp %x {axes = [1]}": np.log(np.exp(f64(x)).sum(1)), "matmul %x, %m": f64(x) @ f64(m),
        "dot_general %c, %h {lhs_contract = [1], rhs_contract = [1]}": np.tensordot(f64(c), f64(a["h"]), (1, 1)),
        "cumsum %x {reverse = true}": f64(x)[:, ::-1].cumsum(1)[:, ::-1],
        "cumprod %p {axis = 0, exclusive = true}": np.vstack([np.ones((1, 8)), f64(p).cumprod(0)[:-1]]),
        "random_normal 7 {shape = [4, 8], stream = 8589934592}": normal(7, 2**33, 4, 8),
        "softmax %x {axis = 0}": softmax(x, 0), "log_softmax %x": np.log(softmax(x)),
        "layer_norm %x, %w, %v": normalised(x, (1,)) * w + v, "rms_norm %x, %w":
            f64(x) / np.sqrt((f64(x) ** 2).mean(1, keepdims=True) + 1e-5) * w,
        "group_norm %c {groups = 2}": groups(c, 2), "instance_norm %c": normalised(c, (2,)),
        "batch_norm %c, %d, %d, %d, %d": ((f64(c) - f64(d)[:, None]) / np.sqrt(f64(d)[:, None] + 1e-5)) * d[:, None]
            + d[:, None],
        "cross_entropy %x, %l": -np.log(softmax(x))[np.arange(6), a["l"]].mean(),
        "dequantize %q, %s, %z": (f64(q) - 7) * f64(a["s"]),
        "rope %x, %h, %h": rope(x, a["h"], a["h"]),
        "attention %x, %y, %p, %low": attention(x, y, p, a["low"]),
        "attention %x, %y, %x {causal = true}": attention(x, y, x, a["low"]),
    }  # fmt: skip
    for cases, how in ((exact, EXACT), (near, NEAR), (summed, SUMMED)):
        for statement, expected in cases.items():
            yield statement, [expected], how
    yield "split %x {axis = 0, parts = 3}", np.split(x, 3), EXACT
    yield "frexp %x", list(np.frexp(x)), EXACT
    over = (0, 2)
    yield (
        "batch_norm_training %c, %d, %d",
        [normalised(c, over) * d[:, None] + d[:, None], f64(c).mean(over), f64(c).var(over)],
        SUMMED,
    )
    yield "add %q, %q", [q + q], EXACT
    yield "mul %i, 65537", [i * np.int32(65537)], EXACT
