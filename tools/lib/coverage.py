#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
"""coverage.py <lines> <branches> <include folder> <list> <least>

Prints which share of the lines and branches under <include folder> ran, by folder, from the exports of llvm-cov for
each program: the lines in lcov's format, the branches as JSON. Writes the lines that did not run to <list>, with their
text. Lines without a word, such as a closing brace, do not count. coverage_explained.txt next to this script has the
reasons why lines do not run. Fails if fewer than <least> percent of the lines ran, if a line did not run for no known
reason, or if a reason applies to no line any more.
"""

import collections
import fnmatch
import json
import re
import sys
from pathlib import Path


def read_lines(path):
    """For each source: {line: the number of times that it ran}."""
    lines = collections.defaultdict(dict)
    source = None
    for record in open(path):
        kind, _, rest = record.strip().partition(":")
        if kind == "SF":
            source = rest
        elif kind == "DA":
            line, count = rest.split(",")[:2]
            lines[source][int(line)] = max(lines[source].get(int(line), 0), int(count))
    return lines


def read_branches(path):
    """For each source: {(place, outcome): whether it was taken}."""
    branches = collections.defaultdict(dict)
    text, at = Path(path).read_text(), 0
    while at < len(text):  # one document for each program
        program, at = json.JSONDecoder().raw_decode(text, at)
        for file in program["data"][0]["files"]:
            taken = branches[file["filename"]]
            for branch in file["branches"]:
                for outcome, count in enumerate(branch[4:6]):
                    way = *branch[:4], outcome
                    taken[way] = taken.get(way, False) or count > 0
    return branches


def explanations():
    """Each line: a pattern of headers, a colon, a pattern of the text of a line, two blanks and a bar, and the reason."""
    for line in (Path(__file__).parent / "coverage_explained.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            place, _, why = line.partition("  | ")
            header, _, text = place.strip().partition(":")
            yield line, header, text.strip() or "*", why.strip()


def main(exported_lines, exported_branches, folder, target, least):
    lines, branches = read_lines(exported_lines), read_branches(exported_branches)
    root = Path(folder).resolve()
    sums = collections.defaultdict(lambda: [0, 0, 0, 0])
    reasons = list(explanations())
    without, explained = [], []
    unused = {place for place, *_ in reasons}
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
        applicable = [reason for reason in reasons if fnmatch.fnmatch(str(name), reason[1])]
        for n in sorted(lines[source]):
            line = text[n - 1].strip()
            places = [reason for reason in applicable if fnmatch.fnmatch(line, reason[2])]
            unused.difference_update(reason[0] for reason in places)
            if lines[source][n] > 0:
                continue
            if places:
                explained.append(f"{name}:{n}: {line}  | {places[0][3]}")
            else:
                without.append(f"{name}:{n}: {line}")
    if not sums:
        sys.exit(f"coverage: {exported_lines} has no line of {folder}")
    Path(target).write_text("".join(line + "\n" for line in without + explained))
    print(f"{'folder':28}{'lines':>8}{'run':>9}{'branches':>10}{'taken':>9}")
    for part in [*sorted(set(sums) - {"all"}), "all"]:
        ran, there, taken, ways = sums[part]
        print(f"{part:28}{there:8}{100 * ran / max(there, 1):8.1f}%{ways:10}{100 * taken / max(ways, 1):8.1f}%")
    print(f"{len(without) + len(explained)} lines did not run, {len(explained)} of them for a known reason; {target} lists them")
    ran, there, *_ = sums["all"]
    wrong = [f"{line}: this line did not run; test it, or give a reason in coverage_explained.txt" for line in without]
    wrong += [f"coverage_explained.txt: no line of any header is like this: {place}" for place in sorted(unused)]
    if 100 * ran < float(least) * there:
        wrong.append(f"{100 * ran / there:.1f} % of the lines ran; at least {least} % are wanted")
    if wrong:
        sys.exit("\n".join(wrong))


if len(sys.argv) != 6:
    sys.exit(__doc__)
main(*sys.argv[1:])
