"""frozen.py RELEASE_DIR INCLUDE_DIR: what a released header promised, against the header of today.

- nothing of the release was edited (SHA256SUMS);
- its entries stand at the same places of today's list, with the same names and types;
- its constants have the same numbers, its callback and number types the same declarations;
- its structs have every member at the same offset with the same size, and have grown only where they state their size;
- its C client calls every entry.

Offsets and numbers come from the compiler: one generated program is compiled against each of the two header sets.
"""
import hashlib
import re
import subprocess
import sys
import tempfile
from pathlib import Path

release, today = Path(sys.argv[1]), Path(sys.argv[2])
faults = []


def without_comments(path):
    return re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.S)


def check_sums():
    recorded = dict(reversed(line.split(maxsplit=1)) for line in (release / "SHA256SUMS").read_text().splitlines())
    there = {str(p.relative_to(release)): hashlib.sha256(p.read_bytes()).hexdigest()
             for p in release.rglob("*") if p.is_file() and p.name not in ("SHA256SUMS", "README.md")}
    if there != recorded:
        faults.append(f"edited, added or removed: {sorted(set(there.items()) ^ set(recorded.items()))}")


def entries(include):
    found = re.findall(r"^INGOT_ENTRY\((\d+), (.+?), (ingot_\w+), (\(.*\))\)$",
                       without_comments(include / "ingot/entries.def"), re.M)
    return [tuple(" ".join(part.split()) for part in entry) for entry in found]


def check_entries():
    then, now = entries(release / "include"), entries(today)
    if not then:
        faults.append("no entry was found in the frozen list")
    for slot, entry in enumerate(then):
        if slot >= len(now) or now[slot] != entry:
            faults.append(f"slot {slot} was {entry} and is {now[slot] if slot < len(now) else 'gone'}")
            break  # after one that was taken out or put in, all are displaced
    client = (release / "client.c").read_text(encoding="utf-8")
    unused = [name for _, _, name, _ in then if not re.search(rf"\b{name}\b", client)]
    if unused:
        faults.append(f"the C client does not call {unused}")


def declarations(header):
    """Typedefs but for structs: numbers, handles and callbacks, as text."""
    text = without_comments(header)
    return {" ".join(d.split()) for d in re.findall(r"^typedef (?!struct \w+ \{)[^;]*;", text, re.M)}


def check_declarations():
    then = declarations(release / "include/ingot/ingot.h")
    lost = then - declarations(today / "ingot/ingot.h")
    if not then or lost:
        faults.append(f"declarations lost or changed: {sorted(lost)}")


def structs(header):
    """Name -> members, nested unions taken as one member."""
    out = {}
    for name, body in re.findall(r"^typedef struct (\w+) \{(.*?)^\} \1;", without_comments(header), re.M | re.S):
        flat = re.sub(r"\{[^{}]*\}", "", body)
        out[name] = [re.search(r"(\w+)\s*$", member).group(1) for member in flat.split(";") if member.strip()]
    return out


def probe(then):
    """A program that prints a line for each constant, struct and member of the frozen header."""
    header = release / "include/ingot/ingot.h"
    numbers = re.findall(r"\b(INGOT_\w+) = -?\w+", without_comments(header))
    lines = [f'printf("number {n} %lld\\n", (long long){n});' for n in [*numbers, "INGOT_NUL"]]
    for name, members in then.items():
        lines.append(f'printf("size {name} %zu\\n", sizeof({name}));')
        for m in members:
            lines.append(f'printf("member {name}.{m} %zu %zu\\n", offsetof({name}, {m}), sizeof((({name}*)0)->{m}));')
    body = "\n  ".join(lines)
    return f"#include <stdio.h>\n#include <ingot/ingot.h>\nint main(void) {{\n  {body}\n  return 0;\n}}\n"


def printed(source, include, folder):
    (folder / "probe.c").write_text(source)
    for command in (["cc", "-std=c99", f"-I{include}", str(folder / "probe.c"), "-o", str(folder / "probe")],
                    [str(folder / "probe")]):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            faults.append(f"{' '.join(command)}\n{done.stderr}")
            return {}
    return dict(line.rsplit(" ", 2 if line.startswith("member") else 1)[0:1] + [line]
                for line in done.stdout.splitlines())


def check_layout():
    then_structs = structs(release / "include/ingot/ingot.h")
    if "ingot_tensor" not in then_structs or "ingot_stats" not in then_structs:
        faults.append("the frozen header's structs were not found")
    source = probe(then_structs)
    with tempfile.TemporaryDirectory() as d:
        then = printed(source, release / "include", Path(d))
        now = printed(source, today, Path(d))
    sized = {f"size {name}" for name, members in then_structs.items()
             if members[0] == "struct_size" and name != "ingot_ext"}
    for what, line in then.items():
        if what in sized and what in now and int(now[what].split()[-1]) >= int(line.split()[-1]):
            continue
        if now.get(what) != line:
            faults.append(f"was '{line}', is '{now.get(what)}'")
    print(f"{len(then)} numbers, sizes and offsets compared")


check_sums()
check_entries()
check_declarations()
check_layout()
for fault in faults:
    print(fault)
sys.exit(bool(faults))
