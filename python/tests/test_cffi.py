# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
"""Functions of libraries that cffi opened, as kernels."""

import os
import pathlib
import unittest

import cffi
import numpy as np

import rondo

LIBRARY = pathlib.Path(os.environ["RONDO_PYTHON_LIB"]) / "libc_kernels.so"


class CffiTest(unittest.TestCase):
    def test_a_function_pointer_of_cffi_is_a_function_of_c(self):
        ffi = cffi.FFI()
        ffi.cdef("void c_saxpy(int64_t* words);")
        library = ffi.dlopen(str(LIBRARY))
        kernel = rondo.kernel("x: in f32[n], y: inout f32[n], a: f32", ffi.addressof(library, "c_saxpy"), name="saxpy")
        graph = rondo.Graph()
        x, y = graph.declare("x: in f32[4], y: inout f32[4]")
        graph.add(kernel, x, y, 2.0)
        session = rondo.Session(graph, "a2a3_sim")
        result = np.zeros(4, np.float32)
        session.run_round(x=np.arange(4, dtype=np.float32), y=result)
        self.assertEqual(result.tolist(), [0, 2, 4, 6])


if __name__ == "__main__":
    unittest.main()
