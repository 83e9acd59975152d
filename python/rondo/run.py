# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a case for many rounds, compares rounds with a golden function, and says how long a round took on the host.

    python -m rondo.run case.py --platform a2a3_sim --rounds 10

A case is a Python file with three functions:

    graph()                 the rondo.Graph to run
    refill(arrays, random)  puts new values into the arrays of inputs and inouts, by tensor name, in place
    golden(arrays)          returns the values of outputs and inouts after the round, as arrays by tensor name, from the
                            arrays before it

It may also have `setup(session)`, called once, to upload residents; `shapes()`, which returns a value for each symbol
of the graph, by name; and RTOL and ATOL (1e-5 and 1e-6 by default) for tensors of floating-point and complex numbers;
other tensors must be equal. The exit code is 1 if a round differs, and 2 if the case cannot be run.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import shutil
import sys
import time
import traceback
from typing import Any, Optional

import numpy as np

import rondo

# The types that NumPy lacks are bound as their bits.
BITS = {"bfloat16": "uint16", "fp8e4m3fn": "uint8", "fp8e8m0": "uint8", "fp4e2m1": "uint8"}
# Of a session that counts, as tools/bench_rounds has them; and of one that does not, as Python sees them.
PHASES = ("bind", "refresh", "copy in", "launch", "wait", "copy out")
STEPS = ("initialize_round", "launch", "finalize_round")


def load(path: str) -> Any:
    spec = importlib.util.spec_from_file_location("case", path)
    if spec is None or spec.loader is None:
        raise OSError(f"{path} is no file of Python")
    case = importlib.util.module_from_spec(spec)
    sys.modules["case"] = case  # where dataclasses and pickle look for it
    spec.loader.exec_module(case)
    return case


def write_json(path: str, values: Any) -> None:
    """Writes a file as a whole, so that a failure leaves an older one as it was."""
    text = json.dumps(values, indent=1)
    if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
        with open(path, "w", encoding="utf-8") as file:  # a FIFO, for example, which must not be replaced
            file.write(text)
        return
    path = os.path.realpath(path)  # a symbolic link stays one
    unfinished = f"{path}.{os.getpid()}"
    with open(unfinished, "x", encoding="utf-8") as file:
        try:
            file.write(text)
            file.flush()
            if os.path.exists(path):
                shutil.copymode(path, unfinished)
            os.replace(unfinished, path)
        except BaseException:
            os.unlink(unfinished)
            raise


def make_arrays(graph: rondo.Graph, symbols: dict[str, int]) -> tuple[dict[str, Any], list[str]]:
    """An array of zeros for each tensor that rounds bind, and the names of those that a round writes."""
    bound = [t for t in graph.tensors if t.direction in ("in", "out", "inout", "host_input")]
    arrays = {t.name: np.zeros(graph._extents(t, symbols), BITS.get(t.dtype, t.dtype)) for t in bound}
    return arrays, [t.name for t in bound if t.direction in ("out", "inout")]


def first_difference(name: str, device: Any, golden: Any, rtol: float, atol: float) -> Optional[str]:
    """A sentence about the first difference from the golden array; None if there is none."""
    golden = np.asarray(golden)
    if golden.shape != device.shape:
        return f"{name}: the golden function gives shape {golden.shape}, the tensor has {device.shape}"
    is_rounded = device.dtype.kind in "fc"
    if is_rounded:
        differs = ~np.isclose(device, golden, rtol=rtol, atol=atol, equal_nan=True)
    elif device.dtype.kind in "iu" and device.itemsize == 8 and np.result_type(device, golden).kind == "f":
        # NumPy would round uint64 and int64 to compare them. Python compares its own integers exactly.
        differs = np.asarray(device.astype(object) != golden.astype(object))
    else:
        differs = device != golden
    if not differs.any():
        return None
    where = tuple(int(i) for i in np.argwhere(differs)[0])
    values = [f"{array[where]:g}" if is_rounded else str(array[where]) for array in (device, golden)]
    return (
        f"{name} differs at {where}: {values[0]} device, {values[1]} golden"
        f" ({int(differs.sum())} of {device.size} elements differ)"
    )


def difference(number: int, arrays: dict[str, Any], expected: dict[str, Any], written: list[str], rtol: float,
               atol: float) -> Optional[str]:
    """A sentence about the first difference of a round; None if there is none."""
    for name in written:
        if name not in expected:
            return f"round {number}: the golden function says nothing of {name}"
        found = first_difference(name, arrays[name], expected[name], rtol, atol)
        if found is not None:
            return f"round {number}: {found}"
    return None


class Result:
    """The times of a case's rounds, in nanoseconds, and the first difference."""

    def __init__(self, case: str, platform: str, phases: tuple[str, ...]) -> None:
        self.case, self.platform = case, platform
        self.phases = (*phases, "round")
        self.host: list[list[float]] = []  # by round, by phase
        self.device: list[float] = []  # by round, where the platform tells
        self.compared = 0
        self.difference: Optional[str] = None

    def add(self, times: list[float], device: Optional[float]) -> None:
        self.host.append(times)
        if device is not None:
            self.device.append(device)

    def statistics(self) -> dict[str, dict[str, float]]:
        """Median, mean without the outer tenth on each side, and 99th percentile of each phase, in ns."""
        columns: dict[str, tuple[float, ...]] = dict(zip(self.phases, zip(*self.host)))
        if self.device:
            columns["device"] = tuple(self.device)
        found = {}
        for name, column in columns.items():
            ordered = np.sort(np.asarray(column, np.float64))
            cut = len(ordered) // 10
            found[name] = {
                "median_ns": float(np.median(ordered)),
                "trimmed_mean_ns": float(ordered[cut : len(ordered) - cut].mean()),
                "p99_ns": float(np.percentile(ordered, 99)),
            }
        return found

    def as_json(self) -> dict[str, Any]:
        return {
            "case": self.case,
            "platform": self.platform,
            "rounds": len(self.host),
            "compared": self.compared,
            "difference": self.difference,
            "phases": self.statistics(),
        }

    def table(self) -> str:
        lines = [f"{'host time, µs':<18}{'median':>10}{'trimmed mean':>14}{'p99':>10}"]
        for name, s in self.statistics().items():
            values = (s["median_ns"] / 1000, s["trimmed_mean_ns"] / 1000, s["p99_ns"] / 1000)
            lines.append(f"{name:<18}{values[0]:>10.2f}{values[1]:>14.2f}{values[2]:>10.2f}")
        return "\n".join(lines)


def open_session(graph: rondo.Graph, platform: str, phases: bool, trace: bool) -> rondo.Session:
    """A session that counts, if phases or a trace are asked for; without phases where the platform cannot count."""
    if phases or trace:
        try:
            return rondo.Session(graph, platform, trace=True)
        except rondo.Error as error:
            if trace or error.code != rondo.Errc.unsupported:
                raise
    return rondo.Session(graph, platform)


def run_round(session: rondo.Session, binding: rondo.Binding, steps: bool) -> list[float]:
    """Runs a round; returns the nanoseconds of its phases, as far as they are known, and of all of it."""
    clock = time.perf_counter_ns
    before = session.counters
    moments = [clock()]
    if steps:
        session.initialize_round(binding)
        moments.append(clock())
        session.launch()
        moments.append(clock())
        session.finalize_round()
    else:
        binding.run_round()
    moments.append(clock())
    after = session.counters
    took: list[float] = []
    if steps:
        took = [b - a for a, b in zip(moments, moments[1:])]
    elif before is not None and after is not None:
        took = [after["phase_ns"][phase] - before["phase_ns"][phase] for phase in PHASES]
    return took + [moments[-1] - moments[0]]


def run(case: Any, path: str, rounds: int, platform: str = "a2a3_sim", seed: int = 1, golden: str = "every",
        rtol: Optional[float] = None, atol: Optional[float] = None, phases: bool = False,
        trace: Optional[str] = None) -> Result:
    """Runs the rounds of a case until one differs. `phases`: say how long each phase took; `trace`: a file to write."""
    rtol = getattr(case, "RTOL", 1e-5) if rtol is None else rtol
    atol = getattr(case, "ATOL", 1e-6) if atol is None else atol
    graph = case.graph()
    symbols = case.shapes() if hasattr(case, "shapes") else {}
    arrays, written = make_arrays(graph, symbols)
    random = np.random.default_rng(seed)
    with open_session(graph, platform, phases, trace is not None) as session:
        counts = session.counters is not None
        steps = phases and not counts and not any(isinstance(e, str) for t in graph.tensors for e in t.shape)
        result = Result(path, platform, PHASES if counts else STEPS if steps else ())
        if hasattr(case, "setup"):
            case.setup(session)
        binding = session.bind(**arrays)
        for number in range(rounds):
            case.refill(arrays, random)
            compares = golden == "every" or (golden == "first" and number == 0) or (
                golden == "last" and number == rounds - 1)
            expected = case.golden({name: array.copy() for name, array in arrays.items()}) if compares else {}
            result.add(run_round(session, binding, steps), session.last_round_ns)
            if not compares:
                continue
            result.compared += 1
            result.difference = difference(number, arrays, expected, written, rtol, atol)
            if result.difference is not None:
                break
        if trace is not None:
            session.write_trace(trace)
    return result


def comparison(result: Result, path: str) -> str:
    """The medians next to those of an earlier run, as a table."""
    with open(path, encoding="utf-8") as file:
        earlier = json.load(file)["phases"]
    lines = [f"{'median, µs':<18}{'before':>10}{'now':>10}{'ratio':>10}"]
    for name, now in result.statistics().items():
        if name in earlier and earlier[name]["median_ns"] > 0:
            before = earlier[name]["median_ns"]
            lines.append(f"{name:<18}{before / 1000:>10.2f}{now['median_ns'] / 1000:>10.2f}{now['median_ns'] / before:>10.2f}")
    return "\n".join(lines)


def main(arguments: Optional[list[str]] = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m rondo.run", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("case", help="a Python file with graph(), refill() and golden()")
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--platform", choices=list(rondo.platforms()), default="a2a3_sim")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--golden", choices=("every", "first", "last", "none"), default="every",
                        help="which rounds are compared")
    parser.add_argument("--rtol", type=float, help="replaces the case's RTOL")
    parser.add_argument("--atol", type=float, help="replaces the case's ATOL")
    parser.add_argument("--json", metavar="FILE",
                        help="write the result to FILE; - is standard output, and nothing else is printed")
    parser.add_argument("--show-host", action="store_true", help="print how long each phase took on the host")
    parser.add_argument("--trace", metavar="FILE", help="write a trace of the last rounds and tasks, for ui.perfetto.dev")
    parser.add_argument("--compare", metavar="FILE", help="print the medians next to those that --json wrote to FILE")
    options = parser.parse_args(arguments)
    if options.rounds < 1:
        parser.error("--rounds: at least 1")
    phases = options.show_host or options.json is not None or options.compare is not None
    try:
        result = run(load(options.case), options.case, options.rounds, options.platform, options.seed, options.golden,
                     options.rtol, options.atol, phases, options.trace)
        compared = comparison(result, options.compare) if options.compare else None
    except rondo.Error as error:
        print(f"{error.code.name}: {error}", file=sys.stderr)
        return 2
    except (OSError, ValueError, KeyError) as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 2
    except Exception:  # a mistake in the case, whatever it is: the traceback says where
        traceback.print_exc()
        return 2
    if options.json == "-":
        json.dump(result.as_json(), sys.stdout, indent=1)
        print()
        return 0 if result.difference is None else 1
    if options.json:
        try:
            write_json(options.json, result.as_json())
        except OSError as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr)
            return 2
    if options.show_host:
        print(result.table())
    if compared is not None:
        print(compared)
    if result.difference is not None:
        print(result.difference)
        return 1
    checked = f"{result.compared} of them as the golden function says" if result.compared else "none of them compared"
    print(f"{options.rounds} rounds on {options.platform}, {checked}; median "
          f"{result.statistics()['round']['median_ns'] / 1000:.2f} µs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
