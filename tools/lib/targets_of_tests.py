#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
"""targets_of_tests.py <build folder> <regular expression>

Prints the files that ninja has to build for the tests whose names match: each test's program, and those of its arguments
that ninja makes. ctest tells a test's command only once its program is there, so this reads the files that CMake wrote
for ctest. Fails if no name matches."""
import re
import subprocess
import sys
from pathlib import Path

folder, expression = Path(sys.argv[1]), re.compile(sys.argv[2])
made = subprocess.run(["ninja", "-C", folder, "-t", "targets", "all"], check=True, capture_output=True, text=True).stdout
made = {line.rsplit(": ", 1)[0] for line in made.splitlines()}
matched, targets = 0, set()
for file in folder.rglob("CTestTestfile.cmake"):
    for name, command in re.findall(r"^add_test\(\[=\[(.*?)\]=\] (.*)\)$", file.read_text(encoding="utf-8"), re.MULTILINE):
        if not expression.search(name):
            continue
        matched += 1
        for word in re.findall(r'"((?:[^"\\]|\\.)*)"', command):
            path = Path(word)
            if path.is_absolute() and path.is_relative_to(folder):
                target = str(path.relative_to(folder))
                targets |= {target} & made
if matched == 0:
    print(f"no test has a name that matches {sys.argv[2]}", file=sys.stderr)
    sys.exit(1)
print(*sorted(targets), sep="\n")
