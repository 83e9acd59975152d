#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
"""coverage.py <lcov> <include folder> <list>

Prints which share of the lines and branches under <include folder> ran, by folder, from a file in lcov's format, and
writes the lines that did not run to <list>, with their text.
"""

import collections
import sys
from pathlib import Path


def read(path):
    """For each source: {line: how often it ran}, and {branch: whether it was taken}."""
    lines, branches = collections.defaultdict(dict), collections.defaultdict(dict)
    source = None
    for record in open(path):
        kind, _, rest = record.strip().partition(":")
        if kind == "SF":
            source = rest
        elif kind == "DA":
            line, count = rest.split(",")[:2]
            lines[source][int(line)] = max(lines[source].get(int(line), 0), int(count))
        elif kind == "BRDA":
            line, block, branch, count = rest.split(",")
            taken = count not in ("-", "0")
            branches[source][line, block, branch] = branches[source].get((line, block, branch), False) or taken
    return lines, branches


def main(lcov, folder, target):
    lines, branches = read(lcov)
    root = Path(folder).resolve()
    sums = collections.defaultdict(lambda: [0, 0, 0, 0])
    not_run = []
    for source in sorted(lines):
        name = Path(source).resolve().relative_to(root)
        text = Path(source).read_text().splitlines()
        part = name.parent.as_posix() if len(name.parts) > 1 else "(top)"
        for of in (part, "all"):
            sums[of][0] += sum(count > 0 for count in lines[source].values())
            sums[of][1] += len(lines[source])
            sums[of][2] += sum(branches[source].values())
            sums[of][3] += len(branches[source])
        not_run += [f"{name}:{n}: {text[n - 1].strip()}" for n, count in sorted(lines[source].items()) if count == 0]
    if not sums:
        sys.exit(f"coverage: {lcov} has no line of {folder}")
    Path(target).write_text("\n".join(not_run) + "\n")
    print(f"{'folder':28}{'lines':>8}{'run':>9}{'branches':>10}{'taken':>9}")
    for part in [*sorted(set(sums) - {"all"}), "all"]:
        ran, there, taken, ways = sums[part]
        print(f"{part:28}{there:8}{100 * ran / max(there, 1):8.1f}%{ways:10}{100 * taken / max(ways, 1):8.1f}%")
    print(f"{len(not_run)} lines did not run; {target} lists them")


if len(sys.argv) != 4:
    sys.exit(__doc__)
main(*sys.argv[1:])
