#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
"""check_headers.py [--expect] <rule> <folder>

Checks the headers under <folder>, which stands for include/rondo, against one rule:
  length  no header has more than 500 lines and the median is below 150 (in a bad example: 10 and 4)
  floors  a header includes headers of its own floor and below only, none includes rondo.hpp, and there is no cycle,
          except that x_impl.hpp, which completes x.hpp, includes it and is included by it
  form    two SPDX lines and #pragma once come first, and Rondo's headers are included as <rondo/...>
With --expect the tree is a bad example: the rule must find exactly what <folder>/../expected.txt lists for it.
"""
import re
import statistics
import sys
from pathlib import Path

# The house, floor by floor: a folder, or a header at the top by its name.
FLOORS = [
    {"types.hpp", "extent.hpp", "list.hpp", "slice.hpp", "error.hpp", "version.hpp", "fwd.hpp", "detail"},
    {"arch", "tensor", "graph", "concepts.hpp"},
    {"memory", "args", "platform"},
    {"update", "launch", "runtime"},
    {"session"},
    {"measure", "observe"},
    {"rondo.hpp"},
]
FACADE = "rondo.hpp"


def floor_of(name):
    top = name.split("/")[0]
    return next((i for i, parts in enumerate(FLOORS) if top in parts), None)


def includes(text):
    return re.findall(r"^\s*#\s*include\s*<rondo/([^>]+)>", text, re.MULTILINE)


def length(headers, most=500, median_below=150):
    counts = {name: text.count("\n") for name, text in headers.items()}
    for name, count in counts.items():
        if count > most:
            yield f"{name} has {count} lines; at most {most}"
    median = statistics.median(counts.values())
    if median >= median_below:
        yield f"the median header has {median:g} lines; it must be below {median_below}"


def floors(headers):
    for name, text in headers.items():
        if floor_of(name) is None:
            yield f"{name} is on no floor; give its folder one"
            continue
        for other in includes(text):
            if other not in headers:
                yield f"{name} includes {other}, which does not exist"
            elif other == FACADE:
                yield f"{name} includes {FACADE}"
            elif floor_of(other) is not None and floor_of(other) > floor_of(name):
                yield f"{name} includes {other} from a floor above"
    yield from cycles({name: set(includes(text)) - {name.replace("_impl.hpp", ".hpp")} for name, text in headers.items()})


def cycles(graph):
    """#pragma once hides a cycle until the day someone includes its other end first."""
    done, path = set(), []

    def visit(name):
        if name in path:
            yield "a cycle: " + " > ".join(path[path.index(name):] + [name])
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
    limits = (10, 4) if expect and rule == "length" else ()
    found = list({"length": length, "floors": floors, "form": form}[rule](headers, *limits))
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
