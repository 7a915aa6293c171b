"""numba: loops by hand into preallocated outputs. Sums may be reordered and multiply-adds contracted."""
import math

import numba
import numpy as np

from graphs import BETA1, BETA2, DECAY, EPSILON, LR, RATE, SCALE, STEP, VOLATILITY

F = np.float32
jit = numba.njit(fastmath={"reassoc", "contract", "arcp", "nsz"}, error_model="numpy")
LEAST = F(-np.inf)
ROOT_HALF, GELU, CUBIC = F(0.5**0.5), F(math.sqrt(2 / math.pi)), F(0.044715)
B1, A1, B2, A2 = F(BETA1), F(1 - BETA1), F(BETA2), F(1 - BETA2)
C1, C2, EPS, WD, RATE_OF = F(1 - BETA1**STEP), F(1 - BETA2**STEP), F(EPSILON), F(DECAY), F(LR)
R, VOL, DRIFT, MASK = F(RATE), F(VOLATILITY), F(RATE + 0.5 * VOLATILITY**2), F(SCALE)
ZERO, HALF, ONE, TWO, THREE = F(0), F(0.5), F(1), F(2), F(3)
SHRINK, LOW, DOWN, TINY = F(0.75), F(-1.5), F(0.125), F(1e-5)
BOTTOM, TOP = F(-128), F(127)


@jit
def poly(a, b, c, y):
    for i in range(y.size):
        y[i] = TWO * a[i] + THREE * b[i] - c[i] * c[i]


@jit
def bias_gelu(x, bias, y):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            s = x[i, j] + bias[j]
            y[i, j] = HALF * s * (ONE + F(math.erf(s * ROOT_HALF)))


@jit
def bias_gelu_tanh(x, bias, y):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            s = x[i, j] + bias[j]
            y[i, j] = HALF * s * (ONE + np.tanh(GELU * (s + CUBIC * s * s * s)))


@jit
def swiglu(g, u, y):
    for i in range(y.size):
        y[i] = g[i] / (ONE + np.exp(-g[i])) * u[i]


@jit
def softmax_row(y):
    top = LEAST
    for j in range(y.size):
        top = max(top, y[j])
    total = ZERO
    for j in range(y.size):
        y[j] = np.exp(y[j] - top)
        total += y[j]
    scale = ONE / total
    for j in range(y.size):
        y[j] *= scale


@jit
def softmax(x, y):
    for i in range(x.shape[0]):
        y[i] = x[i]
        softmax_row(y[i])


@jit
def masked_softmax(x, mask, y):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            y[i, j] = x[i, j] * MASK + mask[i, j]
        softmax_row(y[i])


@jit
def layer_norm(x, scale, bias, y):
    n = F(x.shape[1])
    for i in range(x.shape[0]):
        total = ZERO
        for j in range(x.shape[1]):
            total += x[i, j]
        mean, spread = total / n, ZERO
        for j in range(x.shape[1]):
            spread += (x[i, j] - mean) * (x[i, j] - mean)
        factor = ONE / np.sqrt(spread / n + TINY)
        for j in range(x.shape[1]):
            y[i, j] = (x[i, j] - mean) * factor * scale[j] + bias[j]


@jit
def adamw(p, g, m, v):
    for i in range(p.size):
        m[i] = B1 * m[i] + A1 * g[i]
        v[i] = B2 * v[i] + A2 * g[i] * g[i]
        p[i] -= RATE_OF * (m[i] / C1 / (np.sqrt(v[i] / C2) + EPS) + WD * p[i])


@jit
def black_scholes(spot, strike, years, call, put):
    for i in range(spot.size):
        deviation = VOL * np.sqrt(years[i])
        d1 = (np.log(spot[i] / strike[i]) + DRIFT * years[i]) / deviation
        d2 = d1 - deviation
        present = strike[i] * np.exp(-R * years[i])
        n1 = HALF * (ONE + F(math.erf(d1 * ROOT_HALF)))
        n2 = HALF * (ONE + F(math.erf(d2 * ROOT_HALF)))
        call[i] = spot[i] * n1 - present * n2
        put[i] = call[i] - spot[i] + present


@jit
def transpose_add(a, b, y):
    n = a.shape[0]
    for i0 in range(0, n, 32):
        for j0 in range(0, n, 32):
            for i in range(i0, min(i0 + 32, n)):
                for j in range(j0, min(j0 + 32, n)):
                    y[i, j] = TWO * a[i, j] + b[j, i]


@jit
def column_sums(a, b, y):
    y[:] = ZERO
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            y[j] += a[i, j] * b[i, j]


@jit
def mse(a, b, y):
    total = ZERO
    for i in range(a.size):
        total += (a[i] - b[i]) * (a[i] - b[i])
    y[()] = total / F(a.size)


@jit
def rope(x, cos, sin, y):
    half = cos.shape[2]
    for s in range(x.shape[0]):
        for h in range(x.shape[1]):
            for j in range(half):
                a, b = x[s, h, j], x[s, h, half + j]
                y[s, h, j] = a * cos[s, 0, j] - b * sin[s, 0, j]
                y[s, h, half + j] = b * cos[s, 0, j] + a * sin[s, 0, j]


@jit
def cross_entropy(x, labels, y):
    loss = 0.0
    for i in range(x.shape[0]):
        top = LEAST
        for j in range(x.shape[1]):
            top = max(top, x[i, j])
        total = ZERO
        for j in range(x.shape[1]):
            total += np.exp(x[i, j] - top)
        loss += np.log(total) + top - x[i, labels[i]]
    y[()] = loss / x.shape[0]


@jit
def batch_statistics(x, mean, variance):
    n = F(x.shape[0])
    mean[:] = ZERO
    variance[:] = ZERO
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            mean[j] += x[i, j]
    for j in range(x.shape[1]):
        mean[j] /= n
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            variance[j] += (x[i, j] - mean[j]) * (x[i, j] - mean[j])
    for j in range(x.shape[1]):
        variance[j] /= n


@jit
def quantize(x, scale, y):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            y[i, j] = np.int8(min(max(np.rint(x[i, j] / scale[i]), BOTTOM), TOP))


@jit
def dequantize(q, scale, y):
    for i in range(q.shape[0]):
        for j in range(q.shape[1]):
            y[i, j] = F(q[i, j]) * scale[i]


@jit
def chain64(x, y):
    for i in range(x.size):
        value = x[i]
        for _ in range(16):
            value = max(value * SHRINK + x[i], LOW) - DOWN
        y[i] = value


@jit
def argmax_max(x, index, top):
    for i in range(x.shape[0]):
        best = 0
        for j in range(1, x.shape[1]):
            if x[i, j] > x[i, best]:
                best = j
        index[i], top[i] = best, x[i, best]


@jit
def cumsum(x, y):
    total = ZERO
    for i in range(x.size):
        total += x[i]
        y[i] = total


class Contestant:
    version = numba.__version__

    def prepare(self, graph, inputs, outputs):
        if graph.kind == "adamw_many":
            n = len(inputs) // 4
            parts = [tuple(inputs[k * n + i] for k in range(4)) for i in range(n)]

            def run():
                for part in parts:
                    adamw(*part)
            return run, lambda result: outputs
        arrays = inputs if graph.in_place else inputs + outputs
        function = globals()[graph.kind]
        return lambda: function(*arrays), lambda result: outputs
