#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
"""Compares the steps of the models with the statements that they represent.

    check_steps.py <folder of models> <folder of headers>

A line `// team.park: text` in a model names a step and quotes C++. In the headers, a comment `// model: team.park` at the
end of a line says that the code up to there ends with that text; on a line of its own, that the code after it begins with
it. White space and comments do not count. Each step has one place in the headers, and each marker a step.
"""
import pathlib
import re
import sys

STEP = re.compile(r"^\s*// ([a-z_]+\.[a-z_]+): (.+)$", re.M)
MARKER = re.compile(r"// model: ([a-z_., ]+)$")


def squeezed(code):
    return re.sub(r"\s+", " ", re.sub(r"//[^\n]*", "", code)).strip()


def steps_of(folder):
    steps = {}
    for path in sorted(folder.glob("*.pml")):
        for name, quote in STEP.findall(path.read_text()):
            if steps.setdefault(name, (squeezed(quote), path.name))[0] != squeezed(quote):
                yield f"{path.name}: {name} quotes other text than {steps[name][1]}"
    yield steps


def faults_of(steps, folder):
    places = {}
    for path in sorted(folder.rglob("*.hpp")):
        lines = path.read_text().split("\n")
        for number, line in enumerate(lines):
            marker = MARKER.search(line)
            if not marker:
                continue
            where = f"{path.relative_to(folder)}:{number + 1}"
            stands_alone = line.lstrip().startswith("//")
            if stands_alone:
                code = squeezed("\n".join(lines[number + 1:number + 12]))
            else:
                code = squeezed("\n".join(lines[max(0, number - 12):number + 1]))
            for name in marker.group(1).split(", "):
                if name not in steps:
                    yield f"{where}: no model has the step {name}"
                    continue
                if name in places:
                    yield f"{where}: {name} is at {places[name]} too"
                places[name] = where
                quote = steps[name][0]
                if stands_alone:
                    is_equal = code.startswith(quote)
                else:
                    before = code[:-len(quote)].rstrip()
                    is_equal = code.endswith(quote) and (not before or before[-1] in ";{}:")
                if not is_equal:
                    yield f"{where}: {name}: {steps[name][1]} quotes `{quote}`; the code is `{code[-len(quote) - 20:]}`"
    for name in sorted(set(steps) - set(places)):
        yield f"{steps[name][1]}: no header has the step {name}"


def main():
    models, headers = (pathlib.Path(argument) for argument in sys.argv[1:3])
    *faults, steps = steps_of(models)
    faults += faults_of(steps, headers)
    for fault in faults:
        print(fault)
    print(f"{len(steps)} steps, {len(faults)} faults")
    return 1 if faults or not steps else 0


if __name__ == "__main__":
    sys.exit(main())
