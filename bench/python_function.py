#!/usr/bin/env python3
"""Time of one function of NumPy and of numexpr on 4096 floats, in ns an element, least of many rounds: `NUMPY NUMEXPR`,
a dash for what is not installed or has no such function. Called by bench/functions between its own rounds."""
import sys
import time


def least(call):
    best = float("inf")
    for _ in range(40):
        began = time.perf_counter()
        for _ in range(50):
            call()
        best = min(best, (time.perf_counter() - began) / 50)
    return best / 4096 * 1e9


def main():
    name, low, high = sys.argv[1], float(sys.argv[2]), float(sys.argv[3])
    try:
        import numpy
    except ImportError:
        print("- -")
        return
    x = numpy.linspace(low, high, 4096, dtype=numpy.float32)
    y = numpy.empty_like(x)
    ufunc = getattr(numpy, name, None)
    times = ["-", "-"]
    if ufunc:
        times[0] = f"{least(lambda: ufunc(x, out=y)):.3f}"
    try:
        import numexpr

        numexpr.set_num_threads(1)
        names = {"x": x}
        numexpr.evaluate(f"{name}(x)", names, out=y)
        times[1] = f"{least(lambda: numexpr.re_evaluate(names)):.3f}"
    except (ImportError, TypeError, KeyError, ValueError):
        pass
    print(*times)


main()
