# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
"""y += 2 x: an inout keeps from round to round what the host array holds."""

import numpy as np

import rondo
import rondo_kernels  # noqa: F401  registers saxpy

SIZE = 1024


def graph():
    graph = rondo.Graph()
    x = graph.input("x", np.float32, (SIZE,))
    y = graph.inout("y", np.float32, (SIZE,))
    graph.add("saxpy", x, y, 2.0)
    return graph


def refill(arrays, random):
    arrays["x"][:] = random.standard_normal(SIZE, np.float32)


def golden(arrays):
    return {"y": arrays["y"] + np.float32(2) * arrays["x"]}
