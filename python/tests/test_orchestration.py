# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
"""Sessions whose tasks a function of Python adds, each round anew."""

import ctypes
import gc
import json
import os
import pathlib
import tempfile
import unittest

import numpy as np

import rondo

RUNTIMES = "tensormap_and_ringbuffer", "aicpu_build_graph"
PLATFORMS = "a2a3_sim", "a5_sim", "a2a3_sim_pool", "a5_sim_pool"


@rondo.kernel("x: in f32[n], y: out f32[n], a: f32", quiet=True)
def scale(x, y, a):
    np.multiply(x, a, out=y)


@rondo.kernel("x: in f32[n], y: inout f32[n]", quiet=True)
def accumulate(x, y):
    y += x


def interface(n=8):
    graph = rondo.Graph()
    return (graph, *graph.declare(f"x: in f32[{n}], steps: in i32[1], y: inout f32[{n}]"))


def values(*numbers):
    return np.array(numbers, np.int32)


class OrchestrationTest(unittest.TestCase):
    def refuses(self, code, words, call, *args, **kwargs):
        with self.assertRaisesRegex(rondo.Error, words) as raised:
            call(*args, **kwargs)
        self.assertEqual(raised.exception.code, code)

    def test_the_tasks_of_a_round_depend_on_its_values(self):
        for runtime in RUNTIMES:
            for platform in PLATFORMS:
                with self.subTest(runtime=runtime, platform=platform):
                    graph, x, steps, y = interface()

                    def build(round):
                        last = None
                        for step in range(round.values(steps)[0]):
                            with round.scope():
                                t = round.workspace("f32", 8)
                                first = round.add(scale, x, t, step + 1.0)
                                then = round.add(accumulate, t, y)
                                if runtime == "aicpu_build_graph":
                                    round.add_edge(first, then)
                                    if last is not None:
                                        round.add_edge(last, then)
                                last = then

                    session = rondo.Session(graph, platform, orchestration=build, runtime=runtime)
                    hx, hy = np.arange(8, dtype=np.float32), np.zeros(8, np.float32)
                    total = 0
                    for count in 3, 0, 5:
                        session.run_round(x=hx, steps=values(count), y=hy)
                        total += count * (count + 1) / 2
                        np.testing.assert_array_equal(hy, hx * total)
                    self.assertEqual(session.rounds, 3)
                    session.close()

    def test_tiles_of_a_tensor_and_blocks_of_a_task(self):
        graph = rondo.Graph()
        x, y = graph.declare("x: in f32[4, 6], y: out f32[4, 6]")
        seen = []

        @rondo.kernel("x: in f32[n, m], y: out f32[n, m], b: block", quiet=True)
        def copy_rows(x, y, b):
            seen.append((x.shape, b))
            y[b[0] :: b[1]] = x[b[0] :: b[1]]

        def build(round):
            for row in 0, 2:
                source = round.view(x, (row, 0), (2, 6))
                self.assertEqual((source.shape, source.dtype), ((2, 6), "float32"))
                round.add(copy_rows, source, round.view(y, (row, 0), (2, 6)), blocks=2)

        session = rondo.Session(graph, "a2a3_sim", orchestration=build)
        hx, hy = np.random.default_rng(1).standard_normal((4, 6), np.float32), np.zeros((4, 6), np.float32)
        session.initialize_round(x=hx, y=hy)
        session.launch()
        session.finalize_round()
        np.testing.assert_array_equal(hx, hy)
        self.assertEqual(sorted(seen), [((2, 6), (0, 2))] * 2 + [((2, 6), (1, 2))] * 2)

    def test_an_exception_is_raised_in_the_caller_and_poisons_the_session(self):
        @rondo.kernel("x: in f32[n], y: inout f32[n]", quiet=True)
        def broken(x, y):
            raise ZeroDivisionError("in the kernel")

        def raises(round):
            with round.scope():
                round.add(accumulate, x, y)
                raise KeyError("in the orchestration")

        def goes_on(round):
            for _ in range(1000):
                round.add(broken, x, y)

        for platform in "a2a3_sim", "a2a3_sim_pool":
            for build, error, words in (raises, KeyError, "orchestration"), (goes_on, ZeroDivisionError, "kernel"):
                graph, x, _, y = interface()
                session = rondo.Session(graph, platform, orchestration=build)
                arrays = dict(x=np.ones(8, np.float32), steps=values(1), y=np.ones(8, np.float32))
                with self.assertRaisesRegex(error, words):
                    session.run_round(**arrays)
                self.assertTrue(session.poisoned)
                self.refuses(rondo.Errc.poisoned, "poisoned", session.run_round, **arrays)
                session.close()

    def test_what_is_wrong_in_an_orchestration_names_itself(self):
        graph, x, steps, y = interface()
        other = rondo.Graph().declare("x: in f32[8]")
        kept = []
        function = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_int64))(lambda args: None)
        quiet = rondo.kernel("x: in f32[n], y: out i32[n]", function, name="types")
        cases = (
            (lambda r: r.add(scale, x, y), "kernel 'scale' takes 3 arguments"),
            (lambda r: r.add(accumulate, x, x), "writes 'y', and the tensor is an input"),
            (lambda r: r.add(quiet, x, y), "takes int32 as 'y', and the tensor holds float32"),
            (lambda r: r.add(scale, x, r.workspace("f32", 4), 1.0), "n is 8 in 'x' and 4 in 'y'"),
            (lambda r: r.add(accumulate, other, y), "not in this session's interface"),
            (lambda r: r.add(accumulate, x, kept[0]), "region is used when its scope or its round is over"),
            (lambda r: r.view(x, 4, 5), "takes 5 from index 4"),
            (lambda r: r.workspace("f99", 5), "no chip knows elements of type 'f99'"),
            (lambda r: r.values(y), "'y' is no input"),
            (lambda r: r.add_edge(r.add(accumulate, x, y), r.add(accumulate, x, y)), "the runtime finds the edges"),
        )
        for build, words in cases:
            with self.subTest(words):
                def keep(round):
                    with round.scope():
                        kept[:] = [round.workspace("f32", 8)]
                    build(round)

                session = rondo.Session(graph, orchestration=keep)
                with self.assertRaisesRegex(rondo.Error, words):
                    session.run_round(x=np.ones(8, np.float32), steps=values(1), y=np.ones(8, np.float32))
        late = []
        rondo.Session(graph, orchestration=late.append).run_round(
            x=np.ones(8, np.float32), steps=values(1), y=np.ones(8, np.float32))
        self.refuses(rondo.Errc.not_open, "the round is over", late[0].workspace, "f32", 4)

    def test_regions_and_tasks_of_another_session_are_refused(self):
        graph, x, steps, y = interface()
        kept = []

        def keep(round):
            region = round.workspace("f32", 8)
            round.add(scale, x, region, 1.0)
            kept[:] = [region, round.view(y, 0, 4), round.add(accumulate, region, y)]

        arrays = dict(x=np.ones(8, np.float32), steps=values(1), y=np.ones(8, np.float32))
        first = rondo.Session(graph, orchestration=keep, runtime="aicpu_build_graph")
        first.run_round(**arrays)
        uses = (
            (lambda r: r.add(scale, x, kept[0], 1.0), "the region is of another session"),
            (lambda r: r.view(kept[1], 0, 2), "the region is of another session"),
            (lambda r: r.add_edge(kept[2], r.add(accumulate, x, y)), "the task is of another session"),
        )
        for build, words in uses:
            with self.subTest(words):
                session = rondo.Session(graph, orchestration=build, runtime="aicpu_build_graph")
                with self.assertRaisesRegex(rondo.Error, words):
                    session.run_round(**arrays)
        del first
        gc.collect()
        session = rondo.Session(graph, orchestration=uses[0][0], runtime="aicpu_build_graph")
        with self.assertRaisesRegex(rondo.Error, "of another session"):
            session.run_round(**arrays)

    def test_what_takes_no_orchestration_says_so(self):
        graph, *_ = interface()
        opens = rondo.Session
        self.refuses(rondo.Errc.unsupported, "host takes no orchestration", opens, graph, "host", orchestration=print)
        self.refuses(rondo.Errc.invalid_argument, "no runtime 'x'", opens, graph, orchestration=print, runtime="x")
        self.refuses(rondo.Errc.unsupported, "one round at a time", opens, graph, orchestration=print, in_flight=2)
        with self.assertRaisesRegex(TypeError, "takes the round"):
            rondo.Session(graph, orchestration=3)

    # --- traces and counters

    def test_a_trace_shows_rounds_and_tasks_and_counters_count(self):
        graph, x, steps, y = interface()
        plain = rondo.Graph()
        plain.add(accumulate, *plain.declare("x: in f32[8], y: inout f32[8]"))
        symbolic = rondo.Graph()
        symbolic.add(accumulate, *symbolic.declare("x: in f32[n], y: inout f32[n]"))

        def build(round):
            round.add(accumulate, x, y)

        arrays = dict(x=np.ones(8, np.float32), y=np.ones(8, np.float32))
        sessions = [rondo.Session(plain, p, trace=True, in_flight=n) for p in PLATFORMS for n in (1, 2)]
        sessions += [rondo.Session(symbolic, trace=True), rondo.Session(plain, "a2a3_sim_model", trace=True)]
        orchestrated = rondo.Session(graph, "a2a3_sim_pool", orchestration=build, trace=True)
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "trace.json"
            for session in *sessions, orchestrated:
                with self.subTest(session.platform):
                    more = dict(steps=values(1)) if session is orchestrated else {}
                    for _ in range(3):
                        session.run_round(**arrays, **more)
                    session.write_trace(file)
                    names = [e["name"] for e in json.loads(file.read_text(encoding="utf-8"))["traceEvents"]
                             if e["ph"] == "B"]
                    self.assertEqual(sum(n.startswith("round ") for n in names), 3)
                    if session is not sessions[8]:  # with symbols, tasks of another shape are other tasks
                        self.assertIn("accumulate", " ".join(names))
                    counters = session.counters
                    self.assertEqual((counters["rounds"], counters["failed_rounds"], counters["copies_out"]), (3, 0, 3))
                    self.assertEqual(counters["bytes_out"], 96)
                    self.assertGreater(counters["phase_ns"]["copy in"], 0)
            untraced = rondo.Session(plain)
            self.assertIsNone(untraced.counters)
            self.refuses(rondo.Errc.not_open, "open it with `trace`", untraced.write_trace, file)
            self.refuses(rondo.Errc.invalid_argument, "cannot be written there", sessions[0].write_trace, folder)
            # A trace waits for rounds in flight, and its path may be any that the system has.
            flying = rondo.Session(plain, "host_pool", in_flight=2, trace=True)
            flying.submit(**arrays)
            path = os.fsencode(folder) + b"/\xff.json"
            flying.write_trace(path)
            self.assertEqual((flying.in_flight, flying.rounds), (0, 1))
            with open(path, encoding="utf-8") as written:
                self.assertIn("traceEvents", json.load(written))
            untraced.initialize_round(**arrays)
            self.refuses(rondo.Errc.busy, "a round is under way", untraced.write_trace, file)
        opens = rondo.Session
        self.refuses(rondo.Errc.unsupported, "sessions on null are not traced", opens, plain, "null", trace=True)


if __name__ == "__main__":
    unittest.main()
