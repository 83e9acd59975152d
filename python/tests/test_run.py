# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
"""python -m rondo.run: which rounds are compared, what is written, and the exit code."""

import json
import os
import pathlib
import stat
import subprocess
import sys
import tempfile
import unittest

import numpy as np

from rondo.run import first_difference, write_json

HERE = pathlib.Path(__file__).resolve().parent
CASES = HERE.parents[1] / "examples" / "python" / "cases"

DATACLASS = """
from __future__ import annotations
import dataclasses
@dataclasses.dataclass
class Size:
    n: int = 8
"""
SYMBOLIC = """
import numpy as np, rondo
@rondo.kernel("x: in f32[n], w: in f32[n], y: out f32[n]", quiet=True)
def add(x, w, y):
    np.add(x, w, out=y)
def graph():
    graph = rondo.Graph()
    graph.add(add, *graph.declare("x: in f32[n], w: resident f32[8], y: out f32[n]"))
    return graph
def shapes():
    return {"n": 8, "for golden": "any"}
def setup(session):
    session.upload("w", np.arange(8, dtype=np.float32))
def refill(arrays, random):
    arrays["x"][:] = random.standard_normal(8, np.float32)
def golden(arrays):
    return {"y": arrays["x"] + np.arange(8)}
"""


def run(*arguments):
    result = subprocess.run(
        [sys.executable, "-m", "rondo.run", *map(str, arguments)], capture_output=True, text=True
    )
    return result.returncode, result.stdout, result.stderr


class RunTest(unittest.TestCase):
    def test_a_difference_is_named_and_ends_with_1_if_its_round_is_compared(self):
        wrong = HERE / "wrong_golden.py"
        code, out, _ = run(wrong, "--rounds", 5)
        self.assertEqual(code, 1)
        self.assertIn("round 3: y differs at (1, 2): 4 device, 5 golden (1 of 6 elements differ)", out)
        # The golden function is wrong at its fourth call; these call it once, or not at all.
        for golden, compared in ("first", "1 of them"), ("last", "1 of them"), ("none", "none of them"):
            code, out, _ = run(wrong, "--rounds", 5, "--golden", golden)
            self.assertEqual((code, compared in out), (0, True), out)
        code, out, _ = run(wrong, "--rounds", 5, "--rtol", 0.5)
        self.assertEqual(code, 0, out)

    def test_results_are_written_and_compared(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "result.json"
            code, out, _ = run(CASES / "saxpy.py", "--rounds", 20, "--json", file, "--show-host")
            self.assertEqual(code, 0, out)
            self.assertIn("copy out", out)
            result = json.loads(file.read_text(encoding="utf-8"))
            self.assertEqual((result["rounds"], result["compared"], result["difference"]), (20, 20, None))
            phases = ["bind", "refresh", "copy in", "launch", "wait", "copy out", "round"]  # those of tools/bench_rounds
            self.assertEqual(list(result["phases"]), phases)
            self.assertGreater(result["phases"]["copy in"]["median_ns"], 0)
            code, out, _ = run(CASES / "saxpy.py", "--rounds", 20, "--compare", file)
            self.assertRegex(out, r"(?m)^round +\d+\.\d\d +\d+\.\d\d +\d+\.\d\d$")
            code, _, err = run(CASES / "saxpy.py", "--json", pathlib.Path(folder) / "none" / "result.json")
            self.assertEqual(code, 2)
            self.assertIn("No such file or directory", err)
            code, out, _ = run(CASES / "saxpy.py", "--platform", "a2a3_sim_model", "--json", "-")
            self.assertGreater(json.loads(out)["phases"]["device"]["median_ns"], 0)
            code, out, _ = run(CASES / "saxpy.py", "--platform", "null", "--golden", "none", "--json", "-")
            self.assertEqual(list(json.loads(out)["phases"]), ["initialize_round", "launch", "finalize_round", "round"])

    def test_a_trace_is_written_where_the_platform_can_trace(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "trace.json"
            code, out, err = run(CASES / "saxpy.py", "--rounds", 3, "--trace", file)
            self.assertEqual(code, 0, out + err)
            events = json.loads(file.read_text(encoding="utf-8"))["traceEvents"]
            self.assertEqual(sum(e["ph"] == "B" and e["name"].startswith("round ") for e in events), 3)
            code, out, err = run(CASES / "saxpy.py", "--rounds", 3, "--platform", "host_pool", "--trace", file)
            self.assertEqual(code, 0, out + err)
            events = json.loads(file.read_text(encoding="utf-8"))["traceEvents"]
            self.assertEqual(sum(e["ph"] == "B" and e["name"].startswith("round ") for e in events), 3)
            code, _, err = run(CASES / "saxpy.py", "--platform", "null", "--trace", file)
            self.assertEqual(code, 2)
            self.assertIn("sessions on null are not traced", err)

    def test_symbols_and_residents_come_from_the_case(self):
        with tempfile.TemporaryDirectory() as folder:
            case = pathlib.Path(folder) / "case.py"
            case.write_text(DATACLASS + SYMBOLIC, encoding="utf-8")
            code, out, err = run(case, "--rounds", 3)
            self.assertEqual((code, "3 of them as the golden" in out), (0, True), out + err)
            # An extent may be an expression of the symbols.
            case.write_text(SYMBOLIC.replace("in f32[n], w: resident", "in f32[2 * (n - 4)], w: resident"), encoding="utf-8")
            code, out, err = run(case, "--rounds", 3)
            self.assertEqual((code, "3 of them as the golden" in out), (0, True), out + err)
            case.write_text(SYMBOLIC.replace('"n": 8', '"m": 8'), encoding="utf-8")
            code, out, err = run(case)
            self.assertEqual(code, 2)
            self.assertIn("gives the symbol 'n' no value", err)

    def test_whole_numbers_must_be_equal(self):
        with tempfile.TemporaryDirectory() as folder:
            case = pathlib.Path(folder) / "whole.py"
            case.write_text(SYMBOLIC.replace("f32", "i32").replace("float32", "int32").replace(
                "random.standard_normal(8, np.int32)", "2**24").replace("+ np.arange(8)", "+ np.arange(8) + (np.arange(8) == 3)"))
            code, out, _ = run(case, "--rounds", 2, "--rtol", 0.5)
            self.assertEqual(code, 1)
            self.assertIn("y differs at (3,): 16777219 device, 16777220 golden (1 of 8 elements differ)", out)

        device = np.array([2**63 + 1, 2**53 + 1], np.uint64)
        for golden, wrong in ((2**63 + 1, 2**53 + 1), None), ((2**63 + 1, 2**53), 1), ((-1, 2**53 + 1), 0):
            told = first_difference("y", device, np.array(golden, object), 0, 0)
            self.assertEqual(told is None, wrong is None, told)
        golden = np.array([2**62 + 1], np.int64)
        self.assertIsNone(first_difference("y", golden.astype(np.uint64), golden, 0, 0))
        told = first_difference("y", golden.astype(np.uint64), golden + 1, 0, 0)
        self.assertIn(f"{2**62 + 1} device, {2**62 + 2} golden", told or "")
        self.assertIsNotNone(first_difference("y", np.uint64(2**64 - 1).reshape(()), np.int64(-1), 0, 0))

    def test_a_result_leaves_links_pipes_and_permissions_as_they_are(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            file, link, pipe = folder / "result.json", folder / "link.json", folder / "pipe"
            file.write_text("old", encoding="utf-8")
            file.chmod(0o640)
            link.symlink_to(file.name)
            write_json(str(link), {"a": 1})
            self.assertEqual((link.is_symlink(), json.loads(file.read_text(encoding="utf-8"))), (True, {"a": 1}))
            self.assertEqual(stat.S_IMODE(file.stat().st_mode), 0o640)
            with self.assertRaises(TypeError):
                write_json(str(file), {"a": object()})
            self.assertEqual(json.loads(file.read_text(encoding="utf-8")), {"a": 1})
            with self.assertRaises(IsADirectoryError):
                write_json(str(folder), {})
            os.mkfifo(pipe)
            reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
            write_json(str(pipe), {"a": 2})
            self.assertEqual(json.loads(os.read(reader, 1000)), {"a": 2})
            os.close(reader)
            self.assertEqual(sorted(path.name for path in folder.iterdir()), ["link.json", "pipe", "result.json"])

    def test_a_case_that_cannot_be_run_ends_with_2(self):
        with tempfile.TemporaryDirectory() as folder:
            case = pathlib.Path(folder) / "mistake.py"
            for mistake in "def golden(arrays):\n    return arrays.y", "def golden(arrays:":
                case.write_text(SYMBOLIC + mistake)
                code, _, err = run(case)
                self.assertEqual((code, "mistake.py" in err), (2, True), err)
        for arguments in (["nowhere.py"], [CASES / "saxpy.py", "--platform", "a9"], [CASES / "saxpy.py", "--rounds", 0]):
            self.assertEqual(run(*arguments)[0], 2)


if __name__ == "__main__":
    unittest.main()
