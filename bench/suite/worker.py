"""One contestant in a process of its own: `worker.py CONTESTANT FOLDER`, a line of JSON in, a line of JSON out.

prepare: builds the graph for the arrays that the driver left in FOLDER, runs it once and writes its outputs there;
time: calls for so many seconds, once unmeasured before; drop: forgets the graph.
"""
import gc
import importlib
import json
import math
import os
import sys
import time

import numpy as np

import graphs
from arrays import place

CALL = 200e-6  # calls shorter than this are measured several at once


class Worker:
    def __init__(self, name, folder):
        self.folder = folder
        self.contestant = importlib.import_module("contestants." + name).Contestant()
        self.graph = self.run = self.fetch = None

    def prepare(self, key):
        graph = self.graph = graphs.find(key)
        count = len([f for f in os.listdir(self.folder) if f.startswith("in")])
        inputs = [place(np.load(f"{self.folder}/in{i}.npy"), i) for i in range(count)]
        outputs = [inputs[graph.in_place[i]] if i in graph.in_place
                   else place(np.full(shape, 7, dtype), len(inputs) + i)
                   for i, (shape, dtype) in enumerate(graph.outputs)]
        for name in os.listdir(self.folder):
            if name.startswith("out"):
                os.unlink(f"{self.folder}/{name}")
        began = time.perf_counter()
        self.run, self.fetch = self.contestant.prepare(graph, inputs, outputs)
        results = self.fetch(self.run())
        first = time.perf_counter() - began
        for i, result in enumerate(results):
            np.save(f"{self.folder}/out{i}.npy", np.asarray(result))
        began = time.perf_counter()
        self.run()
        self.once = time.perf_counter() - began
        return {"first": first}

    def time(self, seconds):
        run, clock = self.run, time.perf_counter
        calls = max(1, math.ceil(CALL / max(self.once, 1e-7)))
        samples = []
        gc.disable()
        began = clock()
        run()
        self.once = clock() - began
        end = began + self.once + seconds
        while not samples or (began < end and len(samples) < 200):
            began = clock()
            for _ in range(calls):
                run()
            samples.append((clock() - began) / calls)
        self.once = min(samples)
        gc.enable()
        return {"samples": samples}

    def drop(self):
        self.run = self.fetch = self.graph = None
        gc.collect()
        return {}


def main():
    # Libraries may print: what they say goes to stderr, answers to the driver alone.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    try:
        worker = Worker(sys.argv[1], sys.argv[2])
        answer = {"versions": getattr(worker.contestant, "version", "")}
    except Exception as error:  # whatever a peer's import says: the driver names it and goes on without
        answer = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(answer), file=answers, flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = getattr(worker, request.pop("do"))(**request)
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
