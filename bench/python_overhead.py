#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
"""What a round costs Python itself: three arrays of 16 floats, one task, next to NumPy's own z = x + y.

Prints the median over repeated measurements, in µs per round, with the fastest and slowest. Three arrays so small that
copies and kernel hardly count; `null` copies and computes nothing."""

import sys
import time

import numpy as np

import rondo
import rondo_kernels  # noqa: F401  registers add

ROUNDS, REPEATS = 20_000, 21


def measure(call):
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter_ns()
        for _ in range(ROUNDS):
            call()
        times.append((time.perf_counter_ns() - start) / ROUNDS / 1000)
    return sorted(times)


def main():
    x, y, z = (np.ones(16, np.float32) for _ in range(3))
    cases = {"an empty Python function": lambda: None, "numpy.add(x, y, out=z)": lambda: np.add(x, y, out=z)}
    for platform in "null", "a2a3_sim":
        graph = rondo.Graph()
        tensors = [graph.input(n, np.float32, 16) for n in "xy"] + [graph.output("z", np.float32, 16)]
        graph.add("add", *tensors)
        session = rondo.Session(graph, platform)
        binding = session.bind(x=x, y=y, z=z)

        def steps(session=session, binding=binding):
            session.initialize_round(binding)
            session.launch()
            session.finalize_round()

        cases[f"{platform}: session.run_round(x=x, y=y, z=z)"] = lambda s=session: s.run_round(x=x, y=y, z=z)
        cases[f"{platform}: binding.run_round()"] = binding.run_round
        cases[f"{platform}: initialize, launch, finalize"] = steps
    print(f"{'µs per round':<48}{'median':>8}{'min':>8}{'max':>8}")
    for name, call in cases.items():
        times = measure(call)
        print(f"{name:<48}{times[len(times) // 2]:>8.2f}{times[0]:>8.2f}{times[-1]:>8.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
