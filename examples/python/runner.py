#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a case for many rounds, compares each with a golden function, and says what a round took on the host.

    runner.py CASE [--rounds N] [--platform NAME] [--seed N]

A case is a Python file with three functions:

    graph()                 the rondo.Graph to run
    refill(arrays, random)  puts new values into the arrays of inputs and inouts, by tensor name, in place
    golden(arrays)          what outputs and inouts hold after the round: arrays by tensor name, from those before it

and may set RTOL and ATOL (default 1e-5 and 1e-6). The modules `rondo` and the case's kernels are on PYTHONPATH.
"""

import argparse
import importlib.util
import sys
import time

import numpy as np

import rondo

# The types that NumPy lacks are bound as their bits.
BITS = {"bfloat16": "uint16", "fp8e4m3fn": "uint8", "fp8e8m0": "uint8", "fp4e2m1": "uint8"}
PHASES = ("initialize_round", "launch", "finalize_round")


def load(path):
    spec = importlib.util.spec_from_file_location("case", path)
    case = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(case)
    return case


def make_arrays(graph):
    """An array of zeros for each tensor that rounds bind; and which of them a round writes."""
    bound = [t for t in graph.tensors if t.direction in ("in", "out", "inout", "host_input")]
    arrays = {t.name: np.zeros(t.shape, BITS.get(t.dtype, t.dtype)) for t in bound}
    return arrays, [t.name for t in bound if t.direction in ("out", "inout")]


def first_difference(name, device, golden, rtol, atol):
    """Where an array is not what it should be, as a sentence; None if it is."""
    golden = np.asarray(golden)
    if golden.shape != device.shape:
        return f"{name}: the golden function gives shape {golden.shape}, the tensor has {device.shape}"
    differs = ~np.isclose(device, golden, rtol=rtol, atol=atol, equal_nan=True)
    if not differs.any():
        return None
    where = tuple(int(i) for i in np.argwhere(differs)[0])
    return (
        f"{name} differs at {where}: {device[where]:g} device, {golden[where]:g} golden"
        f" ({int(differs.sum())} of {device.size} elements differ)"
    )


def run(case, rounds, platform="a2a3_sim", seed=1):
    """Runs the rounds. Returns the time of each phase in ns, an array of rounds by phases, and the first difference."""
    rtol, atol = getattr(case, "RTOL", 1e-5), getattr(case, "ATOL", 1e-6)
    graph = case.graph()
    arrays, written = make_arrays(graph)
    random = np.random.default_rng(seed)
    times = np.zeros((rounds, len(PHASES)), np.int64)
    clock = time.perf_counter_ns
    with rondo.Session(graph, platform) as session:
        binding = session.bind(**arrays)
        for number in range(rounds):
            case.refill(arrays, random)
            golden = case.golden({name: array.copy() for name, array in arrays.items()})
            start = clock()
            session.initialize_round(binding)
            initialized = clock()
            session.launch()
            launched = clock()
            session.finalize_round()
            times[number] = initialized - start, launched - initialized, clock() - launched
            for name in written:
                if name not in golden:
                    return times[: number + 1], f"the golden function says nothing of {name}"
                difference = first_difference(name, arrays[name], golden[name], rtol, atol)
                if difference is not None:
                    return times[: number + 1], f"round {number}: {difference}"
    return times, None


def table(times):
    """Median, mean without the outer tenth on each side, and 99th percentile of each phase, in microseconds."""
    lines = [f"{'host time, µs':<18}{'median':>10}{'trimmed mean':>14}{'p99':>10}"]
    for name, column in zip(PHASES + ("round",), np.vstack([times.T, times.sum(axis=1)])):
        ordered = np.sort(column) / 1000
        cut = len(ordered) // 10
        trimmed = ordered[cut : len(ordered) - cut].mean()
        lines.append(f"{name:<18}{np.median(ordered):>10.2f}{trimmed:>14.2f}{np.percentile(ordered, 99):>10.2f}")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("case", help="a Python file with graph(), refill() and golden()")
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--platform", choices=rondo.platforms, default="a2a3_sim")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("--rounds: at least 1")
    try:
        times, difference = run(load(options.case), options.rounds, options.platform, options.seed)
    except rondo.Error as error:
        print(f"{error.code.name}: {error}", file=sys.stderr)
        return 1
    print(table(times))
    if difference is not None:
        print(difference)
        return 1
    print(f"{options.rounds} rounds on {options.platform}, each as the golden function says")
    return 0


if __name__ == "__main__":
    sys.exit(main())
