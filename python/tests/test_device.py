# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
"""Device memory of other libraries, on the stand-in for CUDA's driver."""

import ctypes
import gc
import os
import pathlib
import struct
import tempfile
import unittest

import numpy as np

import rondo

os.environ["RONDO_CUDA_LIBRARY"] = os.environ["RONDO_CUDA_STAND_IN"]


class Tensor(ctypes.Structure):
    """A DLManagedTensor."""

    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.c_void_p), ("offset", ctypes.c_uint64),
                ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


@ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_int64))
def copy(words):
    ctypes.memmove(words[1], words[0], 16)


class DeviceTest(unittest.TestCase):
    def setUp(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "kernels"
            address = ctypes.cast(copy, ctypes.c_void_p).value
            file.write_bytes(struct.pack("<32sQ112sQQ", b"rondo-cuda-stand-in-module\n", 1, b"copy", address, 32))
            graph = rondo.Graph()
            x, y = graph.declare("x: in f32[4], y: out f32[4]")
            graph.keep(x)
            graph.add(rondo.kernel("x: in f32[n], y: out f32[n]", None, name="copy"), x, y)
            self.session = rondo.Session(graph, "cuda", kernel_files=[str(file)])
            self.pipelined = rondo.Session(graph, "cuda", kernel_files=[str(file)], in_flight=2)
        self.addCleanup(self.session.close)
        self.addCleanup(self.pipelined.close)
        self.driver, address = ctypes.CDLL(os.environ["RONDO_CUDA_LIBRARY"]), ctypes.c_uint64()
        context, stream = ctypes.c_void_p(), ctypes.c_void_p()
        self.ask("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        self.ask("cuCtxSetCurrent", context)
        self.ask("cuStreamCreateWithPriority", ctypes.byref(stream), 1, 0)
        self.ask("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(16))
        self.values = np.arange(4, dtype=np.float32)
        self.ask("cuMemcpyHtoDAsync_v2", address, ctypes.c_void_p(self.values.ctypes.data), ctypes.c_size_t(16), stream)
        self.ask("cuStreamSynchronize", stream)
        self.address, self.lent, self.released = address.value, [], 0

    def ask(self, name, *arguments):
        self.assertEqual(getattr(self.driver, name)(*arguments), 0, name)

    def capsule(self):
        """The memory as another library lends it; `released` counts how often it was given back."""

        @ctypes.CFUNCTYPE(None, ctypes.c_void_p)
        def release(_):
            self.released += 1

        shape = (ctypes.c_int64 * 1)(4)
        tensor = Tensor(self.address, 2, 0, 1, 2, 32, 1, shape, None, 0, None, ctypes.cast(release, ctypes.c_void_p))
        self.lent.append((release, shape, tensor))
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(ctypes.addressof(tensor), b"dltensor", None)

    def check_held(self, session, y):
        """A round reads the memory that was lent, which was not given back."""
        y[:] = 0
        session.run_round(x=np.zeros(4, np.float32), y=y)
        gc.collect()
        self.assertEqual((y.tolist(), self.released), (self.values.tolist(), 0))

    def test_what_another_library_lent_is_kept_while_it_is_held(self):
        session, y = self.session, np.zeros(4, np.float32)

        def step_by_step():
            session.initialize_round(x=self.capsule(), y=y)
            session.launch()
            session.finalize_round()

        for run in (lambda: session.run_round(x=self.capsule(), y=y), step_by_step,
                    lambda: session.bind(x=self.capsule(), y=y).run_round(),
                    lambda: session.submit(x=self.capsule(), y=y).wait()):
            self.released = 0
            run()
            session.hold("x")
            self.check_held(session, y)
            self.check_held(session, y)
            session.release_hold("x")
            session.run_round(x=np.zeros(4, np.float32), y=y)
            self.assertEqual(self.released, 1)

    def test_a_held_input_is_kept_however_the_round_before_ended(self):
        y, zeros = np.zeros(4, np.float32), np.zeros(4, np.float32)

        def check(session):
            self.check_held(session, y)
            session.release_hold("x")
            session.run_round(x=zeros, y=y)
            self.released = 0

        with self.subTest("another round was in flight"):
            self.pipelined.submit(x=zeros, y=y)
            self.pipelined.run_round(x=self.capsule(), y=np.zeros(4, np.float32))
            self.pipelined.hold("x")
            check(self.pipelined)
        with self.subTest("the hold was released and begun again"):
            self.session.run_round(x=self.capsule(), y=y)
            self.session.hold("x")
            self.session.release_hold("x")
            self.session.hold("x")
            check(self.session)
        with self.subTest("another round was refused"):
            self.session.run_round(x=self.capsule(), y=y)
            with self.assertRaises(rondo.Error):
                self.session.run_round(x=self.capsule(), y=self.capsule())
            self.released = 0
            self.session.hold("x")
            check(self.session)

    def test_what_another_library_lent_is_given_back_after_the_next_round(self):
        session, y = self.session, np.zeros(4, np.float32)
        session.run_round(x=self.capsule(), y=y)
        session.run_round(x=self.values, y=y)
        self.assertEqual(self.released, 1)
        session.run_round(x=self.capsule(), y=y)
        session.hold("x")
        self.assertEqual(self.released, 1)
        session.close()
        self.assertEqual(self.released, 2)


if __name__ == "__main__":
    unittest.main()
