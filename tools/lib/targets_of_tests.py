#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
"""targets_of_tests.py <build folder> <regular expression>

Prints the files that ninja has to build for the tests whose names match, and for the tests that set up their fixtures:
each test's program, and those of its arguments and environment variables that ninja makes, or that are folders of what
it makes. ctest tells a test's command only once its program is there, so this reads the files that CMake wrote for
ctest. Fails if no name matches."""
import re
import subprocess
import sys
from pathlib import Path

folder, expression = Path(sys.argv[1]).resolve(), re.compile(sys.argv[2])
made = subprocess.run(["ninja", "-C", folder, "-t", "targets", "all"], check=True, capture_output=True, text=True).stdout
made = {line.rsplit(": ", 1)[0] for line in made.splitlines()}
commands, environments, set_up_by, needed = {}, {}, {}, {}
for file in folder.rglob("CTestTestfile.cmake"):
    text = file.read_text(encoding="utf-8")
    commands |= dict(re.findall(r"^add_test\(\[=\[(.*?)\]=\] (.*)\)$", text, re.MULTILINE))
    for name, properties in re.findall(r"^set_tests_properties\(\[=\[(.*?)\]=\] PROPERTIES (.*)\)$", text, re.MULTILINE):
        fixtures = {kind: value.split(";") for kind, value in re.findall(r' FIXTURES_(\w+) "([^"]*)"', properties)}
        needed[name] = fixtures.get("REQUIRED", [])
        environments[name] = re.findall(r'[" ;]\w+=([^;"]*)', properties)
        for fixture in fixtures.get("SETUP", []):
            set_up_by.setdefault(fixture, set()).add(name)
matched = {name for name in commands if expression.search(name)}
if not matched:
    print(f"no test has a name that matches {sys.argv[2]}", file=sys.stderr)
    sys.exit(1)
matched |= {setup for name in matched for fixture in needed.get(name, []) for setup in set_up_by.get(fixture, ())}
targets = set()
for name in matched:
    for word in re.findall(r'"((?:[^"\\]|\\.)*)"', commands[name]) + environments.get(name, []):
        path = Path(word)
        if path.is_absolute() and path != folder and path.is_relative_to(folder):
            target = str(path.relative_to(folder))
            targets |= {target} & made or {each for each in made if str(Path(each).parent) == target}
print(*sorted(targets), sep="\n")
