"""The tables of docs/benchmarks-suite.md, from the samples."""
import math
import statistics

OWN = ("ingot", "hand", "limit")
NAMES = {"ingot": "Ingot", "hand": "by hand", "limit": "memory limit", "numpy": "NumPy", "numexpr": "numexpr",
         "numba": "numba", "jax": "XLA:CPU", "eager": "PyTorch eager", "inductor": "Inductor", "drjit": "Dr.Jit",
         "mlx": "MLX"}


def flat(result):
    return [s for turn in result.get("samples", []) for s in turn]


def least(results, name):
    """Least time of a contestant in seconds, or None."""
    samples = flat(results.get(name, {}))
    return min(samples) if samples else None


def median(results, name):
    samples = flat(results.get(name, {}))
    return statistics.median(samples) if samples else None


def progress(results):
    words = [f"{name} {least(results, name) * 1e3:.4g}" if least(results, name) else f"{name} -" for name in results]
    return ", ".join(words) + " ms"


def best_peer(results):
    """(name, seconds) of the fastest peer, or (None, None)."""
    times = {n: least(results, n) for n in results if n not in OWN and least(results, n)}
    if not times:
        return None, None
    name = min(times, key=times.get)
    return name, times[name]


def milliseconds(seconds):
    if seconds is None:
        return "-"
    return f"{seconds * 1e3:.3g}" if seconds < 0.1 else f"{seconds * 1e3:.0f}"


def microseconds(seconds):
    return "-" if seconds is None else f"{seconds * 1e6:.3g}"


def ratio(above, below):
    return "-" if above is None or below is None else f"{above / below:.2f}"


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + " --- |" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def family(data, name):
    return {k: g for k, g in data["graphs"].items() if g["family"] == name}


def against(graphs, time):
    """Ingot against the hand, the limit and the best peer."""
    rows = []
    for g in graphs.values():
        r = g["results"]
        own = least(r, "ingot")
        name, best = best_peer(r)
        rows.append([g["title"], time(own), time(least(r, "hand")), time(least(r, "limit")),
                     f"{time(best)} {NAMES[name]}" if name else "-", ratio(best, own), ratio(least(r, "hand"), own),
                     ratio(own, least(r, "limit"))])
    unit = "ms" if time is milliseconds else "us"
    return table(["graph", f"Ingot, {unit}", "by hand", "memory limit", "best peer", "best peer / Ingot",
                  "by hand / Ingot", "Ingot / limit"], rows)


def everyone(graphs, names, time):
    peers = [n for n in names if n not in OWN]
    rows = [[g["title"], time(least(g["results"], "ingot")), time(median(g["results"], "ingot")),
             *(time(least(g["results"], n)) for n in peers)] for g in graphs.values()]
    return table(["graph", "Ingot", "(median)", *(NAMES[n] for n in peers)], rows)


def failures(data):
    """Contestants that failed or cannot say a graph, with their words."""
    words = {}
    for g in data["graphs"].values():
        for name, result in g["results"].items():
            if "error" in result:
                said = result["error"].splitlines()[0].removeprefix("NotImplementedError: ")[:160].replace("|", "\\|")
                words.setdefault((name, said), []).append(g["title"])
    rows = [[NAMES[name], said, "; ".join(titles)] for (name, said), titles in words.items()]
    return table(["contestant", "its words", "graphs"], rows) if rows else ""


def geometric(pairs):
    """Geometric mean of above / below and of how many, over the pairs that are there."""
    logs = [math.log(a / b) for a, b in pairs if a and b]
    return (math.exp(sum(logs) / len(logs)), len(logs)) if logs else (None, 0)


def mean_against(data, name):
    results = [g["results"] for g in family(data, "twelve").values()]
    if name == "best":
        return geometric([(best_peer(r)[1], least(r, "ingot")) for r in results])
    return geometric([(least(r, name), least(r, "ingot")) for r in results])


def growth(data):
    rows = []
    for key, g in family(data, "growth").items():
        n = 1 << max(int(key.split("^")[1]), 10)
        rows.append([g["title"], *(f"{least(g['results'], c) / n * 1e9:.3f}" if least(g["results"], c) else "-"
                                   for c in ("ingot", "hand", "numpy"))])
    return table(["graph", "Ingot, ns an element", "by hand", "NumPy"], rows)


def compile_growth(entries):
    rows = []
    for ops, e in entries.items():
        if not e["plan"]:
            rows.append([ops, e.get("error", "-"), "", "", ""])
            continue
        plan, code = min(e["plan"]), min(e["code"])
        rows.append([ops, str(e["kernels"]), f"{plan * 1e3:.3g}", f"{code * 1e3:.3g}",
                     f"{(plan + code) / int(ops) * 1e6:.3g}"])
    return table(["ops", "kernels", "plan, ms", "code, ms", "both, us an op"], rows)


def cold(entries):
    rows = [[key, str(e["kernels"]), f"{min(e['code']) * 1e3:.3g}", f"{statistics.median(e['code']) * 1e3:.3g}",
             ", ".join(str(b) for b in e["bytes"])] for key, e in entries.items()]
    return table(["graph", "kernels", "least, ms", "median, ms", "bytes of each artifact"], rows)


def first_calls(data):
    """First call of bias + GELU (tanh), compile included."""
    g = data["graphs"].get("bias_gelu_tanh")
    if not g:
        return ""
    rows = [[NAMES[n], f"{r['first'] * 1e3:.0f}"] for n, r in g["results"].items() if "first" in r and n != "limit"]
    return table(["bias + GELU (tanh)", "first call, ms"], rows)


def threads(entry):
    count = str(entry["count"])
    rows = [[key, f"{min(t['1']) * 1e3:.3g}", f"{min(t[count]) * 1e3:.3g}", f"{min(t['1']) / min(t[count]):.2f}"]
            for key, t in entry["graphs"].items()]
    return table(["graph", "1 thread, ms", f"{count} threads, ms", "times as fast"], rows)
