#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
"""replay_failures.py <program of tests> [option of it]...

Runs the program with one seed after the other until it has failed ten times. Each failure must print its seed, and the
seed must give the same output ten times. The options choose the test cases; unless told, the one of random_test.cpp that is
there to fail."""
import os
import random
import re
import subprocess
import sys

PROGRAM, OPTIONS = sys.argv[1], sys.argv[2:] or ["--no-skip", "--test-case=A failure of random numbers"]


def run(seed):
    environment = {k: v for k, v in os.environ.items() if k != "RONDO_SEED"} | ({} if seed is None else {"RONDO_SEED": str(seed)})
    done = subprocess.run([PROGRAM, *OPTIONS], capture_output=True, text=True, env=environment)
    return done.returncode, done.stdout


seeds = random.Random(int(os.environ.get("RONDO_SEED", "1"), 0))
failures, passes = 0, 0
for _ in range(200):
    code, output = run(seeds.getrandbits(64))
    if code == 0:
        passes += 1
        continue
    printed = re.findall(r"RONDO_SEED=(\d+)$", output, re.M)
    if not printed:
        sys.exit(f"a failure does not print its seed:\n{output}")
    for replay in range(10):
        if run(printed[0]) != (code, output):
            sys.exit(f"replay {replay} of seed {printed[0]} differs from\n{output}")
    failures += 1
    if failures == 10:
        break
if failures < 10:
    sys.exit(f"only {failures} seeds failed of {failures + passes}")
if not sys.argv[2:] and passes == 0:
    sys.exit("each seed fails, so the seed does not matter")
if run(None) != run(0):
    sys.exit("without RONDO_SEED the program does not what it does with seed 0")
if run("7x")[0] == 0:
    sys.exit("a seed that is no number is accepted")
print(f"{failures} failures, each replayed 10 times of 10; {passes} seeds passed")
