#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
#   tile sizes ─▶ [ source of C++ ─▶ compiler ] ─▶ library ─▶ [ a, b ─▶ matmul ─▶ c, checked ] ─▶ time of a round
"""Finds the tile of a matrix product that is fastest: writes a C++ kernel for each, compiles them while others are
timed, and compares each result with NumPy."""
import argparse
import ctypes
import itertools
import pathlib
import subprocess
import tempfile

import numpy as np

import rondo

SIZE = 128
SOURCE = """
#include <cstdint>
extern "C" void matmul(std::int64_t* args) {{
  const float* a = reinterpret_cast<const float*>(args[0]);
  const float* b = reinterpret_cast<const float*>(args[1]);
  float* c = reinterpret_cast<float*>(args[2]);
  constexpr int n = {n}, rows = {rows}, depth = {depth};
  for (int i = 0; i < n * n; ++i) c[i] = 0;
  for (int k0 = 0; k0 < n; k0 += depth)
    for (int i0 = 0; i0 < n; i0 += rows)
      for (int k = k0; k < k0 + depth; ++k)
        for (int i = i0; i < i0 + rows; ++i)
          for (int j = 0; j < n; ++j) c[i * n + j] += a[i * n + k] * b[k * n + j];
}}
"""


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--platform", default="a2a3_sim")
    options.add_argument("--log", help="a file of records; another run with it goes on from there")
    options.add_argument("--compiler", default="c++")
    options.add_argument("--progress", action="store_true")
    options = options.parse_args()
    folder = tempfile.TemporaryDirectory()

    def build(tile):
        stem = pathlib.Path(folder.name, "matmul_{rows}_{depth}".format(**tile))
        stem.with_suffix(".cpp").write_text(SOURCE.format(n=SIZE, **tile), encoding="utf-8")
        command = [options.compiler, "-O2", "-shared", "-fPIC", "-o", stem.with_suffix(".so"), stem.with_suffix(".cpp")]
        subprocess.run(command, check=True, capture_output=True)
        return str(stem.with_suffix(".so"))

    a, b = np.random.default_rng(1).standard_normal((2, SIZE, SIZE), np.float32)
    signature = f"a: in f32[{SIZE}, {SIZE}], b: in f32[{SIZE}, {SIZE}], c: out f32[{SIZE}, {SIZE}]"

    def run(library):
        graph = rondo.Graph()
        graph.add(rondo.kernel(signature, ctypes.CDLL(library).matmul, core="cube"), *graph.declare(signature))
        c = np.empty((SIZE, SIZE), np.float32)
        binding = rondo.Session(graph, options.platform).bind(a=a, b=b, c=c)
        binding.run_round()
        assert np.allclose(c, a @ b, atol=1e-3), "the product differs from NumPy's"
        return binding.run_round

    tiles = [{"rows": rows, "depth": depth} for rows, depth in itertools.product((1, 8, 32, SIZE), (1, 8, SIZE))]
    found = rondo.measure(tiles, build=build, run=run, repeat=3, min_repeat_ms=5, log=options.log, task=f"matmul {SIZE}",
                          progress=options.progress)
    for m in sorted(found, key=lambda m: m.best):
        print(f"{m.candidate}: " + (f"{m.best * 1e6:.0f} µs" if m.ok else f"{m.fault}: {m.text}"))
    print(f"{sum(m.ok for m in found)} of {len(tiles)} tiles measured")


if __name__ == "__main__":
    main()
