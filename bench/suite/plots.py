"""Plots as SVG, written directly: bars of speed against each contestant, and growth on logarithmic axes."""
import html
import math
import os

from report import NAMES, best_peer, family, least

COLOURS = {"ingot": "#1b6ca8", "hand": "#555555", "limit": "#bbbbbb", "best": "#d1495b", "numpy": "#edae49",
           "numexpr": "#8d6a9f", "numba": "#2a9d8f", "jax": "#d1495b", "eager": "#f4a261", "inductor": "#e76f51",
           "drjit": "#6a994e", "mlx": "#9a8c98"}


class Svg:
    def __init__(self, width, height, title):
        self.width, self.height = width, height
        self.parts = [f'<rect width="{width}" height="{height}" fill="white"/>']
        self.text(10, 22, title, size=15, weight="bold")

    def text(self, x, y, words, size=11, anchor="start", weight="normal", fill="#222"):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" '
                          f'font-weight="{weight}" fill="{fill}">{html.escape(str(words))}</text>')

    def bar(self, x, y, width, height, fill):
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{fill}"/>')

    def line(self, points, stroke, width=1.0, dash=""):
        where = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(f'<polyline points="{where}" fill="none" stroke="{stroke}" stroke-width="{width}"'
                          + (f' stroke-dasharray="{dash}"' if dash else "") + "/>")

    def dot(self, x, y, fill):
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{fill}"/>')

    def write(self, path):
        with open(path, "w", encoding="utf-8") as file:
            file.write(f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{self.height}" '
                       f'viewBox="0 0 {self.width} {self.height}" font-family="sans-serif">\n')
            file.write("\n".join(self.parts) + "\n</svg>\n")


def time_of(results, name):
    return best_peer(results)[1] if name == "best" else least(results, name)


def speeds(data, families, name, title, path):
    """Bars of contestant's time / Ingot's time, logarithmic around 1. Returns whether there is anything to show."""
    rows = []
    for g in (g for f in families for g in family(data, f).values()):
        own, other = least(g["results"], "ingot"), time_of(g["results"], name)
        if own and other:
            label = f" ({NAMES[best_peer(g['results'])[0]]})" if name == "best" else ""
            rows.append((g["title"] + label, other / own))
    if not rows:
        return False
    left, right, top, step = 330, 730, 50, 20
    low = min(0.5, min(r for _, r in rows))
    high = max(2.0, max(r for _, r in rows))
    scale = (right - left) / math.log(high / low)
    at = lambda r: left + math.log(r / low) * scale  # noqa: E731
    svg = Svg(800, top + step * len(rows) + 40, title)
    bottom = top + step * len(rows)
    for tick in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200):
        if low <= tick <= high:
            svg.line([(at(tick), top - 6), (at(tick), bottom)], "#222" if tick == 1 else "#ddd")
            svg.text(at(tick), bottom + 16, f"{tick:g}", anchor="middle")
    for i, (label, r) in enumerate(rows):
        y = top + step * i
        svg.text(left - 8, y + 12, label, anchor="end")
        svg.bar(min(at(1), at(r)), y + 2, abs(at(r) - at(1)), step - 6, COLOURS["ingot"] if r >= 1 else "#d1495b")
        svg.text(max(at(r), at(1)) + 4, y + 12, f"{r:.2f}")
    svg.text(left, bottom + 32, "its time over Ingot's: right of 1 Ingot is faster", fill="#555")
    svg.write(path)
    return True


def curves(title, series, words, path, x_label, y_label):
    """`series`: {name: [(x, y)]}, both axes logarithmic."""
    points = [p for line in series.values() for p in line]
    if len({x for x, _ in points}) < 2:
        return False
    left, right, top, bottom = 80, 620, 50, 360
    xs, ys = [p[0] for p in points], [p[1] for p in points]
    low, high = min(ys) / 1.5, max(ys) * 1.5
    at = lambda x, y: (left + (right - left) * math.log(x / min(xs)) / math.log(max(xs) / min(xs)),  # noqa: E731
                       bottom - (bottom - top) * math.log(y / low) / math.log(high / low))
    svg = Svg(800, 420, title)
    for power in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1):
        for factor in (1, 2, 5):
            tick = factor * 10.0**power
            if low <= tick <= high:
                svg.line([at(min(xs), tick), at(max(xs), tick)], "#ddd")
                svg.text(left - 6, at(min(xs), tick)[1] + 4, f"{tick:g}", anchor="end")
    for x in sorted(set(xs)):
        svg.text(at(x, low)[0], bottom + 18, words(x), anchor="middle")
    for i, (name, line) in enumerate(series.items()):
        colour = list(COLOURS.values())[i * 3 % len(COLOURS)] if name not in NAMES else COLOURS[name]
        svg.line([at(x, y) for x, y in line], colour, 2)
        for x, y in line:
            svg.dot(*at(x, y), colour)
        svg.bar(right + 20, top + 20 * i, 12, 12, colour)
        svg.text(right + 38, top + 20 * i + 10, NAMES.get(name, name))
    svg.text((left + right) / 2, bottom + 40, x_label, anchor="middle")
    svg.text(10, 42, y_label, fill="#555")
    svg.write(path)
    return True


def growth_series(data, kind):
    series = {}
    for key, g in family(data, "growth").items():
        if key.startswith(kind + "^"):
            n = 1 << int(key.split("^")[1])
            for name in g["results"]:
                if least(g["results"], name):
                    series.setdefault(name, []).append((n, least(g["results"], name) / n * 1e9))
    return series


def write_all(data, folder):
    """Writes every plot that there are samples for. Returns [(file, title)]."""
    os.makedirs(folder, exist_ok=True)
    out = []

    def keep(name, title, made):
        if made:
            out.append((name, title))

    both = ("twelve", "more")
    for name in ["best", "hand", "limit"] + [n for n in data["contestants"] if n not in ("ingot", "hand", "limit")]:
        title = "Ingot against " + {"best": "the best peer of each graph", "hand": "code by hand",
                                    "limit": "the memory limit"}.get(name, NAMES.get(name, name))
        keep(f"suite-{name}.svg", title, speeds(data, both, name, title, f"{folder}/suite-{name}.svg"))
    title = "Ingot against the best peer at small sizes"
    keep("suite-small.svg", title, speeds(data, ("small",), "best", title, f"{folder}/suite-small.svg"))
    power = lambda n: f"2^{int(math.log2(n))}"  # noqa: E731
    for kind in ("poly", "softmax"):
        title, name = f"{kind}: time per element against size", f"suite-growth-{kind}.svg"
        made = curves(title, growth_series(data, kind), power, f"{folder}/{name}", "elements", "ns an element")
        keep(name, title, made)
    entries = data.get("singles", {}).get("compile", {})
    parts = {part: [(int(ops), min(e[part]) * 1e3) for ops, e in entries.items() if e[part]]
             for part in ("plan", "code")}
    title = "Compile time against graph size"
    keep("suite-compile.svg", title, curves(title, parts, str, f"{folder}/suite-compile.svg", "ops", "ms"))
    return out
