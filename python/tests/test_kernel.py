# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels that Python brings: functions of C by their address, functions of Python, signatures."""

import ctypes
import gc
import os
import pathlib
import unittest
import warnings
import weakref

import numpy as np

import rondo

SAXPY = "x: in f32[n], y: inout f32[n], a: f32"
LIBRARY = pathlib.Path(os.environ["RONDO_PYTHON_LIB"]) / "libc_kernels.so"
WORDS = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_int64))


def saxpy_session(kernel, platform="a2a3_sim", declared="x: in f32[4], y: inout f32[4]", **options):
    graph = rondo.Graph()
    x, y = graph.declare(declared)
    graph.add(kernel, x, y, 2.0)
    return rondo.Session(graph, platform, **options)


def rounds_of(session, count=2):
    x, y = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
    for _ in range(count):
        session.run_round(x=x, y=y)
    return y.tolist()


class KernelTest(unittest.TestCase):
    def refuses(self, code, words, call, *args, **kwargs):
        with self.assertRaisesRegex(rondo.Error, words) as raised:
            call(*args, **kwargs)
        self.assertEqual(raised.exception.code, code)

    # --- functions of C

    def test_a_function_of_a_library_runs_on_every_platform_of_functions(self):
        kernel = rondo.kernel(SAXPY, ctypes.CDLL(str(LIBRARY)).c_saxpy, name="saxpy")
        for platform, missing in rondo.platforms().items():
            if missing is None and platform not in ("null", "cuda") and not platform.endswith("_onboard"):
                with self.subTest(platform):
                    self.assertEqual(rounds_of(saxpy_session(kernel, platform)), [0, 4, 8, 12])

    def test_an_address_and_a_callback_of_ctypes_are_functions_of_c(self):
        library = ctypes.CDLL(str(LIBRARY))
        address = ctypes.cast(library.c_saxpy, ctypes.c_void_p).value
        self.assertEqual(rounds_of(saxpy_session(rondo.kernel(SAXPY, address, name="saxpy"))), [0, 4, 8, 12])
        with self.assertRaisesRegex(TypeError, "pass name="):
            rondo.kernel(SAXPY, address)

        def body(words):
            y = np.ctypeslib.as_array(ctypes.cast(words[1], ctypes.POINTER(ctypes.c_float)), (words[4],))
            y += 1

        kernel = rondo.kernel(SAXPY, WORDS(body), name="add_one")  # lives as long as the kernel is used
        session = saxpy_session(kernel)
        del kernel
        gc.collect()
        self.assertEqual(rounds_of(session), [2, 2, 2, 2])

    def test_what_has_an_address_as_a_cfunc_of_numba_has_is_a_function_of_c(self):
        class Compiled:
            address = ctypes.cast(ctypes.CDLL(str(LIBRARY)).c_saxpy, ctypes.c_void_p).value
            __name__ = "compiled"

        self.assertEqual(rounds_of(saxpy_session(rondo.kernel(SAXPY)(Compiled()))), [0, 4, 8, 12])

    def test_a_kernel_of_devices_alone_is_refused_elsewhere(self):
        for function in None, WORDS():  # the latter is a null pointer
            kernel = rondo.kernel(SAXPY, function, name="saxpy", quiet=True)
            self.refuses(rondo.Errc.invalid_argument, "'saxpy' has no function", saxpy_session, kernel)

    # --- functions of Python

    def test_a_decorated_function_may_have_another_name(self):
        @rondo.kernel(SAXPY, name="saxpy", quiet=True)
        def body(x, y, a):
            y += a * x

        self.assertEqual(body.name, "saxpy")
        self.assertEqual(rounds_of(saxpy_session(body)), [0, 4, 8, 12])

    def test_a_function_of_python_takes_arrays_numbers_and_its_block(self):
        seen = []

        @rondo.kernel("x: in f32[r, c], b: block, y: out bf16[n], i: i8, u: u64, d: f64, t: bool", quiet=True)
        def look(x, b, y, *scalars):
            seen.append((x.shape, x.flags.writeable, b, y.dtype, y.shape, scalars))
            y[:] = 7

        graph = rondo.Graph()
        x, y = graph.declare("x: in f32[2, 3], y: out bf16[2, 2]")
        graph.add(look, x, y, -3, 2**64 - 1, 0.5, True, blocks=2)
        out = np.zeros((2, 2), np.uint16)
        rondo.Session(graph).run_round(x=np.zeros((2, 3), np.float32), y=out)
        expected = ((2, 3), False, np.dtype("u2"), (4,), (-3, 2**64 - 1, 0.5, True))
        self.assertEqual([s[:2] + s[3:] for s in seen], [expected] * 2)
        self.assertEqual(sorted(s[2] for s in seen), [(0, 2), (1, 2)])
        self.assertEqual(out.tolist(), [[7, 7], [7, 7]])

    def test_tensors_hold_any_type_of_numpy(self):
        def square(x, y):
            y[:] = x * x

        for declared, dtype in ("f64", np.float64), ("c64", np.complex64), ("complex128", np.complex128), ("bool", np.bool_):
            kernel = rondo.kernel(f"x: in {declared}[n], y: out {declared}[n]", square, name="square", quiet=True)
            graph = rondo.Graph()
            x, y = graph.declare(f"x: in {declared}[3], y: out {declared}[3]")
            graph.add(kernel, x, y)
            numbers, squares = np.array([1, 2j, 3 - 1j]).astype(dtype), np.zeros(3, dtype)
            rondo.Session(graph, "host").run_round(x=numbers, y=squares)
            np.testing.assert_array_equal(squares, numbers * numbers)
            if dtype in (np.float64, np.complex128):
                self.refuses(rondo.Errc.unsupported, "'x' is (float64|complex128)", rondo.Session, graph, "a2a3_sim")
            else:
                rondo.Session(graph, "a2a3_sim").run_round(x=numbers if dtype == np.bool_ else numbers.__dlpack__(), y=squares)
        self.refuses(
            rondo.Errc.invalid_argument, "no scalar has this type", rondo.kernel, "y: out f32[n], a: c64", None, name="k"
        )

    def test_a_function_of_python_warns_once_that_it_is_slow(self):
        def saxpy(x, y, a):
            y += a * x

        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            kernel = rondo.kernel(SAXPY)(saxpy)
            rounds_of(saxpy_session(kernel))
        self.assertEqual(len(caught), 1)
        self.assertIn("'saxpy' is a function of Python, which is slow", str(caught[0].message))
        self.assertEqual(caught[0].filename, __file__)
        for platform in "a2a3_sim_pool", "host_pool", "a5_sim_checked", "a2a3_sim_model":
            self.assertEqual(rounds_of(saxpy_session(kernel, platform)), [0, 4, 8, 12])

    def test_an_exception_of_a_kernel_is_raised_by_the_round_and_poisons_the_session(self):
        @rondo.kernel(SAXPY, quiet=True)
        def moody(x, y, a):
            if x[0] < 0:
                raise ZeroDivisionError("x[0] is negative")
            y += a * x

        for platform in "a2a3_sim", "a2a3_sim_pool":
            session = saxpy_session(moody, platform)
            self.assertEqual(rounds_of(session), [0, 4, 8, 12])
            bad = np.full(4, -1, np.float32)
            frames = []
            try:
                session.run_round(x=bad, y=np.zeros(4, np.float32))
            except ZeroDivisionError as error:
                trace = error.__traceback__
                while trace is not None:
                    frames.append(trace.tb_frame.f_code.co_name)
                    trace = trace.tb_next
            self.assertIn("moody", frames)  # where it was raised is shown
            self.assertTrue(session.poisoned)
            self.refuses(rondo.Errc.poisoned, "earlier failure", rounds_of, session)
            session.close()
        flying = saxpy_session(moody, in_flight=2)
        ticket = flying.submit(x=np.full(4, -1, np.float32), y=np.zeros(4, np.float32))
        self.assertRaises(ZeroDivisionError, ticket.wait)

    def test_an_exception_is_raised_by_its_own_round_or_not_at_all(self):
        @rondo.kernel(SAXPY, quiet=True)
        def moody(x, y, a):
            if x[0] != 0:
                raise ValueError(f"x[0] is {x[0]:g}")

        def failing(number):
            return {"x": np.full(4, number, np.float32), "y": np.zeros(4, np.float32)}

        # The failure of one session was told to nobody.
        with self.assertRaises(KeyError):
            with saxpy_session(moody, in_flight=2) as first:
                first.submit(**failing(1))
                raise KeyError("left")
        left = saxpy_session(moody, in_flight=2)
        left.submit(**failing(2))
        del left
        session = saxpy_session(moody)
        self.refuses(rondo.Errc.wrong_size, "'x'", session.run_round, x=np.ones(3, np.float32), y=np.zeros(4, np.float32))
        with self.assertRaisesRegex(ValueError, "x.0. is 3"):
            session.run_round(**failing(3))
        # A session that fails for another reason does not take the exception of one that failed before.
        waiting = saxpy_session(moody, in_flight=2)
        ticket = waiting.submit(**failing(4))
        while not ticket.done:
            pass
        other = saxpy_session(moody)
        other.request_stop()
        self.refuses(rondo.Errc.stopped, "a stop was requested", other.run_round, **failing(5))
        # Nor does one that fails at the same kernel, or is closed.
        alike = saxpy_session(moody)
        with self.assertRaisesRegex(ValueError, "x.0. is 6"):
            alike.run_round(**failing(6))
        alike.close()
        with self.assertRaisesRegex(ValueError, "x.0. is 4"):
            ticket.wait()

    def test_an_exception_nobody_asks_for_ends_with_its_session(self):
        class Told(Exception):
            pass

        raised = []

        def failing(x, y, a):
            error = Told()
            raised.append(weakref.ref(error))
            raise error

        arrays = {"x": np.ones(4, np.float32), "y": np.zeros(4, np.float32)}
        kernel = rondo.kernel(SAXPY, failing, quiet=True)
        closed = saxpy_session(kernel, in_flight=2)
        closed.submit(**arrays)
        closed.close()
        dropped = saxpy_session(kernel, in_flight=2)
        dropped.submit(**arrays)
        del dropped
        gc.collect()
        self.assertEqual([alive() for alive in raised], [None, None])
        # A name that leaves the text of the failure no room does not hide the exception.
        long = rondo.kernel(SAXPY, failing, name="k" * 300, quiet=True)
        self.assertRaises(Told, saxpy_session(long).run_round, **arrays)

    def test_a_kernel_lives_as_long_as_its_session_and_no_longer(self):
        def saxpy(x, y, a):
            y += a * x

        alive = weakref.ref(saxpy)
        session = saxpy_session(rondo.kernel(SAXPY, saxpy, quiet=True))
        del saxpy
        gc.collect()
        self.assertEqual(rounds_of(session), [0, 4, 8, 12])
        del session
        gc.collect()
        self.assertIsNone(alive())

    # --- signatures

    def test_a_signature_that_does_not_parse_is_shown_with_a_caret_under_the_place(self):
        with self.assertRaises(rondo.Error) as raised:
            rondo.kernel("x: in f32[n], y: inout f32[n, a: f32", print, name="k")
        lines = str(raised.exception).split("\n")
        self.assertEqual(lines[0], "the signature of kernel 'k': expected a comma, or ] after the last extent")
        self.assertEqual(lines[1], "  x: in f32[n], y: inout f32[n, a: f32")
        self.assertEqual(lines[2].index("^"), lines[1].index(": f32"))
        graph = rondo.Graph()
        self.refuses(rondo.Errc.invalid_argument, "a graph's tensor is in, out", graph.declare, "a: f32")

    def test_arguments_are_checked_against_the_signature(self):
        kernel = rondo.kernel(SAXPY, lambda x, y, a: None, name="saxpy", quiet=True)
        graph = rondo.Graph()
        x, y, z, i = graph.declare("x: in f32[4], y: inout f32[4], z: inout f32[5], i: inout i32[4]")
        invalid = rondo.Errc.invalid_argument
        self.refuses(rondo.Errc.wrong_size, "n is 4 in 'x' and 5 in 'y'", graph.add, kernel, x, z, 1.0)
        self.refuses(invalid, "takes float32 as argument 1, and tensor 'i' holds int32", graph.add, kernel, x, i, 1.0)
        double = rondo.kernel("x: in f32[n], y: out f32[2 * n]", lambda x, y: None, name="double", quiet=True)
        self.refuses(rondo.Errc.wrong_size, "takes 'y' with extent 8 in dimension 0, and the tensor has 5", graph.add, double, x, z)
        self.refuses(invalid, "'x' is an input", graph.add, kernel, y, x, 1.0)
        self.refuses(invalid, "takes 3 arguments", graph.add, kernel, x, y)
        self.refuses(invalid, "does not fit", graph.add, kernel, x, y, 1e300)
        for wrong in print, 7, None:
            with self.assertRaisesRegex(TypeError, "takes a kernel made by rondo.kernel"):
                graph.add(wrong, x, y, 1.0)
        self.refuses(invalid, "'vector' or a 'cube' core", rondo.kernel, SAXPY, print, name="k", core="scalar", quiet=True)
        with self.assertRaisesRegex(TypeError, "a callable or the address"):
            rondo.kernel(SAXPY, "saxpy", name="k", quiet=True)
        self.assertEqual(len(graph), 0)


if __name__ == "__main__":
    unittest.main()
