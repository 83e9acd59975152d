# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
"""Rondo for Python: sets a device graph up once and runs it round after round.

>>> import numpy as np, rondo
>>> @rondo.kernel("x: in f32[n], y: inout f32[n], a: f32", quiet=True)
... def saxpy(x, y, a):
...     y += a * x
>>> graph = rondo.Graph()
>>> x, y = graph.declare("x: in f32[4], y: inout f32[4]")
>>> graph.add(saxpy, x, y, 2.0)
0
>>> hx, hy = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
>>> with rondo.Session(graph) as session:
...     for _ in range(3):
...         session.run_round(x=hx, y=hy)
>>> hy.tolist()
[0.0, 6.0, 12.0, 18.0]
"""

import atexit
import shutil
import subprocess
from typing import Generator as _Generator, Optional as _Optional

from ._rondo import (
    Binding,
    DeviceArray,
    Errc,
    Error,
    Finding,
    Graph,
    Kernel,
    Loop,
    Plan,
    Prediction,
    Region,
    Round,
    Scope,
    Session,
    Task,
    Tensor,
    Ticket,
    __version__,
    _close_all,
    _register,
    kernels,
    plan_memory,
    platforms,
)
from ._kernel import kernel
from ._measure import Measurement, measure


def _wait_for(ticket: Ticket) -> _Generator[None, None, None]:
    """Implements `await ticket`: lets other tasks run until the round is done."""
    while not ticket.done:
        yield
    ticket.wait()


def _draw(graph: Graph) -> _Optional[str]:
    """The graph as SVG, for notebooks; None without Graphviz, and for a graph that cannot be drawn, or not yet."""
    if shutil.which("dot") is None:
        return None
    try:
        dot = graph.to_dot()
    except Error:
        return None
    return subprocess.run(["dot", "-Tsvg"], input=dot, capture_output=True, text=True, check=True).stdout


setattr(Ticket, "__await__", _wait_for)
setattr(Graph, "_repr_svg_", _draw)
# No Python kernel can run while the interpreter ends, so no round may be under way then.
atexit.register(_close_all)

__all__ = [
    "Binding",
    "DeviceArray",
    "Errc",
    "Error",
    "Finding",
    "Graph",
    "Kernel",
    "Loop",
    "Measurement",
    "Plan",
    "Prediction",
    "Region",
    "Round",
    "Scope",
    "Session",
    "Task",
    "Tensor",
    "Ticket",
    "kernel",
    "kernels",
    "measure",
    "plan_memory",
    "platforms",
]
