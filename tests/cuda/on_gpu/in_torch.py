#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
"""in_torch.py LIBRARY

Puts rounds of a session between operations of PyTorch: on one of its streams, and in a graph that PyTorch captures, in
each of the three capture modes. LIBRARY is the shared library of in_torch.cpp."""

import ctypes
import sys

import torch

lib = ctypes.CDLL(sys.argv[1])
lib.rondo_open.restype = ctypes.c_void_p
lib.rondo_open.argtypes = [ctypes.c_void_p]
for name in ("rondo_enqueue", "rondo_refresh"):
    getattr(lib, name).argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64]
lib.rondo_close.argtypes = [ctypes.c_void_p]

n = 1000
failures = 0


def check(holds, what):
    global failures
    print("ok    " if holds else "FAILED", what, flush=True)
    failures += not holds


def same(tensor, values):
    return bool(torch.equal(tensor.cpu(), values))


start = torch.arange(n, dtype=torch.float32)
stream = torch.cuda.Stream()
session = lib.rondo_open(stream.cuda_stream)
check(session is not None, "a session opens on a stream of PyTorch's")

with torch.cuda.stream(stream):
    x = start.cuda(non_blocking=True)
    y = torch.zeros(n, device="cuda")
    for _ in range(10):
        x += 1
        assert lib.rondo_enqueue(session, x.data_ptr(), y.data_ptr()) == 0  # y += x
        y *= 2
stream.synchronize()
expected = torch.zeros(n)
for i in range(10):
    expected = (expected + start + i + 1) * 2
check(same(y, expected), "ten rounds between operations of PyTorch, without a wait")

for mode in ("global", "thread_local", "relaxed"):
    other = (start * 3).cuda()
    y.zero_()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream, capture_error_mode=mode):
        z = x * 2
        code = lib.rondo_enqueue(session, z.data_ptr(), y.data_ptr())
        out = y + 1
    check(code == 0, f"a round is captured in mode {mode}")
    with torch.cuda.stream(stream):
        x.copy_(start)
        y.zero_()
        for _ in range(3):
            graph.replay()
    stream.synchronize()
    check(same(out, start * 6 + 1), "three replays run it between the captured operations")
    with torch.cuda.stream(stream):
        check(lib.rondo_refresh(session, other.data_ptr(), y.data_ptr()) == 0, "other memory is bound")
        graph.replay()
    stream.synchronize()
    check(same(out, start * 6 + start * 3 + 1), "the next replay reads it")
    with torch.cuda.stream(stream):
        check(lib.rondo_enqueue(session, x.data_ptr(), y.data_ptr()) == 0, "a round that is not captured follows")
    stream.synchronize()
    check(same(y, start * 10), "and is right")
    del graph

check(lib.rondo_close(session) == 0, "the session closes")
sys.exit(1 if failures else 0)
