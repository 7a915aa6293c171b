"""XLA:CPU through jax.jit. It returns fresh arrays; in-place graphs donate nothing, since the inputs are used again."""
import jax
import jax.numpy as jnp
import numpy as np

from graphs import BETA1, BETA2, DECAY, EPSILON, LR, RATE, SCALE, STEP, VOLATILITY


def poly(a, b, c):
    return 2 * a + 3 * b - c * c


def bias_gelu(x, b):
    s = x + b  # jax.nn.gelu goes through erfc, which takes five times as long
    return 0.5 * s * (1 + jax.lax.erf(s * np.float32(0.5**0.5)))


def bias_gelu_tanh(x, b):
    return jax.nn.gelu(x + b, approximate=True)


def swiglu(g, u):
    return jax.nn.silu(g) * u


def softmax(x):
    return jax.nn.softmax(x, -1)


def masked_softmax(x, mask):
    return jax.nn.softmax(x * SCALE + mask, -1)


def layer_norm(x, scale, bias):
    mean = x.mean(-1, keepdims=True)
    variance = jnp.square(x - mean).mean(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * scale + bias


def adamw(p, g, m, v):
    m = BETA1 * m + (1 - BETA1) * g
    v = BETA2 * v + (1 - BETA2) * g * g
    direction = m / (1 - BETA1**STEP) / (jnp.sqrt(v / (1 - BETA2**STEP)) + EPSILON)
    return p - LR * (direction + DECAY * p), m, v


def adamw_many(*arrays):
    n = len(arrays) // 4
    updated = [adamw(*(arrays[k * n + i] for k in range(4))) for i in range(n)]
    return [u[k] for k in range(3) for u in updated]


def black_scholes(spot, strike, years):
    deviation = VOLATILITY * jnp.sqrt(years)
    d1 = (jnp.log(spot / strike) + (RATE + 0.5 * VOLATILITY**2) * years) / deviation
    d2 = d1 - deviation
    present = strike * jnp.exp(-RATE * years)
    n1, n2 = (0.5 * (1 + jax.lax.erf(d * np.float32(0.5**0.5))) for d in (d1, d2))
    call = spot * n1 - present * n2
    return call, call - spot + present


def transpose_add(a, b):
    return 2 * a + b.T


def column_sums(a, b):
    return (a * b).sum(0)


def mse(a, b):
    return jnp.square(a - b).mean()


def rope(x, cos, sin):
    a, b = jnp.split(x, 2, -1)
    return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], -1)


def cross_entropy(x, labels):
    picked = jnp.take_along_axis(x, labels[:, None], 1)[:, 0]
    return (jax.nn.logsumexp(x, 1) - picked).mean()


def batch_statistics(x):
    return x.mean(0), x.var(0)


def quantize(x, scale):
    return jnp.clip(jnp.round(x / scale[:, None]), -128, 127).astype(jnp.int8)


def dequantize(q, scale):
    return q.astype(jnp.float32) * scale[:, None]


def chain64(x):
    y = x
    for _ in range(16):
        y = jnp.maximum(y * 0.75 + x, -1.5) - 0.125
    return y


def argmax_max(x):
    return jnp.argmax(x, 1).astype(jnp.int64), x.max(1)


def cumsum(x):
    return jnp.cumsum(x)


class Contestant:
    version = jax.__version__

    def __init__(self):
        jax.config.update("jax_enable_x64", True)  # for i64 labels; f32 stays f32
        # On the caller's thread: on one processor a thread of its own costs 15 us a call and half the speed.
        jax.config.update("jax_cpu_enable_async_dispatch", False)

    def prepare(self, graph, inputs, outputs):
        function = jax.jit(globals()[graph.kind])
        arrays = [jnp.asarray(a) for a in inputs]

        if len(graph.outputs) == 1:
            def run():
                return function(*arrays).block_until_ready()
        else:
            def run():
                return jax.block_until_ready(function(*arrays))

        def fetch(result):
            return [np.asarray(r) for r in (result if isinstance(result, (tuple, list)) else [result])]
        return run, fetch
