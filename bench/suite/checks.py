"""Whether a contestant computed what the graph says, against float64."""
import os
import zlib

import numpy as np


def inputs_and_reference(graph):
    inputs = graph.make(np.random.default_rng(zlib.crc32(graph.key.encode())))
    wide = [a.astype(np.float64) if a.dtype.kind == "f" else a for a in inputs]
    return inputs, graph.reference(*wide)


def fault(graph, number, want, got):
    """What is wrong with output `number`, or None."""
    shape, dtype = graph.outputs[number]
    if got.shape != shape or got.dtype != dtype:
        return f"output {number} is {got.dtype}{list(got.shape)}, not {dtype}{list(shape)}"
    if dtype == np.int8:  # x / scale next to a tie may round either way
        off = np.abs(got.astype(np.int16) - want)
        bad = off.max() > 1 or np.count_nonzero(off) > got.size // 1000
        return f"output {number}: {np.count_nonzero(off)} integers are off" if bad else None
    allowed = graph.relative * np.abs(want) + graph.absolute * np.abs(want).max()
    off = np.abs(got.astype(np.float64) - want)
    bad = ~(off <= allowed)  # NaN is bad
    if bad.any():
        at = int(np.argmax(np.where(bad, np.nan_to_num(off - allowed, nan=np.inf), -np.inf)))
        return (f"wrong: {np.count_nonzero(bad)} of {got.size} items of output {number}, "
                f"item {at} is {got.flat[at]:.9g}, not {want.flat[at]:.9g}")
    return None


def compare(graph, reference, folder):
    if not os.path.exists(f"{folder}/out0.npy"):
        return None  # the memory limit
    for number, want in enumerate(reference):
        words = fault(graph, number, np.asarray(want), np.load(f"{folder}/out{number}.npy"))
        if words:
            return words
    return None
