# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
"""Builds and times many candidates, for tuners."""

from __future__ import annotations

import dataclasses
import json
import os
import pickle
import signal
import statistics
import sys
import time
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from multiprocessing.reduction import ForkingPickler
from typing import Any, Callable, Iterable, Optional, Union


@dataclasses.dataclass(frozen=True)
class Measurement:
    """The result of a candidate."""

    candidate: Any
    seconds: list[float]
    """The seconds of one round, for each repeat; empty if the candidate failed."""
    fault: str = "none"
    """none, build, run, run_timeout or wrong_answer."""
    text: str = ""
    """The description of the fault."""
    build_seconds: float = 0

    @property
    def ok(self) -> bool:
        return self.fault == "none"

    @property
    def best(self) -> float:
        """The shortest of `seconds`; infinity if it failed, so that ``min(all, key=lambda m: m.best)`` is the best."""
        return min(self.seconds, default=float("inf"))

    @property
    def median(self) -> float:
        """The median of `seconds`; infinity if it failed."""
        return statistics.median(self.seconds) if self.seconds else float("inf")


Progress = Callable[[int, int, Measurement], None]


def key_of(candidate: Any) -> str:
    return candidate if isinstance(candidate, str) else json.dumps(candidate, sort_keys=True, default=repr)


def time_rounds(run_round: Callable[[], Any], repeat: int, min_repeat_ms: float) -> list[float]:
    """The seconds of one call, for each repeat; a repeat makes as many calls as it needs to last long enough."""
    run_round()
    number = 1
    seconds: list[float] = []
    while len(seconds) < repeat:
        start = time.perf_counter()
        for _ in range(number):
            run_round()
        took = time.perf_counter() - start
        if took * 1000 < min_repeat_ms:
            number = max(number + 1, int(number * min(10.0, 1.1 * min_repeat_ms / max(took * 1000, 1e-6))))
            continue
        seconds.append(took / number)
    return seconds


def text_of(error: BaseException) -> str:
    return str(error) or type(error).__name__


def run_in_this_process(run: Callable[[Any], Any], built: Any, repeat: int, min_repeat_ms: float) -> tuple[str, Any]:
    """Returns the fault, and the seconds or a description of the fault."""
    try:
        run_round = run(built)
        if not callable(run_round):
            return "run", f"run() returned {run_round!r}; return a function that runs one round"
        return "none", time_rounds(run_round, repeat, min_repeat_ms)
    except AssertionError as error:
        return "wrong_answer", text_of(error)
    except Exception as error:  # the candidate's own fault, whatever it is
        return "run", f"{type(error).__name__}: {text_of(error)}"


def run_pickled(run: Callable[[Any], Any], built: bytes, repeat: int, min_repeat_ms: float) -> tuple[str, Any]:
    """Does the same for what the parent has pickled."""
    try:
        artifact = pickle.loads(built)
    except Exception as error:  # of a class of the candidate's
        return "build", f"what build returned cannot be unpickled: {type(error).__name__}: {text_of(error)}"
    return run_in_this_process(run, artifact, repeat, min_repeat_ms)


longest_wait = 1e6
"""In seconds: longer limits are none, since the system takes no longer ones."""


def serve(parent: Connection, run: Callable[[Any], Any], repeat: int, min_repeat_ms: float, limit: float) -> None:
    """Runs each candidate that the parent sends in a process of its own, until the parent hangs up."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which hangs up
    while True:
        try:
            built = parent.recv_bytes()  # the candidate's own process unpickles it
        except EOFError:
            return
        try:
            here, there = Pipe(duplex=False)
            child = os.fork()
        except OSError as error:  # the system is short of processes now, and may not be later
            parent.send(("unknown", f"there is no process for the candidate: {error}"))
            continue
        if child == 0:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            here.close()
            there.send(run_pickled(run, built, repeat, min_repeat_ms))
            sys.stdout.flush()
            os._exit(0)
        there.close()
        # Its end counts, too: processes that it forked may keep its pipe open.
        watched: list[Any] = [here, parent]
        ended: Optional[int] = None
        try:
            ended = os.pidfd_open(child)
            watched.append(ended)
        except (AttributeError, OSError):  # the system is not Linux, or its kernel is too old
            pass
        ready = wait(watched, limit if limit < longest_wait else None)
        if ended is not None:
            os.close(ended)
        result: Optional[tuple[str, Any]] = None
        if here in ready or here.poll():
            try:
                result = here.recv()
            except EOFError:
                pass  # it crashed
        if not ready or (parent in ready and here not in ready and ended not in ready):
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        here.close()
        if not ready:
            result = "run_timeout", f"the candidate did not end within {limit:g} s"
        elif result is None:
            how = f"by signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else f"with {os.WEXITSTATUS(status)}"
            result = "run", f"the candidate ended its process {how}"
        parent.send(result)


class Log:
    """Records as lines of JSON, in the format of rondo::measure::RecordLog in C++."""

    def __init__(self, path: Optional[Union[str, "os.PathLike[str]"]], task: str) -> None:
        self.path, self.task = path, task
        self.settled: dict[str, dict[str, Any]] = {}
        if path is None or not os.path.exists(path):
            return
        with open(path, encoding="utf-8", errors="replace") as file:
            for line in file:
                try:
                    record = json.loads(line)
                    if record["task"] == task and record["fault"] not in ("device", "unknown", "stopped"):
                        self.settled[record["key"]] = {**record, "seconds": [0.0 + s for s in record["seconds"]]}
                except (ValueError, KeyError, TypeError, RecursionError):
                    continue  # a line that was cut short, or is no record

    def find(self, candidate: Any) -> Optional[Measurement]:
        record = self.settled.get(key_of(candidate))
        if record is None:
            return None
        return Measurement(candidate, record["seconds"], record["fault"], record.get("text", ""),
                           record.get("build_seconds", 0.0))

    def append(self, m: Measurement) -> None:
        if self.path is None:
            return
        record = {"task": self.task, "key": key_of(m.candidate), "fault": m.fault, "text": m.text, "seconds": m.seconds,
                  "build_seconds": m.build_seconds, "run_seconds": 0.0, "at": time.time()}
        line = json.dumps(record) + "\n"
        with open(self.path, "ab+") as file:
            if file.tell() > 0:
                file.seek(-1, os.SEEK_END)
                if file.read(1) != b"\n":
                    line = "\n" + line  # after a line that was cut short
            file.write(line.encode())


def time_text(seconds: float) -> str:
    for unit, factor in (("ns", 1e9), ("µs", 1e6), ("ms", 1e3)):
        if seconds * factor < 999.5:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds:.3g} s"


class Bar:
    """Draws the progress on one line of the terminal."""

    def __init__(self) -> None:
        self.best: Optional[Measurement] = None
        self.faults = 0

    def __call__(self, done: int, total: int, m: Measurement) -> None:
        self.faults += not m.ok
        if m.ok and (self.best is None or m.best < self.best.best):
            self.best = m
        filled = 24 * done // total
        best = "" if self.best is None else f", best {time_text(self.best.best)} {key_of(self.best.candidate)}"
        failed = f", {self.faults} failed" if self.faults else ""
        line = f"[{'#' * filled}{'.' * (24 - filled)}] {done} of {total}{best}{failed}"
        print("\r\x1b[K" + line, end="\n" if done == total else "", file=sys.stderr, flush=True)


def measure(
    candidates: Iterable[Any],
    *,
    run: Callable[[Any], Callable[[], Any]],
    build: Optional[Callable[[Any], Any]] = None,
    workers: int = 2,
    repeat: int = 5,
    min_repeat_ms: float = 10,
    time_limit: float = 30,
    log: Optional[Union[str, "os.PathLike[str]"]] = None,
    task: str = "",
    progress: Union[bool, Progress] = False,
) -> list[Measurement]:
    """Builds candidates and times a round of each; returns a Measurement for each, in their order.

    `build(candidate)` makes what is to be run: it writes a source and calls a compiler, for example, and returns the
    path of the library. Builds run in `workers` threads, while other candidates are timed. `run(built)` opens a
    session, checks a round, and returns a function that runs one round, such as ``binding.run_round``. Each candidate
    runs alone and in a process of its own, so one that crashes, or is not done after `time_limit` seconds, does no harm
    to the others; what `build` returns is sent there by pickle. An exception of `build` or `run` is the candidate's fault; an
    AssertionError of `run` is a wrong answer.

    After one round to warm up, `repeat` times are taken, each over as many rounds as take `min_repeat_ms`. `log` names
    a file of records, to which each measurement is appended, and from which candidates are taken that were measured by
    an earlier call, for the same `task`. `progress`: True draws a bar on standard error; a function is called with the
    number of candidates that are done, that of all, and the Measurement.

    >>> import numpy as np, rondo
    >>> def open_session(n):
    ...     graph = rondo.Graph()
    ...     x, y = graph.declare(f"x: in f32[{n}], y: out f32[{n}]")
    ...     graph.add(rondo.kernel("x: in f32[n], y: out f32[n]", lambda x, y: np.add(x, x, out=y), quiet=True), x, y)
    ...     binding = rondo.Session(graph).bind(x=np.ones(n, np.float32), y=np.zeros(n, np.float32))
    ...     return binding.run_round
    >>> results = rondo.measure([4, 1 << 20], run=open_session, repeat=2, min_repeat_ms=1)
    >>> min(results, key=lambda m: m.best).candidate
    4
    """
    everything = list(candidates)
    records = Log(log, task)
    measurements: list[Optional[Measurement]] = [records.find(c) for c in everything]
    missing = [n for n, m in enumerate(measurements) if m is None]
    tell: Optional[Progress] = Bar() if progress is True else (progress or None)
    if not missing:
        return [m for m in measurements if m is not None]
    builders = ThreadPoolExecutor(max_workers=workers)
    # Forked before there are threads; candidates are forked from there.
    sys.stdout.flush()
    sys.stderr.flush()
    server, other = Pipe()
    process = os.fork()
    if process == 0:
        code = 1
        try:
            server.close()
            serve(other, run, repeat, min_repeat_ms, time_limit)
            code = 0
        finally:
            os._exit(code)
    other.close()

    def measured_by(server: Any, artifact: Any) -> tuple[str, Any]:
        try:
            pickled = ForkingPickler.dumps(artifact)
        except Exception as error:  # whatever the artifact raises
            return "build", f"what build returned cannot be pickled: {type(error).__name__}: {text_of(error)}"
        server.send_bytes(pickled)
        fault, result = server.recv()
        return fault, result

    def build_one(candidate: Any) -> tuple[str, Any, float]:
        start = time.perf_counter()
        try:
            return "none", candidate if build is None else build(candidate), time.perf_counter() - start
        except Exception as error:  # the candidate's own fault, whatever it is
            return "build", f"{type(error).__name__}: {text_of(error)}", time.perf_counter() - start

    done = len(everything) - len(missing)
    try:
        futures: dict[Future[tuple[str, Any, float]], int] = {
            builders.submit(build_one, everything[n]): n for n in missing
        }
        for future in as_completed(futures):
            number = futures[future]
            fault, result, took = future.result()
            if fault == "none":
                fault, result = measured_by(server, result)
            seconds, text = (result, "") if fault == "none" else ([], result)
            made = Measurement(everything[number], seconds, fault, text, took)
            measurements[number] = made
            records.append(made)
            done += 1
            if tell is not None:
                tell(done, len(everything), made)
    finally:
        builders.shutdown(cancel_futures=True)
        server.close()
        os.waitpid(process, 0)
    return [m for m in measurements if m is not None]
