#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
"""check.py <compiler> <work folder>

Runs tools/mutate on a small header and checks that the mutants are those of expected.txt, that a program that was
compiled once behaves differently with each of them, and that without a mutant it behaves as with the header itself."""
import os
import resource
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
compiler, work = sys.argv[1], Path(sys.argv[2])


def end_if_endless():
    """Ends a mutant that does not end by itself. Its own work is measured, which does not grow on a busy machine: the
    program needs some milliseconds."""
    resource.setrlimit(resource.RLIMIT_CPU, (10, 10))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def output(command, prepare=None, **environment):
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | environment, preexec_fn=prepare)
    return f"{done.returncode} {done.stdout}"


listed = subprocess.run(
    [ROOT / "tools/mutate", "--list", "--include", HERE / "include", "--folder", work], capture_output=True, text=True, check=True
).stdout
expected = (HERE / "expected.txt").read_text()
if listed != expected:
    sys.exit(f"the mutants are not those of expected.txt, but\n{listed}")
common = [compiler, "-std=c++20", str(HERE / "sample.cpp"), "-o"]
subprocess.run(common + [work / "plain", f"-I{HERE / 'include'}"], check=True)
mutated = ["-include", str(ROOT / "tools/lib/mutate/mutant.hpp"), f"-I{work / 'include'}"]
subprocess.run(common + [work / "mutated", *mutated], check=True)
right = output([work / "plain"])
faults = 0
if output([work / "mutated"]) != right:
    print("without a mutant the program does something else")
    faults += 1
for line in expected.splitlines():
    number = line.split(":")[0]
    if output([work / "mutated"], end_if_endless, RONDO_MUTANT=number) == right:
        print(f"nothing changes by {line}")
        faults += 1
reached = work / "reached"
output([work / "mutated"], RONDO_MUTANT="-1", RONDO_MUTANTS_REACHED=str(reached))
if len(reached.read_text().split("\t")[-1].split()) != len(expected.splitlines()):
    print("the mutants that are reached are", reached.read_text())
    faults += 1
print(f"{len(expected.splitlines())} mutants")
sys.exit(faults != 0)
