# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
"""One layer of a network: y = max(x w, 0), the product in eight blocks."""

import numpy as np

import rondo
import rondo_kernels  # noqa: F401  registers matmul and relu


def graph():
    graph = rondo.Graph()
    x = graph.input("x", np.float32, (32, 64))
    w = graph.input("w", np.float32, (64, 16))
    product = graph.workspace("product", np.float32, (32, 16))
    y = graph.output("y", np.float32, (32, 16))
    graph.add("matmul", x, w, product, blocks=8)
    graph.add("relu", product, y)
    return graph


def refill(arrays, random):
    for name in "x", "w":
        arrays[name][:] = random.standard_normal(arrays[name].shape, np.float32)


RTOL, ATOL = 1e-4, 1e-4  # NumPy sums in another order


def golden(arrays):
    return {"y": np.maximum(arrays["x"] @ arrays["w"], 0)}
