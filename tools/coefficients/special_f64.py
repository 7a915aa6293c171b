#!/usr/bin/env python3
"""Coefficients of erfinv, lgamma and digamma (mpmath): interpolation in Chebyshev points, which is within a small
factor of the best polynomial, with the error of the polynomial rounded to doubles."""
from mpmath import cospi, digamma, erfinv, exp, findroot, log, loggamma, mp, mpf, pi, sqrt

mp.prec = 300


def fit(name, f, lo, hi, center, degree):
    """f on [lo, hi] as a polynomial in x - center."""
    lo, hi, center = mpf(lo), mpf(hi), mpf(center)
    n = degree + 1
    nodes = [(hi + lo) / 2 + (hi - lo) / 2 * cospi((2 * mpf(k) + 1) / (2 * n)) - center for k in range(n)]
    table = [f(v + center) for v in nodes]
    for step in range(1, n):  # divided differences
        for k in range(n - 1, step - 1, -1):
            table[k] = (table[k] - table[k - 1]) / (nodes[k] - nodes[k - step])
    c = [table[n - 1]]
    for k in range(n - 2, -1, -1):  # Newton's form multiplied out
        c = [mpf(0)] + c
        for i in range(len(c) - 1):
            c[i] -= nodes[k] * c[i + 1]
        c[0] += table[k]
    rounded = [mpf(float(v)) for v in c]
    worst = mpf(0)
    for k in range(301):
        x = lo + (hi - lo) * k / 300
        exact = f(x)
        value = mpf(0)
        for v in reversed(rounded):
            value = value * (x - center) + v
        worst = max(worst, abs(value / exact - 1))
    error = float(log(worst, 2))
    print(f"{name}, {degree + 1} coefficients from the constant one, log2 of the relative error {error:.1f}:")
    for v in rounded:
        print("  " + float(v).hex())


def two(name, v):
    hi = float(v)
    print(f"{name}: {hi.hex()} + {float(v - mpf(hi)).hex()}")


def over_x(w):
    """erfinv(x) / x where w = -log(1 - x^2)."""
    if w == 0:
        return sqrt(pi) / 2
    x = sqrt(1 - exp(-w))
    return erfinv(x) / x


def near_two(d):
    return loggamma(2 + d) / d if d else 1 - mp.euler


def stirling(z):
    """(log gamma(x) - (x - 1/2) log x + x - log(2 pi) / 2) x, z = 1 / x^2."""
    if z == 0:
        return mpf(1) / 12
    x = 1 / sqrt(z)
    return (loggamma(x) - (x - mpf(1) / 2) * log(x) + x - log(2 * pi) / 2) * x


def harmonic(z):
    """(log x - 1 / (2 x) - digamma(x)) x^2."""
    if z == 0:
        return mpf(1) / 12
    x = 1 / sqrt(z)
    return (log(x) - 1 / (2 * x) - digamma(x)) / z


def main():
    fit("erfinv(x) / x by w, 0 <= w <= 4", over_x, 0, 4, 0, 19)
    fit("erfinv(x) / x by sqrt(w) - 3, 2 <= sqrt(w) <= 4", lambda s: over_x(s * s), 2, 4, 3, 25)
    fit("erfinv(x) / x by sqrt(w) - 5, 4 <= sqrt(w) <= 6.1", lambda s: over_x(s * s), 4, 6.1, 5, 18)
    fit("log gamma(2 + d) / d, |d| <= 1/2", near_two, -0.5, 0.5, 0, 18)
    fit("Stirling's series times x by 1 / x^2, x >= 8", stirling, 0, mpf(1) / 64, 0, 6)
    root = findroot(digamma, 1.4616)
    two("the root of digamma", root)
    fit("digamma(x) / (x - root) by x - 1.5, 1 <= x <= 2", lambda x: digamma(x) / (x - root), 1, 2, 1.5, 22)
    fit("(log x - 1 / (2 x) - digamma(x)) x^2 by 1 / x^2, x >= 8", harmonic, 0, mpf(1) / 64, 0, 7)
    two("log(2 pi) / 2", log(2 * pi) / 2)
    two("pi", pi)
    two("log pi", log(pi))


main()
