# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
"""Rounds from Python: what is bound, what is refused, who waits, what stays alive."""

import ctypes
import gc
import subprocess
import sys
import threading
import unittest
import weakref

import numpy as np

import rondo
import rondo_kernels  # noqa: F401  registers its kernels
import rondo_test_kernels as kernels


def add_session(shape=(4,), platform="a2a3_sim", **options):
    graph = rondo.Graph()
    x = graph.input("x", np.float32, shape)
    y = graph.input("y", np.float32, shape)
    z = graph.output("z", np.float32, shape)
    graph.add("add", x, y, z)
    return rondo.Session(graph, platform, **options)


def floats(*values):
    return np.array(values, np.float32)


def in_thread(call):
    """Starts call() in a thread; joining it returns what it raised, or None."""

    class Thread(threading.Thread):
        error = None

        def run(self):
            try:
                call()
            except Exception as error:  # noqa: BLE001  handed to the test
                self.error = error

        def ended(self):
            self.join(20)
            assert not self.is_alive()
            return self.error

    thread = Thread()
    thread.start()
    return thread


class SessionTest(unittest.TestCase):
    def refuses(self, code, words, call, *args, **kwargs):
        with self.assertRaisesRegex(rondo.Error, words) as raised:
            call(*args, **kwargs)
        self.assertEqual(raised.exception.code, code)

    # --- loops

    def test_a_loop_repeats_until_its_tasks_end_it(self):
        @rondo.kernel("x: in i32[n], count: inout i32[n], done: out i32[n]", quiet=True)
        def until(x, count, done):
            count += 1
            done[0] = count[0] == x[0]

        graph = rondo.Graph()
        x, count, done = graph.declare("x: in i32[1], count: inout i32[1], done: workspace i32[1]")
        more, flag = graph.declare("more: inout i32[1], flag: in i32[1]")

        def fails():
            graph.add(until, x, count, done)
            raise KeyError("a body that fails")

        with self.assertRaises(KeyError):
            graph.repeat_until(done, 8, fails)
        self.assertEqual(len(graph), 0)
        loop = graph.repeat_until(done, 8, lambda: graph.add(until, x, count, done))
        maybe = graph.when(flag, lambda: graph.add(until, x, more, done))
        self.assertEqual((loop, maybe, len(graph)), (1, 2, 4))
        with rondo.Session(graph) as session:
            for wanted, expected in (3, 3), (99, 8):
                n, m = np.zeros(1, np.int32), np.zeros(1, np.int32)
                session.run_round(x=np.array([wanted], np.int32), count=n, more=m, flag=np.array([wanted % 5], np.int32))
                self.assertEqual((n[0], m[0]), (expected, 1))
            session.run_round(x=np.array([1], np.int32), count=n, more=m, flag=np.zeros(1, np.int32))
            self.assertEqual(m[0], 1)
            first, second = session.explain_loops()
            self.assertEqual((first.name, first.decision, first.host_decides, first.why), ("until done", loop, False, ""))
            self.assertEqual((second.name, second.decision), ("when flag", maybe))
            self.assertIn("the device decides", repr(first))
            self.refuses(rondo.Errc.invalid_argument, "decision of a loop", session.set_scalar, loop, 0, 1)
        self.assertEqual(add_session().explain_loops(), [])

    def test_the_most_repetitions_of_a_loop_may_be_a_symbol(self):
        @rondo.kernel("x: in f32[n], y: inout f32[n], done: out i32[m]", quiet=True)
        def step(x, y, done):
            y += x
            done[0] = 0

        graph = rondo.Graph()
        x, y, done = graph.declare("x: in f32[n], y: inout f32[n], done: workspace i32[1]")
        graph.repeat_until(done, "n", lambda: graph.add(step, x, y, done))
        with rondo.Session(graph) as session:
            for n in 2, 5:
                y = np.zeros(n, np.float32)
                session.run_round(x=np.ones(n, np.float32), y=y)
                self.assertEqual(y[n - 1], n)
            self.assertEqual([loop.name for loop in session.explain_loops()], ["until done"])

    # --- rounds

    def test_a_round_reads_and_writes_the_arrays_themselves(self):
        session = add_session()
        x, y, z = floats(1, 2, 3, 4), floats(10, 20, 30, 40), np.zeros(4, np.float32)
        where = z.ctypes.data
        for n in range(10):
            x[0] = n
            session.run_round(z=z, x=x, y=y)
            self.assertEqual(z.tolist(), [10 + n, 22, 33, 44])
        self.assertEqual(z.ctypes.data, where)
        self.assertEqual(session.rounds, 10)

    def test_a_binding_is_checked_once_and_runs_on_what_its_arrays_hold(self):
        session = add_session()
        x, y, z = floats(1, 2, 3, 4), floats(10, 20, 30, 40), np.zeros(4, np.float32)
        other = np.zeros(4, np.float32)
        binding = session.bind(x=x, y=y, z=z)
        second = session.bind(x=x, y=x, z=other)
        for n in range(5):
            x[:] = n
            binding.run_round()
            session.run_round(second)
            self.assertEqual(z.tolist(), [10 + n, 20 + n, 30 + n, 40 + n])
            self.assertEqual(other.tolist(), [2 * n] * 4)
        session.run_round(x=x, y=y, z=other)
        self.assertEqual(other.tolist(), z.tolist())

    def test_a_round_step_by_step_writes_its_outputs_at_the_end(self):
        session = add_session()
        x, y, z = floats(1, 2, 3, 4), floats(10, 20, 30, 40), np.zeros(4, np.float32)
        binding = session.bind(x=x, y=y, z=z)
        for begin in (lambda: session.initialize_round(x=x, y=y, z=z)), (lambda: session.initialize_round(binding)):
            z[:] = 0
            begin()
            x += 100  # too late: the inputs are on the device
            session.launch()
            self.assertEqual(z.tolist(), [0] * 4)
            session.finalize_round()
            self.assertEqual(z.tolist(), (x - 100 + y).tolist())
        self.assertEqual(session.rounds, 2)

    def test_steps_out_of_order_are_refused_and_the_round_goes_on(self):
        session = add_session()
        x, y, z = floats(1, 2, 3, 4), floats(1, 1, 1, 1), np.zeros(4, np.float32)
        binding = session.bind(x=x, y=y, z=z)
        self.refuses(rondo.Errc.not_open, "call initialize_round", session.launch)
        self.refuses(rondo.Errc.not_open, "call initialize_round", session.finalize_round)
        session.initialize_round(x=x, y=y, z=z)
        for call in (lambda: session.initialize_round(binding)), binding.run_round:
            self.refuses(rondo.Errc.busy, "a round is under way", call)
        self.refuses(rondo.Errc.busy, "a round is under way", session.run_round, x=x, y=y, z=z)
        self.refuses(rondo.Errc.busy, "a round is under way", session.initialize_round, x=x, y=y, z=z)
        session.launch()
        self.refuses(rondo.Errc.busy, "launched already", session.launch)
        session.finalize_round()
        self.assertEqual(z.tolist(), [2, 3, 4, 5])

        session.initialize_round(binding)
        self.refuses(rondo.Errc.abandoned, "dropped before it was finished", session.finalize_round)
        binding.run_round()

    # --- what is bound

    def test_arrays_that_do_not_fit_are_refused_and_nothing_moves(self):
        session = add_session((2, 2))
        good = dict(x=np.ones((2, 2), np.float32), y=np.ones((2, 2), np.float32), z=np.zeros((2, 2), np.float32))
        read_only = np.zeros((2, 2), np.float32)
        read_only.setflags(write=False)
        overlapping = np.lib.stride_tricks.as_strided(np.zeros(4, np.float32), (2, 2), (4, 4))
        invalid, wrong_size = rondo.Errc.invalid_argument, rondo.Errc.wrong_size
        cases = [
            ("x", np.ones((2, 2)), invalid, "'x' holds float32, the array float64; convert it with astype"),
            ("y", np.ones((2, 2), np.int32), invalid, "'y' holds float32, the array int32"),
            ("x", np.ones((2, 2), ">f4"), invalid, "the array >f4"),
            ("x", np.ones(4, np.float32), wrong_size, r"'x' has shape \(2, 2\), the array \(4,\)"),
            ("z", np.ones((2, 2, 1), np.float32), wrong_size, r"the array \(2, 2, 1\)"),
            ("z", overlapping, rondo.Errc.overlapping, "'z' is written by the round, and elements of the array share"),
            ("z", read_only, invalid, "'z' is written by the round, and the array is read-only"),
        ]
        for name, array, code, words in cases:
            for call in session.run_round, session.bind, session.initialize_round:
                with self.subTest(words=words, call=call.__name__):
                    self.refuses(code, words, call, **{**good, name: array})
        self.refuses(rondo.Errc.unbound_tensor, "'y' is not bound", session.run_round, x=good["x"], z=good["z"])
        self.refuses(rondo.Errc.wrong_tensor, "called 'a'", session.run_round, **good, a=good["x"])
        for what in None, [1.0] * 4, b"0" * 16, 3:
            with self.assertRaisesRegex(TypeError, "'x' is bound to a .*; bind a NumPy array or a DLPack tensor"):
                session.run_round(**{**good, "x": what})
        with self.assertRaisesRegex(TypeError, "arrays by name, or one binding"):
            session.run_round(good["x"])
        self.assertEqual(session.rounds, 0)
        self.assertEqual(good["z"].sum(), 0)
        session.run_round(**{**good, "x": read_only})  # what is only read may be read-only
        self.assertEqual(good["z"].sum(), 4)

    def test_a_binding_of_another_session_is_refused(self):
        session, other = add_session(), add_session()
        x, z = floats(1, 2, 3, 4), np.zeros(4, np.float32)
        binding = other.bind(x=x, y=x, z=z)
        self.refuses(rondo.Errc.wrong_tensor, "another session's", session.run_round, binding)
        self.refuses(rondo.Errc.wrong_tensor, "another session's", session.initialize_round, binding)
        self.assertEqual(z.sum(), 0)

    def test_types_that_numpy_lacks_are_bound_as_their_bits(self):
        for name, dtype, array in [
            ("float16", np.float16, np.array([1.5, -2], np.float16)),
            ("bfloat16", "bfloat16", np.array([0x3FC0, 0xC000], np.uint16)),
            ("bool", np.bool_, np.array([True, False])),
            ("int64", np.int64, np.array([-(2**63), 2**63 - 1])),
        ]:
            with self.subTest(name):
                graph = rondo.Graph()
                graph.add(f"copy_{name}", graph.input("x", dtype, 2), graph.output("y", dtype, 2))
                copy = np.zeros_like(array)
                rondo.Session(graph).run_round(x=array, y=copy)
                np.testing.assert_array_equal(copy, array)
        graph = rondo.Graph()
        graph.add("copy_bfloat16", *graph.declare("x: in bf16[2], y: out bf16[2]"))
        self.refuses(
            rondo.Errc.invalid_argument, "holds bfloat16, the array float32; bind its bits as uint16",
            rondo.Session(graph).bind, x=np.zeros(2, np.float32), y=np.zeros(2, np.uint16),
        )

    def test_dlpack_tensors_are_bound_without_a_copy_and_given_back(self):
        session = add_session()
        x, y, z = floats(1, 2, 3, 4), floats(10, 20, 30, 40), np.zeros(4, np.float32)

        class Lender:
            def __init__(self, array):
                self.array = array

            def __dlpack__(self):
                return self.array.__dlpack__()

        before = sys.getrefcount(z)
        session.run_round(x=Lender(x), y=y.__dlpack__(), z=z.__dlpack__())
        self.assertEqual(z.tolist(), [11, 22, 33, 44])
        self.assertEqual(sys.getrefcount(z), before)  # the round is over, so the loan is

        binding = session.bind(x=Lender(x), y=y, z=z.__dlpack__())
        self.assertGreater(sys.getrefcount(z), before)
        x[0] = 5
        binding.run_round()
        self.assertEqual(z[0], 15)
        del binding
        self.assertEqual(sys.getrefcount(z), before)

    def test_a_dlpack_tensor_is_used_once_and_stays_whole_when_it_is_refused(self):
        session = add_session()
        x, z = floats(1, 2, 3, 4), np.zeros(4, np.float32)
        capsule = x.__dlpack__()
        self.refuses(rondo.Errc.wrong_size, r"\(4,\), the array \(2,\)", session.run_round, x=capsule, y=x, z=z[:2])
        session.run_round(x=capsule, y=x, z=z)
        self.refuses(rondo.Errc.invalid_argument, "used already", session.run_round, x=capsule, y=x, z=z)
        wrong = np.zeros(4, np.int32).__dlpack__()
        self.refuses(rondo.Errc.invalid_argument, "DLPack tensor: .* wanted is float32", session.run_round, x=wrong, y=x, z=z)
        self.assertEqual(session.rounds, 1)

    def test_a_dlpack_tensor_stays_whole_when_another_tensor_is_refused_after_it(self):
        graph = rondo.Graph()
        graph.add("add", *graph.declare("x: in f32[4], h: host_input f32[4], z: out f32[4]"))
        session, h, z = rondo.Session(graph), floats(1, 2, 3, 4), np.zeros(4, np.float32)
        lent = h.__dlpack__()
        self.refuses(rondo.Errc.unsupported, "'h'", session.run_round, x=lent, h=session.allocate("x"), z=z)
        session.run_round(x=lent, h=h, z=z)
        self.assertEqual(z.tolist(), [2, 4, 6, 8])

    def test_a_dlpack_tensor_for_two_tensors_of_a_round_is_refused_and_stays_whole(self):
        session = add_session()
        x, z = floats(1, 2, 3, 4), np.zeros(4, np.float32)
        capsule = x.__dlpack__()
        self.refuses(rondo.Errc.bound_twice, "'x' and 'y' .* one DLPack capsule", session.run_round, x=capsule, y=capsule, z=z)
        session.run_round(x=capsule, y=x, z=z)
        self.assertEqual(z.tolist(), [2, 4, 6, 8])

    def test_a_dlpack_tensor_without_a_shape_or_elements(self):
        class Tensor(ctypes.Structure):
            _fields_ = [("data", ctypes.c_void_p), ("type", ctypes.c_int32), ("id", ctypes.c_int32),
                        ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                        ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                        ("strides", ctypes.POINTER(ctypes.c_int64)), ("offset", ctypes.c_uint64),
                        ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]

        def capsule(ndim, shape):
            extents = (ctypes.c_int64 * 4)(*shape)
            tensor = Tensor(None, 1, 0, ndim, 2, 32, 1, extents if shape else None, None, 0, None, None)
            kept.append((extents, tensor))
            return new(ctypes.addressof(tensor), b"dltensor", None)

        kept = []
        graph = rondo.Graph()
        x, y = graph.declare("x: in f32[n], y: inout f32[n]")
        graph.add("saxpy", x, y, 2.0)
        session = rondo.Session(graph)
        empty = np.zeros(0, np.float32)
        self.refuses(rondo.Errc.invalid_argument, "has -1 dimensions", session.run_round, x=capsule(-1, [4]), y=empty)
        self.refuses(rondo.Errc.invalid_argument, "or none of their extents", session.run_round, x=capsule(1, []), y=empty)
        self.refuses(rondo.Errc.invalid_argument, "no memory", session.run_round, x=capsule(1, [4]), y=floats(1, 2, 3, 4))
        session.run_round(x=capsule(1, [0]), y=empty)  # as frameworks lend tensors without elements
        self.assertEqual(session.rounds, 1)

    def test_an_array_that_starts_a_round_while_it_is_bound_is_refused(self):
        session = add_session()
        x, z = floats(1, 2, 3, 4), np.zeros(4, np.float32)

        class Starts:
            def __dlpack__(self):
                session.initialize_round(x=x, y=x, z=z)
                return x.__dlpack__()

        self.refuses(rondo.Errc.busy, "a round is under way", session.run_round, x=Starts(), y=x, z=z)
        session.launch()
        session.finalize_round()
        self.assertEqual(z.tolist(), [2, 4, 6, 8])

    def test_an_array_that_runs_a_round_while_it_is_freed_disturbs_nothing(self):
        session = add_session()
        x, z = floats(1, 2, 3, 4), np.zeros(4, np.float32)
        rounds = []

        class Array(np.ndarray):
            def __del__(self):
                if type(self.base) is np.ndarray and len(rounds) < 8:
                    rounds.append(session.rounds)
                    session.run_round(x=x, y=x, z=z)

        class Lender:  # the round has the only reference to the array
            def __dlpack__(self):
                return x.copy().view(Array).__dlpack__()

        for _ in range(4):
            session.run_round(x=Lender(), y=Lender(), z=z)
            self.assertEqual(z.tolist(), [2, 4, 6, 8])
        self.assertEqual(session.rounds, 4 + len(rounds))
        self.assertEqual(len(rounds), 8)

    def test_arrays_of_any_strides_are_bound(self):
        big = np.arange(1000, dtype=np.float32)
        views = [
            big[:24].reshape(4, 6)[:, ::2],
            big[:12].reshape(3, 4).T,
            big[:12].reshape(4, 3)[::-1, ::-1],
            big[:60].reshape(5, 4, 3)[2],
            big[::7][:12].reshape(4, 3),
            np.frombuffer(b"-" + big[:12].tobytes(), np.uint8)[1:].view(np.float32).reshape(4, 3),
            np.broadcast_to(big[:3], (4, 3)),
            np.lib.stride_tricks.sliding_window_view(big[:6], 3),
            np.zeros(12, [("a", np.uint8), ("b", np.float32)])["b"].reshape(4, 3),
        ]
        for platform in "a2a3_sim", "host", "a5_sim_pool":
            session = add_session((4, 3), platform)
            resident = np.zeros((4, 3), np.float32)
            for x in views:
                for out in np.zeros((3, 4), np.float32).T, np.zeros((4, 9), np.float32)[:, ::-3], resident:
                    y = out + 1
                    session.run_round(x=x, y=y, z=out)
                    np.testing.assert_array_equal(out, x + y)
                    session.initialize_round(x=y[::-1], y=x, z=out)
                    session.launch()
                    session.finalize_round()
                    np.testing.assert_array_equal(out, x + y[::-1])
            grid, out = np.zeros((8, 6), np.float32), np.zeros((4, 3), np.float32)
            binding = session.bind(x=grid[::2, ::2].__dlpack__(), y=grid[1::2, 1::2], z=grid[::2, 1::2])
            grid[:] = 1
            for _ in range(3):
                binding.run_round()
                grid[::2, ::2] = grid[::2, 1::2]
            self.assertEqual(grid[0].tolist(), [4, 4, 4, 4, 4, 4])
            self.assertEqual(grid[1].tolist(), [1] * 6)

    def test_rounds_in_flight_write_arrays_of_any_strides_when_they_are_delivered(self):
        for platform in "a2a3_sim", "a5_sim_pool":
            session = add_session((2, 3), platform, in_flight=3)
            xs = [np.full((3, 2), i, np.float32).T for i in range(8)]
            zs = [np.zeros((2, 6), np.float32)[:, ::-2] for _ in range(8)]
            for x, z in zip(xs, zs):
                session.submit(x=x, y=x, z=z)
                x[:] = -1
            session.wait_all()
            self.assertEqual([z.tolist() for z in zs], [[[2 * i] * 3] * 2 for i in range(8)])
            total = np.ones((3, 2), np.float32).T
            binding = session.bind(x=total, y=total, z=total)
            tickets = [session.submit(binding) for _ in range(5)]
            tickets[-1].wait()
            self.assertEqual(total.tolist(), [[32] * 3] * 2)

    def test_a_resident_is_copied_from_and_into_arrays_of_any_strides(self):
        graph = rondo.Graph()
        w, y = graph.declare("w: resident f32[2, 3], y: out f32[2, 3]")
        graph.add("add", w, w, y)
        session = rondo.Session(graph)
        weights = np.arange(6, dtype=np.float32).reshape(3, 2).T
        session.upload("w", weights)
        y, back = np.zeros((2, 3), np.float32), np.zeros((4, 3), np.float32)
        session.run_round(y=y)
        np.testing.assert_array_equal(y, 2 * weights)
        session.download("w", back[::2])
        np.testing.assert_array_equal(back[::2], weights)
        self.assertEqual(back[1].tolist(), [0, 0, 0])

    def test_a_binding_says_why_memory_is_copied(self):
        graph = rondo.Graph()
        x, y, z = graph.declare("x: in f32[2, 3], y: in f32[2, 3], z: out f32[2, 3]")
        graph.add("add", x, y, z)
        session = rondo.Session(graph)
        binding = session.bind(x=np.ones((3, 2), np.float32).T, y=np.ones((2, 3), np.float32), z=session.allocate("z"))
        self.assertIn("has strides", binding.why_copied("x"))
        self.assertEqual(binding.why_copied("y"), "the memory is on the host")
        self.assertIsNone(binding.why_copied("z"))
        self.refuses(rondo.Errc.wrong_tensor, "called 'w'", binding.why_copied, "w")

    def test_tensors_are_in_memory_of_the_kind_that_the_graph_names(self):
        graph = rondo.Graph()
        w, y = graph.declare("w: resident f32[4], y: out f32[4]")
        graph.add("add", w, w, y)
        graph.in_memory(w, "mapped_host")
        plain = rondo.Graph()
        plain.add("add", plain.declare("w: resident f32[4]"), plain.tensors[0], plain.declare("y: out f32[4]"))
        session = rondo.Session(graph)
        self.assertLess(session.arena_bytes, rondo.Session(plain).arena_bytes)
        session.upload("w", floats(1, 2, 3, 4))
        result = np.zeros(4, np.float32)
        session.run_round(y=result)
        self.assertEqual(result.tolist(), [2, 4, 6, 8])
        self.refuses(rondo.Errc.invalid_argument, "no memory of the kind 'swap'", graph.in_memory, w, "swap")
        graph.in_memory(w, "huge_pages")
        self.refuses(rondo.Errc.unsupported, "host has device, mapped host", rondo.Session, graph, "host")

    def test_dlpack_memory_of_another_device_is_refused(self):
        class Tensor(ctypes.Structure):  # DLManagedTensor
            _fields_ = [
                ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.c_void_p), ("byte_offset", ctypes.c_uint64),
                ("manager", ctypes.c_void_p), ("deleter", ctypes.c_void_p),
            ]

        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        x, shape = floats(1, 2, 3, 4), (ctypes.c_int64 * 1)(4)
        for device, name in (2, "2"), (12, "12"):
            tensor = Tensor(x.ctypes.data, device, 0, 1, 2, 32, 1, shape, None, 0, None, None)
            capsule = new(ctypes.addressof(tensor), b"dltensor", None)
            self.refuses(
                rondo.Errc.invalid_argument, f"'x': the memory is on device 0 of DLPack's type {name}",
                add_session().run_round, x=capsule, y=x, z=np.zeros(4, np.float32),
            )
        tensor = Tensor(x.ctypes.data, 3, 0, 1, 2, 32, 1, shape, None, 0, None, None)  # pinned memory is the host's
        z = np.zeros(4, np.float32)
        add_session().run_round(x=new(ctypes.addressof(tensor), b"dltensor", None), y=x, z=z)
        self.assertEqual(z.tolist(), [2, 4, 6, 8])

    # --- device memory that a session allocates

    def test_rounds_bind_device_memory_that_the_session_allocated(self):
        for platform in "a2a3_sim", "host":
            with add_session(platform=platform) as session:
                x, z = session.allocate("x"), session.allocate("z")
                self.assertEqual((x.shape, x.dtype, x.nbytes), ((4,), "float32", 16))
                hx, hz = floats(1, 2, 3, 4), np.zeros(4, np.float32)
                session.upload(x, hx)
                session.run_round(x=x, y=hx, z=z)
                bound = session.bind(x=z, y=x, z=hz)
                del x, z  # the binding keeps them
                gc.collect()
                bound.run_round()
                self.assertEqual(hz.tolist(), [3, 6, 9, 12])

    def test_wrong_device_memory_is_refused_and_a_session_outlives_its_arrays(self):
        session = add_session()
        hx = floats(1, 2, 3, 4)
        self.refuses(rondo.Errc.wrong_tensor, "called 'w'", session.allocate, "w")
        self.refuses(rondo.Errc.wrong_size, "'x'.*shape", session.allocate, "x", (5,))
        x = session.allocate("x")
        self.refuses(rondo.Errc.wrong_size, r"\(3,\)", session.upload, x, floats(1, 2, 3))
        longer = add_session((5,)).allocate("x")  # keeps its session alive
        gc.collect()
        self.assertEqual(longer.nbytes, 20)
        self.refuses(rondo.Errc.wrong_size, r"\(5,\)", session.run_round, x=longer, y=hx, z=hx.copy())
        x.release()
        x.release()
        self.assertEqual(x.nbytes, 0)
        self.refuses(rondo.Errc.null_memory, "released", session.run_round, x=x, y=hx, z=hx.copy())
        for copy in session.upload, session.download:
            self.refuses(rondo.Errc.null_memory, "'x': the array was released", copy, x, hx)
        y, wrong = session.allocate("y"), rondo.Errc.wrong_tensor
        with add_session() as stranger:  # which would not notice that the array is released
            self.refuses(wrong, "'x': .* another session", stranger.run_round, x=y, y=hx, z=hx.copy())
            self.refuses(wrong, "'x': .* another session", stranger.bind, x=y, y=hx, z=hx.copy())
            self.refuses(wrong, "'y': .* another session", stranger.upload, y, hx)
            self.refuses(wrong, "'y': .* another session", stranger.download, y, hx)
        session.close()
        self.assertEqual(y.nbytes, 0)
        self.refuses(rondo.Errc.null_memory, "session closed", session.run_round, x=hx, y=y, z=hx.copy())
        self.refuses(rondo.Errc.closed, "allocate", session.allocate, "x")

    def test_a_binding_of_device_memory_that_was_released_is_refused(self):
        for platform, flights in ("a2a3_sim", 1), ("host", 1), ("host", 2):
            with add_session(platform=platform, in_flight=flights) as session:
                x, hy, hz = session.allocate("x"), floats(1, 2, 3, 4), np.zeros(4, np.float32)
                session.upload(x, hy)
                bound = session.bind(x=x, y=hy, z=hz)
                x.release()
                calls = [session.submit] if flights > 1 else [session.run_round, session.initialize_round]
                for call in calls:
                    self.refuses(rondo.Errc.null_memory, "'x': the array was released", call, bound)
                self.assertEqual(hz.sum(), 0)
                session.run_round(x=hy, y=hy, z=hz)
                self.assertEqual(hz.sum(), 20)

    def test_device_memory_of_a_shape(self):
        graph = rondo.Graph()
        x, y = graph.declare("x: in f32[n], y: inout f32[n]")
        graph.add("saxpy", x, y, 2.0)
        session = rondo.Session(graph)
        self.refuses(rondo.Errc.wrong_size, "symbols", session.allocate, "x")
        for n in 3, 5:
            hx, hy = np.ones(2 * n, np.float32)[::-2], np.ones(n, np.float32)
            x = session.allocate("x", (n,))
            session.upload(x, hx)
            session.run_round(x=x, y=hy)
            session.download(x, hx)
            self.assertEqual((hx.sum(), hy.sum()), (n, 3 * n))

    # --- tensors that stay

    def test_residents_keep_what_was_uploaded_and_scalars_change(self):
        graph = rondo.Graph()
        x = graph.input("x", np.float32, 2)
        w = graph.resident("w", np.float32, 2)
        task = graph.add("saxpy", x, w, 1.0)
        session = rondo.Session(graph)
        hx, hw = floats(1, 2), floats(10, 20)
        self.refuses(rondo.Errc.uninitialized_read, "'w'.*session.upload first", session.run_round, x=hx)
        session.upload("w", hw)
        session.run_round(x=hx)
        session.set_scalar(task, 0, 100)
        session.run_round(x=hx)
        session.download("w", hw)
        self.assertEqual(hw.tolist(), [111, 222])
        self.refuses(rondo.Errc.wrong_tensor, "no resident tensor called 'x'", session.upload, "x", hx)
        self.refuses(rondo.Errc.wrong_size, r"\(3,\)", session.upload, "w", floats(1, 2, 3))
        self.refuses(rondo.Errc.invalid_argument, "no scalar 1", session.set_scalar, task, 1, 1)
        self.refuses(rondo.Errc.invalid_argument, "no task 4", session.set_scalar, 4, 0, 1)
        hw.setflags(write=False)
        self.refuses(rondo.Errc.invalid_argument, "read-only", session.download, "w", hw)

    def test_host_inputs_aliases_and_kept_tensors_are_those_of_cpp(self):
        graph = rondo.Graph()
        x = graph.input("x", np.float32, 2)
        small = graph.host_input("small", np.float32, 2)
        y = graph.output("y", np.float32, 2)
        graph.keep(x)
        graph.alias(y, x)
        graph.add("add", x, small, y)
        session = rondo.Session(graph)
        both, hsmall = floats(1, 2), floats(10, 20)
        for n in range(3):
            hsmall[0] = n
            session.run_round(x=both, small=hsmall, y=both)
        self.assertEqual(both.tolist(), [1 + 0 + 1 + 2, 62])
        self.refuses(rondo.Errc.alias_broken, "bind the same memory", session.run_round, x=both, small=hsmall, y=hsmall)
        self.refuses(rondo.Errc.invalid_argument, "alias takes an output", graph.alias, x, y)
        self.refuses(rondo.Errc.invalid_argument, "4096", graph.host_input, "big", np.float32, 2000)

    # --- failures and ends

    def test_a_kernel_that_throws_raises_its_words_and_poisons(self):
        graph = rondo.Graph()
        graph.add("picky", graph.input("x", np.float32, 2), graph.output("y", np.float32, 2))
        for run in "whole", "steps":
            session = rondo.Session(graph)
            x, y = floats(-1, 0), np.zeros(2, np.float32)
            binding = session.bind(x=x, y=y)
            if run == "whole":
                self.refuses(rondo.Errc.kernel_failed, "'picky'.*the platform reports: x\\[0\\] is negative", binding.run_round)
            else:
                session.initialize_round(binding)
                self.refuses(rondo.Errc.kernel_failed, "the platform reports: x\\[0\\] is negative", session.launch)
            self.assertTrue(session.poisoned)
            x[0] = 1
            self.refuses(rondo.Errc.poisoned, "The failure: task 0 'picky'", binding.run_round)
            self.refuses(rondo.Errc.poisoned, "The failure", session.initialize_round, x=x, y=y)
            session.close()

    def test_a_closed_session_says_so_and_a_with_block_closes(self):
        x, z = floats(1, 2, 3, 4), np.zeros(4, np.float32)
        with add_session() as session:
            binding = session.bind(x=x, y=x, z=z)
            binding.run_round()
            self.assertGreater(session.arena_bytes, 0)
        self.refuses(rondo.Errc.closed, "open a new one", binding.run_round)
        session.close()

        session = add_session()
        session.initialize_round(x=x, y=x, z=z)
        session.close()
        self.refuses(rondo.Errc.not_open, "call initialize_round", session.launch)

    def test_a_with_block_waits_for_rounds_in_flight_and_raises_the_first_failure(self):
        graph = rondo.Graph()
        graph.add("picky", graph.input("x", np.float32, 2), graph.output("y", np.float32, 2))
        y, bad = np.zeros(2, np.float32), floats(-1, 0)
        with rondo.Session(graph, "host", in_flight=2) as session:
            session.submit(x=floats(1, 2), y=y)
        self.assertEqual(y.tolist(), [1, 2])
        with self.assertRaisesRegex(rondo.Error, "is negative"):
            with rondo.Session(graph, "host", in_flight=2) as session:
                session.submit(x=bad, y=y)
        self.refuses(rondo.Errc.closed, "", session.run_round, x=bad, y=y)
        with self.assertRaisesRegex(ValueError, "first"):
            with rondo.Session(graph, "host", in_flight=2) as session:
                session.submit(x=bad, y=y)
                raise ValueError("first")

    def test_a_closed_session_lets_go_of_what_it_was_made_of(self):
        class Model:
            def __init__(self):
                self.kernel = rondo.kernel("x: in f32[n], y: out f32[n]", self.copy, name="copy", quiet=True)
                graph = rondo.Graph()
                x, y = graph.declare("x: in f32[2], y: out f32[2]")
                graph.add(self.kernel, x, y)
                self.kernel = None
                self.session = rondo.Session(graph)

            def copy(self, x, y):
                y[:] = x

        model = Model()
        session = model.session
        y = np.zeros(2, np.float32)
        session.run_round(x=floats(1, 2), y=y)
        self.assertEqual(y.tolist(), [1, 2])
        alive = weakref.ref(model)
        session.close()
        self.refuses(rondo.Errc.closed, "open another", session.set_scalar, 0, 0, 1)
        del model
        gc.collect()
        self.assertIsNone(alive())

    # --- the interpreter's end

    def ends_well(self, *lines):
        """Runs a program in a process of its own, which must end without a signal and print "end"."""
        start = ["import threading, time, numpy as np, rondo, rondo_kernels, rondo_test_kernels as kernels",
                 "def add_session(*args, **options):", "    graph = rondo.Graph()",
                 "    x, y, z = graph.declare('x: in f32[4], y: in f32[4], z: out f32[4]')",
                 "    graph.add('add', x, y, z)", "    return rondo.Session(graph, *args, **options)",
                 "x, z = np.ones(4, np.float32), np.zeros(4, np.float32)"]
        ended = subprocess.run([sys.executable, "-c", "\n".join([*start, *lines])], capture_output=True, text=True)
        self.assertEqual((ended.returncode, ended.stdout, ended.stderr), (0, "end\n", ""))

    def test_a_session_that_only_its_own_round_in_flight_holds_is_closed_once(self):
        self.ends_well("session = add_session('host', in_flight=2)",
                       "session.submit(x=session.allocate('x'), y=x, z=z)",
                       "del session", "print('end')")

    def test_threads_that_outlive_the_interpreter_end_quietly(self):
        self.ends_well("threading.excepthook = lambda args: None",
                       "def work():",
                       "    session = add_session()",
                       "    while True:",
                       "        session.run_round(x=x, y=x, z=z)",
                       "        ran.release()",
                       "ran = threading.Semaphore(0)",
                       "for _ in range(3): threading.Thread(target=work, daemon=True).start()",
                       "for _ in range(300): ran.acquire()", "print('end')")

    def test_the_interpreter_waits_for_sessions_that_daemon_threads_open_or_drop(self):
        quiet = "threading.excepthook = lambda args: None"
        start = ["threading.Thread(target=work, daemon=True).start()", "began.acquire()", "print('end')"]
        # Opening only, opening and closing, and opening, dropping.
        for work in "kept.append(add_session('host_pool', threads=2))", "add_session().close()", "add_session()":
            for _ in range(5):
                self.ends_well(quiet, "kept, began = [], threading.Semaphore(0)",
                               "def work():", "    while True:", f"        {work}", "        began.release()", *start)
        # Dropping a session waits for its round in flight.
        self.ends_well("graph, began = rondo.Graph(), threading.Semaphore(0)",
                       "def slow(x, y): time.sleep(0.1)",
                       "kernel = rondo.kernel('x: in f32[n], y: inout f32[n]', slow, quiet=True)",
                       "t = graph.declare('x: in f32[4], y: inout f32[4]')",
                       "for _ in range(5): graph.add(kernel, *t)",
                       "def work():",
                       "    session = rondo.Session(graph, 'host_pool', in_flight=2)",
                       "    session.submit(x=x, y=z)",
                       "    began.release()",
                       "    del session", *start)

    def test_a_round_of_a_daemon_thread_ends_before_its_session_is_closed(self):
        self.ends_well("graph = rondo.Graph()",
                       "graph.add('await_gate', graph.input('x', np.float32, 4), graph.output('y', np.float32, 4))",
                       "session, after = rondo.Session(graph, 'a2a3_sim_pool'), add_session()",
                       "kernels.open_gate(False)",
                       "def work():",
                       "    session.run_round(x=x, y=z)",
                       "    while True: after.run_round(x=x, y=x, z=z)",
                       "threading.Thread(target=work, daemon=True).start()",
                       "while not kernels.is_waiting(): pass",
                       "opener = threading.Thread(target=lambda: (time.sleep(0.3), kernels.open_gate(True)), daemon=True)",
                       "threading.excepthook = lambda args: None  # the thread is told that the interpreter ends",
                       "opener.start()", "print('end')")

    def test_arrays_and_session_live_as_long_as_a_round_may_use_them(self):
        session = add_session()

        class Array(np.ndarray):
            pass

        z = np.zeros(4, np.float32).view(Array)
        alive = weakref.ref(z)
        binding = session.bind(x=np.ones(4, np.float32), y=np.ones(4, np.float32), z=z)
        del session, z
        gc.collect()
        binding.run_round()
        self.assertEqual(alive().tolist(), [2] * 4)
        del binding
        self.assertIsNone(alive())

        session = add_session()
        z = np.zeros(4, np.float32).view(Array)
        alive = weakref.ref(z)
        session.initialize_round(x=np.ones(4, np.float32), y=np.ones(4, np.float32), z=z)
        del z
        gc.collect()
        self.assertIsNotNone(alive())
        session.launch()
        session.finalize_round()
        self.assertIsNone(alive())

        session.initialize_round(session.bind(x=np.ones(4, np.float32), y=np.ones(4, np.float32), z=np.ones(4, np.float32)))
        session.launch()
        del session  # in the middle of a round, whose binding nobody else holds
        gc.collect()

    # --- threads

    def test_a_graph_may_change_while_another_thread_opens_it(self):
        for _ in range(2):
            graph, done = rondo.Graph(), threading.Event()
            x, y = graph.declare("x: in f32[4], y: out f32[4]")
            graph.add("relu", x, y)

            def opens():
                while not done.is_set():
                    rondo.Session(graph, "null").close()

            thread = in_thread(opens)
            for n in range(30_000):
                graph.add("relu", x, graph.workspace(f"w{n}", "f32", 4))
            done.set()
            self.assertIsNone(thread.ended())

    def test_other_threads_run_while_a_round_waits_and_a_second_round_is_refused(self):
        graph = rondo.Graph()
        graph.add("await_gate", graph.input("x", np.float32, 2), graph.output("y", np.float32, 2))
        for platform in "a2a3_sim", "a2a3_sim_pool":
            kernels.open_gate(False)
            session = rondo.Session(graph, platform)
            x, y = floats(1, 2), np.zeros(2, np.float32)
            thread = in_thread(lambda: session.run_round(x=x, y=y))
            while not kernels.is_waiting() and thread.is_alive():
                pass  # this thread runs only because the round has let go of the GIL
            self.refuses(rondo.Errc.busy, "another thread", session.close)
            self.refuses(rondo.Errc.busy, "another thread", lambda: session.rounds)
            self.refuses(rondo.Errc.busy, "another thread", session.run_round, x=x, y=y)
            self.refuses(rondo.Errc.busy, "another thread", session.bind, x=x, y=y)
            kernels.open_gate(True)
            self.assertIsNone(thread.ended())
            self.assertEqual(y.tolist(), [1, 2])
            session.run_round(x=x, y=y)

    def test_a_stop_ends_the_next_round_and_names_itself(self):
        session = add_session()
        x, z = floats(1, 2, 3, 4), np.zeros(4, np.float32)
        session.request_stop()
        self.refuses(rondo.Errc.stopped, "a stop was requested", session.run_round, x=x, y=x, z=z)
        self.assertTrue(session.poisoned)
        self.refuses(rondo.Errc.poisoned, "earlier failure", session.initialize_round, x=x, y=x, z=z)
        self.refuses(rondo.Errc.unsupported, "null cannot be stopped", add_session(platform="null").request_stop)


if __name__ == "__main__":
    unittest.main()
