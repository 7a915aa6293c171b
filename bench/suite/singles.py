"""What Ingot alone is asked: compile time against graph size, first calls of kernels, two threads."""
import os
import time

import numpy as np

import graphs
import ingot
import texts
from arrays import place
from driver import say

STITCHED = ("softmax", "masked_softmax", "layer_norm", "cross_entropy")
COMPUTE, MEMORY = ("bias_gelu_erf", "black_scholes", "softmax"), ("poly", "swiglu", "mse")


def elapsed(action):
    began = time.perf_counter()
    result = action()
    return time.perf_counter() - began, result


def cold(text):
    """Seconds to plan a graph and to compile its kernels, in a context that has neither, and the kernels."""
    context = ingot.Context()
    plan, executable = elapsed(lambda: ingot.Executable(context, text))
    code, _ = elapsed(executable.prepare)
    return plan, code, executable


def compile_growth(quick):
    """{ops: {'plan': [s...], 'code': [s...], 'kernels': n}}"""
    out = {}
    cold(texts.softmax)  # the compiler module is loaded once a process
    for ops, times in ((10, 15), (100, 15), (1000, 5), (10000, 2)):
        entry = out[str(ops)] = {"plan": [], "code": []}
        text = texts.mixed(ops)
        for _ in range(1 if quick else times):
            try:
                plan, code, executable = cold(text)
            except ingot.Error as error:
                entry["error"] = str(error)
                break
            entry["plan"].append(plan)
            entry["code"].append(code)
            entry["kernels"] = executable.kernels()
        took = ", ".join(f"{part} {min(entry[part]) * 1e3:.3g} ms" for part in ("plan", "code") if entry[part])
        say(f"compile time, chain of {ops} ops: {took or entry['error']}")
    return out


def cold_kernels(quick):
    """{graph: {'code': [s...], 'kernels': n, 'bytes': [of each]}} of a pointwise kernel of 30 ops and the stitched."""
    out = {}
    for key, text in [("chain of 30 ops", texts.mixed(30)), *((k, graphs.find(k).text) for k in STITCHED)]:
        entry = out[key] = {"code": []}
        for _ in range(5 if quick else 15):
            _, code, executable = cold(text)
            entry["code"].append(code)
        count = entry["kernels"] = executable.kernels()
        entry["bytes"] = [len(executable.describe(f"artifact/{i}")) for i in range(count)]
    return out


def threads(count, quick):
    """{graph: {'1': [s...], 'N': [s...]}}, one and `count` threads in turn, on as many processors."""
    out = {}
    contexts = {n: ingot.Context(n) for n in (1, count)}
    for key in COMPUTE + MEMORY:
        graph = graphs.find(key)
        arrays = [place(a, i) for i, a in enumerate(graph.make(np.random.default_rng(1)))]
        outputs = [place(np.zeros(shape, dtype), len(arrays) + i) for i, (shape, dtype) in enumerate(graph.outputs)]
        calls = {}
        for n, context in contexts.items():
            executable = ingot.Executable(context, graph.text)
            executable.prepare()
            calls[n] = executable.caller(arrays, outputs)
        samples = {n: [] for n in calls}
        for _ in range(7 if quick else 25):
            for n, call in calls.items():
                call()
                samples[n] += [elapsed(call)[0] for _ in range(2)]
        out[key] = {str(n): s for n, s in samples.items()}
        say(f"{count} threads, {key}: {min(samples[1]) / min(samples[count]):.2f} times one")
    return out


def measure(count, quick):
    out = {"compile": compile_growth(quick), "cold": cold_kernels(quick)}
    if count > 1 and len(os.sched_getaffinity(0)) >= count:
        out["threads"] = {"count": count, "graphs": threads(count, quick)}
    return out
