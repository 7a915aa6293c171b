"""docs/benchmarks-suite.md, put together from the tables of report.py."""
import json
import os

import report
from report import NAMES, OWN, best_peer, geometric, least, mean_against, microseconds, milliseconds

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

GOALS = (("best", "the best peer of each graph", 1.5), ("inductor", "Inductor", 2.3), ("jax", "XLA:CPU", 2.0),
         ("eager", "PyTorch eager", 6.5), ("numexpr", "numexpr, where it can say the graph", 15.0))
BY_HAND = ("poly", "mse", "column_sums", "adamw")
BEST_PEER = (("softmax", 2.1), ("masked_softmax", 1.9), ("transpose_add", 2.6), ("black_scholes", 1.35))
SMALL = ((256, 3.0), (4096, 2.0), (65536, 1.0))
FUNCTIONS = ("exp", "log", "erf", "tanh", "sin", "cos")


def verdict(value, goal, at_most=False):
    if value is None:
        return "not measured"
    return "met" if (value <= goal if at_most else value >= goal) else "missed"


def figure(name, goal, value, at_most=False, unit=""):
    shown = "-" if value is None else f"{value:.2f}{unit}"
    return [name, f"{'at most ' if at_most else ''}{goal:g}{unit}", shown, verdict(value, goal, at_most)]


def speed(data, key, name):
    """How many times as fast as a contestant ('best': the best peer) Ingot is."""
    g = data["graphs"].get(key)
    if not g:
        return None
    other = best_peer(g["results"])[1] if name == "best" else least(g["results"], name)
    own = least(g["results"], "ingot")
    return other / own if other and own else None


def functions_against_libmvec():
    """The least ratio of build/bench/functions.json, which another program measures, or None."""
    path = f"{ROOT}/build/bench/functions.json"
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as file:
        samples = json.load(file)
    ratios = [min(samples[f"{f}_libmvec_s"]) / min(samples[f"{f}_ingot_s"]) for f in FUNCTIONS
              if f"{f}_libmvec_s" in samples]
    return min(ratios) if len(ratios) == len(FUNCTIONS) else None


def figures(data):
    """Rows of [figure, goal, measured, verdict]."""
    rows = []
    slowest = [(speed(data, k, "best"), g["title"]) for k, g in data["graphs"].items()
               if g["family"] in ("twelve", "more") and speed(data, k, "best")]
    if slowest:
        value, title = min(slowest)
        rows.append(figure(f"slowest graph against its best peer ({title})", 0.95, value))
    for name, words, goal in GOALS:
        value, count = mean_against(data, name)
        rows.append(figure(f"geometric mean over {count} of the twelve against {words}", goal, value))
    rows += [figure(f"{k} against the loop by hand", 0.95, speed(data, k, "hand")) for k in BY_HAND]
    rows += [figure(f"{k} against the best peer", goal, speed(data, k, "best")) for k, goal in BEST_PEER]
    rows.append(figure("layer_norm against PyTorch's own operator", 1.5, speed(data, "layer_norm", "eager")))
    rows.append(figure("exp, log, erf, tanh, sin, cos in L1 against libmvec, the slowest", 1.5,
                       functions_against_libmvec()))
    for n, goal in SMALL:
        for kind in ("poly", "bias_gelu", "softmax"):
            rows.append(figure(f"{kind} of {n} elements against the best peer", goal,
                               speed(data, f"{kind}@{n}", "best")))
    return rows + single_figures(data.get("singles", {}))


def single_figures(singles):
    rows = []
    entry = singles.get("threads")
    for words, keys, goal in (("compute-bound", ("bias_gelu_erf", "black_scholes", "softmax"), 1.9),
                              ("memory-bound", ("poly", "swiglu", "mse"), 1.4)):
        value = None
        if entry and entry["count"] == 2:
            value = geometric([(min(t["1"]), min(t["2"])) for k, t in entry["graphs"].items() if k in keys])[0]
        rows.append(figure(f"2 threads, {words} graphs", goal, value))
    cold = singles.get("cold", {})
    pointwise = min(cold["chain of 30 ops"]["code"]) * 1e3 if cold else None
    stitched = max(min(e["code"]) for k, e in cold.items() if k != "chain of 30 ops") * 1e3 if cold else None
    return rows + [figure("compile of a pointwise kernel of 30 ops", 5, pointwise, True, " ms"),
                   figure("compile of a stitched graph, the slowest", 12, stitched, True, " ms"),
                   ["fork-join", "at most 0.5 us hot, 15 us from idle", "-", "not measured here"]]


def build(data, pictures=()):
    machine, names = data["machine"], list(data["contestants"])
    peers = ", ".join(f"{NAMES[n]} {v}".strip() for n, v in data["contestants"].items() if n not in OWN) or "none"
    parts = [
        "# The benchmark suite",
        "Made by `./do bench suite --write-docs` (`bench/suite/README.md` says how it measures). "
        f"{machine['cpu']}, {machine['cpus']} CPUs, one pinned thread, f32. Ratios of one run count; absolute times "
        "are one machine's. Least times unless said otherwise.",
        f"Peers: {peers}." + "".join(f" Left out: {NAMES[n]} ({why})." for n, why in data["missing"].items()),
        "## Figures", report.table(["figure", "goal", "measured", ""], figures(data)),
        "Ratios are how many times as fast Ingot is."]
    for name, title, time in (("twelve", "The twelve", milliseconds), ("more", "More graphs", milliseconds),
                              ("small", "Small sizes, call overheads included", microseconds)):
        graphs = report.family(data, name)
        if graphs:
            unit = "us" if time is microseconds else "ms"
            parts += [f"## {title}", report.against(graphs, time), f"Every peer, {unit}:",
                      report.everyone(graphs, names, time)]
    parts += pictures_of(pictures)
    failures = report.failures(data)
    if failures:
        parts += ["## What a contestant could not do", failures]
    if report.family(data, "growth"):
        parts += ["## Time per element", report.growth(data)]
    singles = data.get("singles", {})
    if singles:
        parts += ["## Compile time", report.compile_growth(singles["compile"]),
                  "Kernels compiled anew, the compiler module being loaded:", report.cold(singles["cold"]),
                  report.first_calls(data)]
        if "threads" in singles:
            parts += ["## Threads", report.threads(singles["threads"])]
    return "\n\n".join(p.rstrip("\n") for p in parts if p) + "\n"


def pictures_of(pictures):
    return ["## Plots", *(f"![{title}](plots/{name})" for name, title in pictures)] if pictures else []


def summary(data):
    """The figures as lines of text, for the terminal."""
    return "\n".join(f"{name}: {value} (goal {goal}): {words}" for name, goal, value, words in figures(data))
