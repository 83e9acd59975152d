# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
"""Rounds beyond one graph of fixed sizes, one at a time: symbols, rounds in flight, threads, forks, the end."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
import unittest

import numpy as np

import rondo
import rondo_kernels  # noqa: F401  registers its kernels

PLATFORMS = [p for p in rondo.platforms() if p.startswith(("a2a3_sim", "a5_sim", "host"))]


def saxpy_session(declared="x: in f32[4], y: inout f32[4]", platform="a2a3_sim", **options):
    graph = rondo.Graph()
    x, y = graph.declare(declared)
    graph.add("saxpy", x, y, 2.0)
    return rondo.Session(graph, platform, **options)


def ones(*shape):
    return np.ones(shape, np.float32)


class RoundsTest(unittest.TestCase):
    def refuses(self, code, words, call, *args, **kwargs):
        with self.assertRaisesRegex(rondo.Error, words) as raised:
            call(*args, **kwargs)
        self.assertEqual(raised.exception.code, code)

    def in_a_process(self, code):
        """Runs a program of Python; returns what it printed. It must end by itself, and well."""
        result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn("rondo:", result.stderr)
        return result.stdout

    # --- platforms

    def test_platforms_say_whether_they_are_there_and_why_not(self):
        platforms = rondo.platforms()
        self.assertIsNone(platforms["a2a3_sim"])
        self.assertEqual(
            set(platforms) - set(PLATFORMS), {"a2a3_onboard", "a5_onboard", "cuda", "null"}
        )
        out = self.in_a_process(
            "import os; os.environ['RONDO_CUDA_LIBRARY'] = '/nowhere/libcuda.so'\n"
            "import rondo; print(rondo.platforms()['cuda'])"
        )
        self.assertIn("/nowhere/libcuda.so not found", out)

    # --- symbols

    def test_a_graph_with_symbols_runs_arrays_of_many_shapes(self):
        for in_flight in 1, 2:
            session = saxpy_session("x: in f32[n, 3], y: inout f32[n, 3]", in_flight=in_flight)
            for n in 2, 5, 2, 1:
                y = ones(n, 3)
                session.run_round(x=ones(n, 3), y=y)
                self.assertEqual(y.tolist(), [[3] * 3] * n)
            self.assertEqual(session.shapes, 3)
            binding = session.bind(x=ones(5, 3), y=y if y.shape[0] == 5 else ones(5, 3))
            binding.run_round()
            wrong = rondo.Errc.wrong_size
            self.refuses(wrong, "'n' is 2 in the array of 'x' and 3 in that of 'y'", session.run_round, x=ones(2, 3), y=ones(3, 3))
            self.refuses(wrong, "'x' has 2 dimensions", session.run_round, x=ones(2, 4), y=ones(2, 3))
            self.refuses(wrong, "'x' has 2 dimensions", session.run_round, x=ones(6), y=ones(2, 3))
            self.refuses(
                rondo.Errc.unsupported, "a graph with symbols", session.initialize_round, x=ones(2, 3), y=ones(2, 3)
            )
            session.run_round(x=ones(2, 3), y=ones(2, 3))

    def test_shapes_determine_symbols_that_numbers_of_elements_do_not(self):
        session = saxpy_session("x: in f32[n, m], y: inout f32[n, m]")
        for n, m in (2, 6), (3, 4), (2, 6), (6, 2):
            y = ones(n, m)
            session.run_round(x=ones(n, m), y=y)
            self.assertEqual(y.sum(), 36)
        self.assertEqual(session.shapes, 3)
        self.refuses(
            rondo.Errc.wrong_size, "'m' is 6 in the array of 'x' and 4 in that of 'y'",
            session.run_round, x=ones(2, 6), y=ones(3, 4)[:2],
        )

    def test_extents_are_text_with_symbols_and_blocks_may_depend_on_them(self):
        graph = rondo.Graph()
        x = graph.input("x", np.float32, ("n", 4))
        w = graph.input("w", np.float32, (4, 2))
        y = graph.output("y", np.float32, ("n", 2))
        z = graph.output("z", np.float32, "ceil_div(n, 2) * 2 * 2")
        self.assertEqual((x.shape, z.shape), (("n", 4), ("…",)))
        graph.add("matmul", x, w, y, blocks="min(n, 3)")
        copy = rondo.kernel("y: in f32[n], z: out f32[m]", lambda y, z: z.fill(y[0]), name="first", quiet=True)
        graph.add(copy, y, z)
        session = rondo.Session(graph)
        for n in 3, 8:
            hx, hw = np.arange(n * 4, dtype=np.float32).reshape(n, 4), ones(4, 2)
            hy, hz = np.zeros((n, 2), np.float32), np.zeros((n + 1) // 2 * 4, np.float32)
            session.run_round(x=hx, w=hw, y=hy, z=hz)
            np.testing.assert_array_equal(hy, hx @ hw)
            self.assertEqual(hz[-1], 6)
        self.refuses(
            rondo.Errc.wrong_size, "extent 0 of the array of 'z' is 5, and by the other arrays it is 16",
            session.run_round, x=hx, w=hw, y=hy, z=ones(5),
        )
        with self.assertRaisesRegex(rondo.Error, r"the extent: expected an extent"):
            graph.input("v", np.float32, ("n +", 4))
        self.assertEqual(len(graph.tensors), 4)

    # --- rounds in flight

    def test_rounds_in_flight_are_waited_for_and_keep_their_arrays(self):
        for platform in "a2a3_sim", "a2a3_sim_pool", "host_pool", "null":
            session = saxpy_session(platform=platform, in_flight=3)
            ys = [ones(4) for _ in range(7)]
            tickets = [session.submit(x=ones(4) * n, y=y) for n, y in enumerate(ys)]  # nobody else holds x
            self.assertLessEqual(session.in_flight, 3)
            tickets[4].wait()
            self.assertTrue(tickets[0].done)
            binding = session.bind(x=ones(4), y=ys[0])
            last = session.submit(binding)
            session.wait_all()
            self.assertTrue(last.done)
            self.assertEqual((session.in_flight, session.poll(), session.rounds), (0, 0, 8))
            if platform != "null":
                self.assertEqual([y[0] for y in ys], [3] + [1 + 2 * n for n in range(1, 7)])

    def test_tickets_are_awaited_beside_other_tasks(self):
        session = saxpy_session(platform="host_pool", in_flight=2)
        ys = [ones(4) for _ in range(5)]
        ticks = []

        async def tick():
            for n in range(3):
                ticks.append(n)
                await asyncio.sleep(0)

        async def main():
            async def one(y):
                await session.submit(x=ones(4), y=y)

            await asyncio.gather(tick(), *(one(y) for y in ys))

        asyncio.run(main())
        self.assertEqual([y.tolist() for y in ys], [[3] * 4] * 5)
        self.assertEqual(ticks, [0, 1, 2])

    def test_options_out_of_range_are_refused(self):
        self.refuses(rondo.Errc.invalid_argument, "choose 1 to 4 rounds in flight", saxpy_session, in_flight=5)
        self.refuses(rondo.Errc.out_of_memory, "", saxpy_session, device_memory=64)

    def test_inputs_are_held(self):
        graph = rondo.Graph()
        x, y = graph.declare("x: in f32[4], y: inout f32[4]")
        graph.keep(x)
        graph.add("saxpy", x, y, 2.0)
        session = rondo.Session(graph)
        hx, hy = ones(4), np.zeros(4, np.float32)
        binding = session.bind(x=hx, y=hy)
        self.refuses(rondo.Errc.unbound_tensor, "'x'", session.hold, "x")
        self.refuses(rondo.Errc.wrong_tensor, "no input called 'y'", session.hold, "y")
        binding.run_round()
        session.hold("x")
        hx[:] = 100
        binding.run_round()
        self.assertEqual(hy[0], 4)
        session.release_hold("x")
        binding.run_round()
        self.assertEqual(hy[0], 204)

    # --- engines that look at rounds

    def test_the_model_predicts_and_the_checker_finds(self):
        session = saxpy_session(platform="a2a3_sim_model")
        session.run_round(x=ones(4), y=ones(4))
        self.assertGreater(session.last_round_ns, 0)
        self.assertGreater(session.prediction.copy_in_ns, 0)
        self.assertIn("a2a3", str(session.prediction))
        self.assertIsNone(saxpy_session().prediction)
        self.assertIsNone(saxpy_session().last_round_ns)

        @rondo.kernel("x: in f32[n], y: out f32[n]", quiet=True)
        def forgetful(x, y):
            y[:-1] = x[:-1]

        graph = rondo.Graph()
        graph.add(forgetful, *graph.declare("x: in f32[4], y: out f32[4]"))
        session = rondo.Session(graph, "a2a3_sim_checked")
        self.refuses(rondo.Errc.check_failed, "", session.run_round, x=ones(4), y=ones(4))
        (finding,) = session.findings
        self.assertEqual((finding.kind, finding.task, finding.tensor), ("left_unwritten", 0, 1))
        self.assertIn("forgetful", finding.text)

    def test_the_model_and_the_checker_take_symbols_and_rounds_in_flight(self):
        for platform in "a2a3_sim_model", "a5_sim_model", "a2a3_sim_checked", "a5_sim_checked":
            for in_flight in 1, 2:
                session = saxpy_session("x: in f32[n], y: inout f32[n]", platform, in_flight=in_flight)
                ys = [ones(n) for n in (4, 8, 4)]
                for y in ys:
                    session.submit(x=ones(*y.shape), y=y)
                session.wait_all()
                self.assertEqual([y[-1] for y in ys], [3, 3, 3])
                if platform.endswith("_model"):
                    self.assertGreater(session.prediction.run_ns, 0)
            flying = saxpy_session(platform=platform, in_flight=3)
            ys = [ones(4) * n for n in range(5)]
            for y in ys:
                flying.submit(x=ones(4), y=y)
            flying.wait_all()
            self.assertEqual([y[0] for y in ys], [2, 3, 4, 5, 6])

    # --- threads

    def test_two_threads_with_a_session_each_run_at_the_same_time(self):
        inside = threading.Barrier(2)

        @rondo.kernel("x: in f32[n], y: out f32[n]", quiet=True)
        def meet(x, y):
            inside.wait()  # waits until both rounds are under way
            y[:] = x

        def work(results, n):
            graph = rondo.Graph()
            graph.add(meet, *graph.declare("x: in f32[4], y: out f32[4]"))
            session, y = rondo.Session(graph), np.zeros(4, np.float32)
            session.run_round(x=ones(4) * n, y=y)
            results[n] = y.tolist()

        results = {}
        threads = [threading.Thread(target=work, args=(results, n)) for n in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(results, {0: [0] * 4, 1: [1] * 4})

    # --- interruptions

    def test_an_interrupt_between_rounds_leaves_the_session_usable(self):
        session, x, y = saxpy_session(), ones(4), np.zeros(4, np.float32)
        timer = threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        rounds = 0
        with self.assertRaises(KeyboardInterrupt):
            while True:
                session.run_round(x=x, y=y)
                rounds += 1
        timer.join()
        self.assertFalse(session.poisoned)
        self.assertGreaterEqual(session.rounds, rounds)
        y[:] = 0
        session.run_round(x=x, y=y)
        self.assertEqual(y[0], 2)

    def test_a_forked_process_is_told_that_the_session_is_not_its_own(self):
        out = self.in_a_process(
            """
import os, numpy as np, rondo, rondo_kernels
def run(session):
    y = np.zeros(4, np.float32)
    session.run_round(x=np.ones(4, np.float32), y=y)
    return y[0]
def make(platform):
    graph = rondo.Graph()
    graph.add("saxpy", *graph.declare("x: in f32[4], y: inout f32[4]"), 2.0)
    return rondo.Session(graph, platform)
session = make("a2a3_sim_pool")
assert run(session) == 2
child = os.fork()
if child == 0:
    try:
        run(session)
        os._exit(1)
    except rondo.Error as error:
        assert error.code == rondo.Errc.not_open and "forked" in str(error), error
    try:
        session.request_stop()
        os._exit(1)
    except rondo.Error as error:
        assert error.code == rondo.Errc.not_open, error
    del session  # its threads are not in this process: that must not wait for them
    assert run(make("a2a3_sim_pool")) == 2
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
assert run(session) == 2
print("done")
"""
        )
        self.assertEqual(out, "done\n")

    def test_the_interpreter_ends_with_open_sessions_and_a_round_under_way(self):
        out = self.in_a_process(
            """
import numpy as np, rondo, rondo_kernels
kept = []
@rondo.kernel("x: in f32[n], y: inout f32[n], a: f32", quiet=True)
def slow(x, y, a):
    y += a
for platform in "a2a3_sim", "a2a3_sim_pool", "host_pool":
    for kernel in "saxpy", slow:
        graph = rondo.Graph()
        graph.add(kernel, *graph.declare("x: in f32[4], y: inout f32[4]"), 2.0)
        session = rondo.Session(graph, platform, in_flight=2)
        arrays = dict(x=np.ones(4, np.float32), y=np.ones(4, np.float32))
        session.submit(**arrays)
        begun = rondo.Session(graph, platform)
        begun.initialize_round(**arrays)
        begun.launch()
        kept += [session, begun]
graph = rondo.Graph()
x, y = graph.declare("x: in f32[4], y: inout f32[4]")
session = rondo.Session(graph, "a2a3_sim_pool", orchestration=lambda round: round.add(slow, x, y, 1.0))
session.initialize_round(**arrays)
session.launch()
kept += [session]
import builtins
builtins.kept = kept  # outlives the modules
print("done")
"""
        )
        self.assertEqual(out, "done\n")


if __name__ == "__main__":
    unittest.main()
