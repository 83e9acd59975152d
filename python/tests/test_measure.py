# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
"""The measurer: what candidates do to each other, to the log, and to the caller."""

import contextlib
import io
import json
import os
import pathlib
import signal
import tempfile
import threading
import time
import unittest
import unittest.mock

import numpy as np

import rondo


def session_of(n):
    graph = rondo.Graph()
    kernel = rondo.kernel("x: in f32[n], y: out f32[n]", lambda x, y: np.add(x, x, out=y), name="twice", quiet=True)
    graph.add(kernel, *graph.declare(f"x: in f32[{n}], y: out f32[{n}]"))
    y = np.zeros(n, np.float32)
    binding = rondo.Session(graph).bind(x=np.ones(n, np.float32), y=y)
    binding.run_round()
    assert y[-1] == 2, "y is wrong"
    return binding.run_round


def measure(candidates, run=session_of, **options):
    """No candidate is late however busy the machine is, unless the test passes a limit for one that hangs."""
    return rondo.measure(candidates, run=run, **{"repeat": 2, "min_repeat_ms": 1, "time_limit": 1_000_000, **options})


class MeasureTest(unittest.TestCase):
    def test_candidates_are_timed_in_their_order(self):
        small, large = measure([16, 1 << 21])
        self.assertEqual((small.candidate, large.candidate, small.fault, small.ok), (16, 1 << 21, "none", True))
        self.assertEqual(len(small.seconds), 2)
        self.assertGreater(min(small.best, large.best), 0)
        self.assertGreaterEqual(small.median, small.best)
        self.assertEqual(measure([]), [])

    def test_what_a_candidate_does_wrong_is_its_own_fault(self):
        def build(candidate):
            if candidate == "build":
                raise ValueError("no such tile")
            return candidate

        def run(built):
            if built == "crash":
                os.kill(os.getpid(), signal.SIGSEGV)
            if built == "exit":
                os._exit(3)
            if built == "hang":
                signal.pause()
            if built == "raise":
                raise KeyError("gone")
            if built == "wrong":
                assert built == "right", "y[0] is 1, and should be 2"
            return 3 if built == "nothing" else session_of(4)

        names = ["build", "crash", "exit", "raise", "wrong", "nothing", "good"]
        found = {m.candidate: m for m in measure(names, run, build=build)}
        (found["hang"],) = measure(["hang"], run, build=build, time_limit=1)
        names.insert(3, "hang")
        self.assertEqual([(n, found[n].fault) for n in names], [
            ("build", "build"), ("crash", "run"), ("exit", "run"), ("hang", "run_timeout"), ("raise", "run"),
            ("wrong", "wrong_answer"), ("nothing", "run"), ("good", "none")])
        for name, words in (("build", "ValueError: no such tile"), ("crash", "by signal 11"), ("exit", "with 3"),
                            ("hang", "did not end within 1 s"), ("raise", "KeyError: 'gone'"),
                            ("wrong", "y[0] is 1"), ("nothing", "return a function that runs one round")):
            self.assertIn(words, found[name].text)
            self.assertEqual((found[name].seconds, found[name].best), ([], float("inf")))

    def test_what_cannot_be_sent_to_the_measuring_process_is_a_fault_of_the_build(self):
        first, second = measure([1, 2], lambda n: session_of(n), build=lambda n: threading.Lock() if n == 1 else n)
        self.assertEqual((first.fault, second.fault), ("build", "none"))
        self.assertIn("cannot be pickled: TypeError", first.text)

        class Lost:
            def __reduce__(self):
                raise FileNotFoundError("the library is gone")

        first, second = measure([1, 2], session_of, build=lambda n: Lost() if n == 1 else n)
        self.assertEqual((first.fault, second.fault), ("build", "none"))
        self.assertIn("cannot be pickled: FileNotFoundError: the library is gone", first.text)

    def test_a_candidate_that_crashes_beside_a_process_of_its_own_is_no_candidate_that_hangs(self):
        try:
            os.close(os.pidfd_open(os.getpid()))
        except (AttributeError, OSError):
            return  # nothing tells that it has ended
        with tempfile.TemporaryDirectory() as folder:
            left = pathlib.Path(folder) / "left"

            def run(candidate):
                child = os.fork()
                if child == 0:
                    signal.pause()
                left.write_text(str(child), encoding="utf-8")
                os.kill(os.getpid(), signal.SIGKILL)

            try:
                (m,) = measure([1], run, time_limit=60)
            finally:
                os.kill(int(left.read_text(encoding="utf-8")), signal.SIGKILL)
        self.assertEqual((m.fault, m.text), ("run", "the candidate ended its process by signal 9"))

    def test_a_candidate_for_which_there_is_no_process_fails_alone(self):
        fork, measurer = os.fork, os.getpid()

        def fork_once():
            if os.getpid() != measurer and not fork_once.failed:
                fork_once.failed = True
                raise BlockingIOError(11, "Resource temporarily unavailable")
            return fork()

        fork_once.failed = False
        with unittest.mock.patch("os.fork", fork_once):
            found = measure([4, 8], workers=1)
        self.assertEqual(sorted(m.fault for m in found), ["none", "unknown"])
        self.assertIn("no process", "".join(m.text for m in found))

    def test_options_that_are_refused_leave_no_process(self):
        with unittest.mock.patch("os.fork") as fork:
            with self.assertRaises(ValueError):
                measure([4], workers=0)
        fork.assert_not_called()

    def test_candidates_are_built_while_others_are_timed(self):
        with tempfile.TemporaryDirectory() as folder:
            go = pathlib.Path(folder) / "go"

            def build(n):
                if n == 1:
                    go.touch()  # the first is under way, and waits for that
                return n

            def run(n):
                while n == 0 and not go.exists():
                    time.sleep(0.01)
                return lambda: None

            threads = threading.active_count()
            self.assertTrue(all(m.ok for m in measure([0, 1], run, build=build, workers=1)))
            self.assertEqual(threading.active_count(), threads)

    def test_a_log_is_gone_on_with_and_is_that_of_cpp(self):
        with tempfile.TemporaryDirectory() as folder:
            log = pathlib.Path(folder) / "log.jsonl"
            (first,) = measure([{"n": 4}], lambda c: session_of(c["n"]), log=log, task="twice")
            record = json.loads(log.read_text(encoding="utf-8"))
            self.assertEqual((record["task"], record["key"], record["fault"]), ("twice", '{"n": 4}', "none"))
            self.assertEqual(record["seconds"], first.seconds)
            with log.open("a", encoding="utf-8") as file:
                file.write("[" * 100_000 + "\n")  # no record, and neither is the next
                file.write('{"task": "twice", "key": "{\\"n\\": 8}", "fault": "none", "seconds": "12"}\n')
                file.write('{"task": "twice", "ke')  # a program was killed here
            run = []

            def count(candidate):
                run.append(candidate)  # in another process: seen by nobody here
                return session_of(candidate["n"])

            told = []
            again = measure([{"n": 4}, {"n": 8}], count, log=log, task="twice", progress=lambda *a: told.append(a))
            self.assertEqual(again[0], first)
            self.assertEqual([(done, total, m.candidate) for done, total, m in told], [(2, 2, {"n": 8})])
            lines = log.read_text(encoding="utf-8").splitlines()
            self.assertEqual((len(lines), json.loads(lines[4])["key"]), (5, '{"n": 8}'))
            (other,) = measure([{"n": 4}], lambda c: session_of(8), log=log, task="another task")
            self.assertNotEqual(other, first)

    def test_an_artifact_that_cannot_be_unpickled_fails_alone(self):
        class Artifact:
            def __reduce__(self):
                return int, ("no number",)

        first, second = measure([4, 8], build=lambda n: Artifact() if n == 4 else n)
        self.assertEqual((first.fault, second.fault), ("build", "none"))
        self.assertIn("cannot be unpickled: ValueError", first.text)

    def test_a_limit_may_be_infinite(self):
        (m,) = measure([4], time_limit=float("inf"))
        self.assertTrue(m.ok, m.text)

    def test_a_bar_shows_the_progress(self):
        with contextlib.redirect_stderr(io.StringIO()) as err:
            measure([4, 8], progress=True)
        self.assertIn("1 of 2, best ", err.getvalue())
        self.assertIn("] 2 of 2, best ", err.getvalue())

    def test_an_interrupt_ends_the_measuring_and_leaves_no_process(self):
        def interrupt(done, total, m):
            raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            measure([4, 8], progress=interrupt)
        with self.assertRaises(ChildProcessError):
            os.waitpid(-1, os.WNOHANG)


if __name__ == "__main__":
    unittest.main()
