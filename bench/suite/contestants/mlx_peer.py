"""MLX on the CPU through mx.compile, with its own fast operators for layer norm."""
import mlx.core as mx
import mlx.nn as nn
import numpy as np

from graphs import BETA1, BETA2, DECAY, EPSILON, LR, RATE, SCALE, STEP, VOLATILITY


def poly(a, b, c):
    return 2 * a + 3 * b - c * c


def bias_gelu(x, b):
    return nn.gelu(x + b)


def bias_gelu_tanh(x, b):
    return nn.gelu_approx(x + b)


def swiglu(g, u):
    return nn.silu(g) * u


def softmax(x):
    return mx.softmax(x, -1)


def masked_softmax(x, mask):
    return mx.softmax(x * SCALE + mask, -1)


def layer_norm(x, scale, bias):
    return mx.fast.layer_norm(x, scale, bias, 1e-5)


def adamw(p, g, m, v):
    m = BETA1 * m + (1 - BETA1) * g
    v = BETA2 * v + (1 - BETA2) * g * g
    direction = m / (1 - BETA1**STEP) / (mx.sqrt(v / (1 - BETA2**STEP)) + EPSILON)
    return p - LR * (direction + DECAY * p), m, v


def adamw_many(*arrays):
    n = len(arrays) // 4
    updated = [adamw(*(arrays[k * n + i] for k in range(4))) for i in range(n)]
    return [u[k] for k in range(3) for u in updated]


def black_scholes(spot, strike, years):
    deviation = VOLATILITY * mx.sqrt(years)
    d1 = (mx.log(spot / strike) + (RATE + 0.5 * VOLATILITY**2) * years) / deviation
    d2 = d1 - deviation
    present = strike * mx.exp(-RATE * years)
    n1, n2 = (0.5 * (1 + mx.erf(d * 0.5**0.5)) for d in (d1, d2))
    call = spot * n1 - present * n2
    return call, call - spot + present


def transpose_add(a, b):
    return 2 * a + b.T


def column_sums(a, b):
    return (a * b).sum(0)


def mse(a, b):
    return mx.square(a - b).mean()


def rope(x, cos, sin):
    a, b = mx.split(x, 2, -1)
    return mx.concatenate([a * cos - b * sin, b * cos + a * sin], -1)


def cross_entropy(x, labels):
    picked = mx.take_along_axis(x, labels[:, None], 1)[:, 0]
    return (mx.logsumexp(x, 1) - picked).mean()


def batch_statistics(x):
    return x.mean(0), x.var(0)


def quantize(x, scale):
    return mx.clip(mx.round(x / scale[:, None]), -128, 127).astype(mx.int8)


def dequantize(q, scale):
    return q.astype(mx.float32) * scale[:, None]


def chain64(x):
    y = x
    for _ in range(16):
        y = mx.maximum(y * 0.75 + x, -1.5) - 0.125
    return y


def argmax_max(x):
    return mx.argmax(x, 1).astype(mx.int64), x.max(1)


def cumsum(x):
    return mx.cumsum(x)


class Contestant:
    version = mx.__version__

    def __init__(self):
        mx.set_default_device(mx.cpu)

    def prepare(self, graph, inputs, outputs):
        function = mx.compile(globals()[graph.kind])
        arrays = [mx.array(a) for a in inputs]

        def run():
            result = function(*arrays)
            mx.eval(result)
            return result

        def fetch(result):
            return [np.array(r) for r in (result if isinstance(result, (tuple, list)) else [result])]
        return run, fetch
