#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
"""check_headers.py [--expect] <rule> <folder>

Checks the headers under <folder>, which stands for include/rondo, against one rule:
  length  the headers of the core and of the products, their median, the core without the platforms of real devices
          (DEVICES), and session/ have at most the lines that length() states (in a bad example: 8, 10, 4, 61 and 8).
          A line that only names a step of a model (tests/models) does not count
  layers  a header includes headers of its own layer and below only, none but a facade includes a facade, and there is no cycle,
          except that x_impl.hpp, which completes x.hpp, includes it and is included by it; nor is there a cycle of
          folders, where a header at the top counts as a folder of its own
  form    two SPDX lines and #pragma once come first, and Rondo's headers are included as <rondo/...>
With --expect the tree is a bad example: the rule must find exactly what <folder>/../expected.txt lists for it.
"""
import re
import statistics
import sys
from pathlib import Path

# The layers, the lowest first: a folder, or a header at the top by its name.
LAYERS = [
    {"types.hpp", "extent.hpp", "error.hpp", "version.hpp", "detail"},
    {"arch", "tensor", "graph", "concepts.hpp"},
    {"memory", "args", "platform"},
    {"update", "launch", "runtime"},
    {"binding"},
    {"session"},
    {"search", "measure", "observe", "mpi"},
    {"compiled_instances.hpp"},
    {"rondo.hpp", "orchestrated.hpp", "static_graph.hpp"},
]
# Headers for programs; only a facade includes another facade.
FACADES = {"rondo.hpp", "orchestrated.hpp", "static_graph.hpp"}
# The platforms of real devices, whose code grows with their number.
DEVICES = ("platform/onboard/", "platform/streams/", "platform/cuda/", "platform/host/")
# The products next to the core, which does not include them.
PRODUCTS = {"search", "measure", "observe", "mpi"}


def layer_of(name):
    top = name.split("/")[0]
    return next((i for i, parts in enumerate(LAYERS) if top in parts), None)


def includes(text):
    return re.findall(r"^\s*#\s*include\s*<rondo/([^>]+)>", text, re.MULTILINE)


def length(headers, of_core=400, of_product=500, median_below=150, core=30_144, session=5_378):
    lines = re.compile(r"^(?!\s*// model: ).*\n", re.MULTILINE)
    counts = {name: len(lines.findall(text)) for name, text in headers.items()}
    for name, count in counts.items():
        most = of_product if name.split("/")[0] in PRODUCTS else of_core
        if count > most:
            yield f"{name} has {count} lines; at most {most}"
    median = statistics.median(counts.values())
    if median >= median_below:
        yield f"the median header has {median:g} lines; it must be below {median_below}"
    sums = {"the core": 0, "session/": 0}
    for name, count in counts.items():
        if name.split("/")[0] not in PRODUCTS and not name.startswith(DEVICES):
            sums["the core"] += count
        if name.startswith("session/"):
            sums["session/"] += count
    for part, most in (("the core", core), ("session/", session)):
        if sums[part] > most:
            yield f"{part} has {sums[part]} lines; at most {most}"


def layers(headers):
    for name, text in headers.items():
        if layer_of(name) is None:
            yield f"{name} is in no layer; give its folder one"
            continue
        for other in includes(text):
            if other not in headers:
                yield f"{name} includes {other}, which does not exist"
            elif other in FACADES and name not in FACADES:
                yield f"{name} includes {other}"
            elif layer_of(other) is not None and layer_of(other) > layer_of(name):
                yield f"{name} includes {other} from a layer above"
    yield from cycles({name: set(includes(text)) - {name.replace("_impl.hpp", ".hpp")} for name, text in headers.items()})
    folders = {}
    for name, text in headers.items():
        own = name.split("/")[0]
        others = {other.split("/")[0] for other in includes(text)}
        folders.setdefault(own, set()).update(others - {own, *FACADES})
    for facade in FACADES:
        folders.pop(facade, None)
    yield from cycles(folders, "a cycle of folders")


def cycles(graph, kind="a cycle"):
    """Finds cycles, which #pragma once hides until a program includes the other end first."""
    done, path = set(), []

    def visit(name):
        if name in path:
            yield f"{kind}: " + " > ".join(path[path.index(name):] + [name])
            return
        if name in done:
            return
        path.append(name)
        for other in sorted(graph.get(name, [])):
            yield from visit(other)
        path.pop()
        done.add(name)

    for name in sorted(graph):
        yield from visit(name)


def form(headers):
    first = [
        r"// SPDX-FileCopyrightText: \d{4} The Rondo authors",
        r"// SPDX-License-Identifier: Apache-2\.0",
        r"#pragma once",
    ]
    for name, text in headers.items():
        lines = text.splitlines() + [""] * len(first)
        if not all(re.fullmatch(pattern, line) for pattern, line in zip(first, lines)):
            yield f"{name} does not begin with the two SPDX lines and #pragma once"
        for quoted in re.findall(r'^\s*#\s*include\s*"([^"]+)"', text, re.MULTILINE):
            yield f'{name} includes "{quoted}" in quotes'


def main(arguments):
    expect = arguments[0] == "--expect"
    rule, folder = arguments[1:] if expect else arguments
    folder = Path(folder)
    headers = {p.relative_to(folder).as_posix(): p.read_text(encoding="utf-8") for p in sorted(folder.rglob("*.hpp"))}
    if not headers:
        print(f"no header under {folder}")
        return 1
    limits = (8, 10, 4, 61, 8) if expect and rule == "length" else ()
    found = list({"length": length, "layers": layers, "form": form}[rule](headers, *limits))
    print(f"{rule}: {len(headers)} headers, {len(found)} findings")
    for finding in found:
        print(f"  {finding}")
    if not expect:
        return 1 if found else 0
    lines = (folder / "../expected.txt").read_text(encoding="utf-8").splitlines()
    wanted = [line.removeprefix(f"{rule}: ") for line in lines if line.startswith(f"{rule}: ")]
    if not wanted or sorted(wanted) != sorted(found):
        print("expected instead:", *wanted, sep="\n  ")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
