#!/usr/bin/env python3
"""The suite: every graph by Ingot, by hand, at the memory limit and by each peer that is installed.

Contestants live in processes of their own, all pinned to one processor, and are timed in rounds, one after the other.
Outputs are checked before anything is timed.
"""
import argparse
import json
import os
import platform
import shutil
import signal
import sys
import tempfile
import time

import numpy as np

import checks
import graphs
import page
import plots
import report
import singles
from driver import CONTESTANTS, Peer, say

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


GROWTH = ("ingot", "hand", "numpy")  # a gigabyte at a time is enough for three


def start_all(names, folder, cpu):
    peers, missing = [], {}
    for peer in [Peer(name, folder, cpu) for name in names]:  # they load side by side
        peer.wait()
        if peer.error:
            missing[peer.name] = peer.error
            say(f"{peer.name}: left out: {peer.error}")
        else:
            peers.append(peer)
    return peers, missing


def measure(graph, peers, folder, rounds, seconds):
    """Prepares, checks and times one graph: {contestant: {'samples': ..., 'first': ...} or {'error': words}}."""
    inputs, reference = checks.inputs_and_reference(graph)
    for name in os.listdir(folder):
        os.unlink(f"{folder}/{name}")
    for i, array in enumerate(inputs):
        np.save(f"{folder}/in{i}.npy", array)
    results, running = {}, []
    for peer in peers:
        answer = peer.ask("prepare", key=graph.key)
        if "error" not in answer:
            fault = checks.compare(graph, reference, folder)
            if fault:
                answer = {"error": fault}
        results[peer.name] = answer
        if "error" in answer:
            peer.ask("drop")
        else:
            answer["samples"] = []
            running.append(peer)
    for _ in range(rounds):
        for peer in list(running):
            answer = peer.ask("time", seconds=seconds)
            if "error" in answer:
                results[peer.name] = answer
                running.remove(peer)
            else:
                results[peer.name]["samples"].append(answer["samples"])
    for peer in running:
        peer.ask("drop")
    return results


def describe_machine():
    model = "unknown"
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
    return {"cpu": model, "cpus": os.cpu_count(), "kernel": platform.release(), "python": platform.python_version()}


def main():
    parser = argparse.ArgumentParser(prog="./do bench suite", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    parser.add_argument("--graphs", help="only these keys or families, separated by commas")
    parser.add_argument("--contestants", default=",".join(CONTESTANTS), help="only these, separated by commas")
    parser.add_argument("--threads", type=int, default=2, help="threads for the figures of several (1: none)")
    parser.add_argument("--cpu", type=int, default=max(os.sched_getaffinity(0)), help="the processor to pin to")
    parser.add_argument("--write-docs", action="store_true",
                        help="write docs/benchmarks-suite.md and docs/plots, not build/bench")
    parser.add_argument("--update", action="store_true", help="keep what build/bench/suite.json has of other graphs")
    parser.add_argument("--from-json", action="store_true", help="report on build/bench/suite.json, measure nothing")
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that what was made for the run is removed
    path = f"{ROOT}/build/bench/suite.json"
    if args.from_json:
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
    else:
        data = run(args)
        if args.update and os.path.exists(path):
            data = merge(path, data)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(data, file)
    folder = f"{ROOT}/docs" if args.write_docs else f"{ROOT}/build/bench"
    pictures = plots.write_all(data, f"{folder}/plots")
    with open(f"{folder}/benchmarks-suite.md", "w", encoding="utf-8") as file:
        file.write(page.build(data, pictures))
    for name in ("twelve", "more", "small"):
        measured = report.family(data, name)
        if measured:
            print(report.against(measured, report.microseconds if name == "small" else report.milliseconds))
    print(page.summary(data))
    say(f"samples in {path}, tables and plots in {folder}")


def merge(path, data):
    """The samples in `path` with the graphs of `data` in their place; a graph is always of one run."""
    with open(path, encoding="utf-8") as file:
        old = json.load(file)
    old["graphs"].update(data["graphs"])
    old["contestants"].update(data["contestants"])
    if "singles" in data:
        old["singles"] = data["singles"]
    return old


def run(args):
    began = time.time()
    wanted = args.graphs.split(",") if args.graphs else None
    chosen = [g for g in graphs.every() if not wanted or g.key in wanted or g.family in wanted]
    place = tempfile.mkdtemp(prefix="ingot-suite-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
    folder = f"{place}/arrays"
    os.mkdir(folder)
    data = {"schema": 1, "machine": describe_machine(), "quick": args.quick, "graphs": {}}
    peers = []
    try:
        peers, data["missing"] = start_all(args.contestants.split(","), folder, args.cpu)
        data["contestants"] = {p.name: p.version for p in peers}
        for i, graph in enumerate(chosen):
            rounds, seconds = (3, 0.005) if args.quick or graph.family == "growth" else (12, 0.01)
            those = [p for p in peers if graph.family != "growth" or p.name in GROWTH]
            results = measure(graph, those, folder, rounds, seconds)
            data["graphs"][graph.key] = {"title": graph.title, "family": graph.family, "results": results}
            say(f"[{i + 1}/{len(chosen)}, {time.time() - began:.0f} s] {graph.title}: {report.progress(results)}")
    finally:
        for peer in peers:
            peer.stop()
        shutil.rmtree(place)
    if not wanted or "singles" in wanted:
        data["singles"] = singles.measure(args.threads, args.quick)
    data["seconds"] = time.time() - began
    return data


if __name__ == "__main__":
    sys.exit(main())
