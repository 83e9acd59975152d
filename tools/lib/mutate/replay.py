#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
"""tools/replay_mutants [option]...

Checks that failures of random tests replay. Breaks the code at each of the places listed in tools/lib/mutate/replay.py,
one at a time, and runs a random test with one seed after another until it fails. The failure must print its seed, and
ten further runs with that seed must fail in the same way: at the same check after as many assertions, with the same
values, or with the same report of AddressSanitizer or UBSan. Without the fault, the test must pass with that seed. With
some other seed, the broken code must pass or fail in another way, so that the failure is one of random numbers. Prints
a line for each place: how often the failure came again, the place, the test, the seed.

  --only TEXT     only places whose header or test contains TEXT
  --list          check that the headers contain the texts of all places, and stop
  --seed S        the seed of the random choice of seeds; default 1
  --jobs N        the number of programs that are compiled at once; default the number of cores
  --folder F      the build folder; default build/replay_mutants"""
import argparse
import os
import random
import re
import shutil
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import mutate

TESTS = mutate.ROOT / "tests"
REPLAYS, SEEDS, LIMIT_S = 10, 20, 120

# The header, its text, the wrong text in its place, the test, its cases. The texts are expressions or statements.
PLACES = [
    ("search/skyline.hpp", "std::max(highest_[2 * node], highest_[2 * node + 1])", "highest_[2 * node]", "unit/search/skyline", "*"),
    ("tensor/strided_layout_impl.hpp", "row_.apart -= layout_.extents_[d] * layout_.strides_[d];", "row_.apart -= (layout_.extents_[d] - 1) * layout_.strides_[d];",
     "unit/tensor/strided_layout", "Random*"),
    ("graph/connect_lanes.hpp", "lanes.place[other] < known[lanes.lane_of[other]]", "lanes.place[other] <= known[lanes.lane_of[other]]",
     "unit/graph/deal", "*random*"),
    ("update/detail/pieces.hpp", "remove(best, best + 1);", "remove(best - 1, best);", "unit/update/segments", "Pieces*"),
    ("platform/sim/schedule.hpp", "done_at[p] + (runs_on[p] == t ? 0 : costs.across_threads)", "done_at[p]", "unit/platform/sim/schedule", "*"),
    ("memory/detail/lane_conflicts.hpp", "u + 1 == users.size() || !lanes.precedes(users[u], users[u + 1])", "u + 1 == users.size()",
     "unit/memory/lifetimes", "*random*"),
    ("args/detail/pattern_reader.hpp", "number > (limit - digit) / 10", "number > limit / 10", "unit/args/parse", "any bytes*,formats are*"),
    ("launch/launch_cache.hpp", "from_home < from_hole", "from_home == 0", "unit/launch/launch_cache", "*reference*"),
    ("update/detail/deferred_bases.hpp", "now_[range.end - 1] == on_device_[range.end - 1]", "true", "onboard/refresh", "After any*"),
    ("graph/play_lanes.hpp", "std::max(lane, after == Lanes::none ? 0.0 : ended[after]) + wait_ns",
     "std::max(lane, after == Lanes::none ? 0.0 : ended[after])", "onboard/streams", "No round*"),
    ("memory/uses.hpp", "!spans(token, l)", "true", "conformance/loops", "Random loops*"),
    ("session/recoverable.hpp", "rounds() > checkpoints_[1 - last_].rounds", "true", "conformance/recovery", "Rounds that fail*"),
]  # fmt: skip


def write_broken_headers(overlay):
    """Writes the headers with both texts below `overlay`; the environment chooses the place whose wrong text counts."""
    texts = {}
    for number, (header, right, wrong, _, _) in enumerate(PLACES):
        text = texts.setdefault(header, (mutate.ROOT / "include/rondo" / header).read_text())
        if text.count(right) != 1:
            sys.exit(f"include/rondo/{header} contains the following {text.count(right)} times, not once; choose another place:\n{right}")
        both = f"if (RONDO_M({number})) {{ {wrong} }} else {{ {right} }}" if right.endswith(";") else f"(RONDO_M({number}) ? ({wrong}) : ({right}))"
        texts[header] = text.replace(right, both)
    shutil.rmtree(overlay, ignore_errors=True)
    for header, text in texts.items():
        (overlay / "rondo" / header).parent.mkdir(parents=True, exist_ok=True)
        (overlay / "rondo" / header).write_text(text)


def build(folder, tests, jobs):
    """Compiles a program for each test, with AddressSanitizer and UBSan."""
    flags = "-std=c++20 -O0 -w -fsanitize=address,undefined -fno-sanitize-recover=all -fno-sanitize=vptr -D_GLIBCXX_ASSERTIONS".split()
    flags += [f"-I{path}" for path in (folder / "include", mutate.ROOT / "include", TESTS, TESTS / "conformance", mutate.ROOT)]
    flags += ["-include", str(mutate.LIB / "mutant.hpp"), "-DRONDO_PLATFORM=a2a3_sim", f'-DRONDO_TEST_DATA_DIR="{TESTS}/data"']
    flags += ["-DDOCTEST_CONFIG_SUPER_FAST_ASSERTS", "-DFMT_SHARED", "-DRONDO_TEST_SANITIZED"]
    stand_in = [f for f in sorted((TESTS / "stand_in").glob("*.cpp")) if f.name not in mutate.OTHER_STAND_INS]
    stand_in += [mutate.ROOT / "examples/06_onboard_saxpy/device" / name for name in ("dispatch.cpp", "orchestrator.cpp")]
    commands = [[*stand_in, f"-I{TESTS}/stand_in/ascend_c", "-shared", "-fPIC", "-Wl,-Bsymbolic", "-o", folder / "libacl_rt.so"]]
    commands += [[TESTS / f"{test}_test.cpp", "-c", "-o", folder / (test.replace("/", "_") + ".o")] for test in tests]
    commands += [[TESTS / "unit/main.cpp", "-c", "-o", folder / "main.o"]]
    compiler = next(filter(shutil.which, mutate.CLANGS), mutate.CLANGS[0])

    def compile(command):
        subprocess.run([compiler, *flags, *command], check=True)

    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(compile, commands))
    for test in tests:
        program = folder / test.replace("/", "_")
        parts = [f"{program}.o", folder / "main.o", folder / "libacl_rt.so", f"-Wl,-rpath,{folder}"]
        subprocess.run([compiler, "-fsanitize=address,undefined", *parts, "-o", program, "-lfmt", "-ldl", "-lpthread"], check=True)


def run(program, cases, place, seed):
    """Whether the test passes, the way in which it fails, and what it prints."""
    environment = dict(os.environ, RONDO_MUTANT=str(place), RONDO_SEED=str(seed), TMPDIR=str(program.parent))
    child = subprocess.Popen([program, "--abort-after=1", f"--test-case={cases}"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             text=True, errors="replace", cwd=program.parent, env=environment, start_new_session=True)  # fmt: skip
    try:
        output = child.communicate(timeout=LIMIT_S)[0]
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        sys.exit(f"{program.name} has not ended after {LIMIT_S} s, with RONDO_SEED={seed} and RONDO_MUTANT={place}:\n{child.communicate()[0]}")
    way = re.findall(r"(?m)^SUMMARY: .*|^\S+:\d+:\d+: runtime error: .*", output)
    way = way or re.findall(r"(?ms)^\S+:\d+: (?:FATAL )?ERROR: .*?(?=\n\n)|^\[doctest\] assertions: [^\n]*", output)
    return child.returncode == 0, re.sub(r"0x[0-9a-f]+", "0x", "\n".join(way)), output


def replay(number, program, choice):
    """Whether each replay fails as the first failure did, and a text about it."""
    header, right, _, test, cases = PLACES[number]
    where = f"{header}: {right}, {test}_test"
    seeds = [choice.getrandbits(64) for _ in range(SEEDS)]
    for seed in seeds:
        passes, way, output = run(program, cases, number, seed)
        if not passes:
            break
    else:
        return False, f"no failure: {where}, with {SEEDS} seeds"
    where += f", RONDO_SEED={seed}"
    if f"RONDO_SEED={seed}" not in output or not way:
        return False, f"the failure prints no seed or no reason: {where}\n{output}"
    if not run(program, cases, -2, seed)[0]:
        return False, f"fails without the fault, too: {where}"
    if all(run(program, cases, number, other)[1] == way for other in reversed(seeds)):
        return False, f"fails in the same way with {SEEDS} seeds: {where}\n{way}"
    again = [run(program, cases, number, seed) for _ in range(REPLAYS)]
    others = [text for passes, other, text in again if passes or other != way]
    text = f"{REPLAYS - len(others)} of {REPLAYS}: {where}"
    return not others, text + (f"\nfirst:\n{output}\nanother time:\n{others[0]}" if others else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--folder", type=Path, default=mutate.ROOT / "build/replay_mutants")
    options = parser.parse_args()
    folder = options.folder.resolve()
    write_broken_headers(folder / "include")
    chosen = [n for n, place in enumerate(PLACES) if options.only in f"{place[0]} {place[3]}"]
    if not chosen:
        sys.exit(f"no place has {options.only} in its header or test")
    if options.list:
        mutate.say("\n".join(f"{PLACES[n][0]}: {PLACES[n][1]}, {PLACES[n][3]}_test" for n in chosen))
        return 0
    build(folder, sorted({PLACES[n][3] for n in chosen}), options.jobs)
    good = 0
    for n in chosen:
        is_good, text = replay(n, folder / PLACES[n][3].replace("/", "_"), random.Random(options.seed * 1000 + n))
        good += is_good
        mutate.say(text)
    mutate.say(f"{good} of {len(chosen)} failures of broken code came again {REPLAYS} times of {REPLAYS}")
    return 0 if good == len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main())
