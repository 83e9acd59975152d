# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
"""Functions that numba compiled, as kernels."""

import unittest

import numba
import numpy as np

import rondo


class NumbaTest(unittest.TestCase):
    def test_a_cfunc_of_numba_is_a_function_of_c(self):
        @rondo.kernel("x: in f32[n], y: inout f32[n]")
        @numba.cfunc("void(CPointer(int64))")
        def by_numba(words):
            pass

        graph = rondo.Graph()
        graph.add(by_numba, *graph.declare("x: in f32[4], y: inout f32[4]"))
        session = rondo.Session(graph, "a2a3_sim")
        y = np.zeros(4, np.float32)
        session.run_round(x=np.ones(4, np.float32), y=y)
        self.assertEqual((session.rounds, y.tolist()), (1, [0, 0, 0, 0]))


if __name__ == "__main__":
    unittest.main()
