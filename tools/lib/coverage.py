#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
"""coverage.py <lcov> <include folder> <list> <least>

Prints which share of the lines and branches under <include folder> ran, by folder, from a file in lcov's format, and
writes the lines that did not run to <list>, with their text. Lines that hold no word, such as a closing brace, do not
count. coverage_explained.txt next to this script has the reasons why lines do not run; those without one come first in
the list. Fails if fewer than <least> percent of the lines ran.
"""

import collections
import fnmatch
import re
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


def explanations():
    """Each line: a pattern of headers, a colon, a pattern of the text of a line, two blanks and a bar, and the reason."""
    for line in (Path(__file__).parent / "coverage_explained.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            place, _, why = line.partition("  | ")
            header, _, text = place.strip().partition(":")
            yield header, text.strip() or "*", why.strip()


def main(lcov, folder, target, least):
    lines, branches = read(lcov)
    root = Path(folder).resolve()
    sums = collections.defaultdict(lambda: [0, 0, 0, 0])
    reasons = list(explanations())
    without, explained = [], []
    for source in sorted(lines):
        name = Path(source).resolve().relative_to(root)
        text = Path(source).read_text().splitlines()
        for n in list(lines[source]):
            if n > len(text) or not re.search(r"\w", text[n - 1].partition("//")[0]):
                del lines[source][n]
        part = name.parent.as_posix() if len(name.parts) > 1 else "(top)"
        for of in (part, "all"):
            sums[of][0] += sum(count > 0 for count in lines[source].values())
            sums[of][1] += len(lines[source])
            sums[of][2] += sum(branches[source].values())
            sums[of][3] += len(branches[source])
        for n in sorted(n for n, count in lines[source].items() if count == 0):
            line = text[n - 1].strip()
            why = next((w for h, t, w in reasons if fnmatch.fnmatch(str(name), h) and fnmatch.fnmatch(line, t)), None)
            (without if why is None else explained).append(f"{name}:{n}: {line}" + ("" if why is None else f"  | {why}"))
    if not sums:
        sys.exit(f"coverage: {lcov} has no line of {folder}")
    Path(target).write_text("".join(line + "\n" for line in without + explained))
    print(f"{'folder':28}{'lines':>8}{'run':>9}{'branches':>10}{'taken':>9}")
    for part in [*sorted(set(sums) - {"all"}), "all"]:
        ran, there, taken, ways = sums[part]
        print(f"{part:28}{there:8}{100 * ran / max(there, 1):8.1f}%{ways:10}{100 * taken / max(ways, 1):8.1f}%")
    print(f"{len(without) + len(explained)} lines did not run, {len(explained)} of them for a known reason; {target} lists them")
    ran, there, *_ = sums["all"]
    if 100 * ran < float(least) * there:
        sys.exit(f"coverage: {100 * ran / there:.1f} % of the lines ran; at least {least} % are wanted")


if len(sys.argv) != 5:
    sys.exit(__doc__)
main(*sys.argv[1:])
