#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
#   x ─▶ [ hidden ] ─▶ h ─▶ [ output ] ─▶ p ─▶ [ learn ] ◀─ y        w1, w2: resident, so they stay on the device
"""Learns to read hand-written digits, a batch of 50 each round, and plots how well as it learns.

digits.py [--platform a2a3_sim] [--rounds 400] [--svg accuracy.svg]"""
import argparse, pathlib  # noqa: E401
import numpy as np
import rondo
parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
for name, default in ("--platform", "a2a3_sim"), ("--rounds", 400), ("--svg", "accuracy.svg"):
    parser.add_argument(name, default=default, type=type(default))
options = parser.parse_args()

data = np.loadtxt(pathlib.Path(__file__).parents[1] / "data" / "digits.csv", delimiter=",", dtype=np.float32)
data = np.random.default_rng(1).permutation(data)
pixels, wanted = data[:, :64] / 16, np.eye(10, dtype=np.float32)[data[:, 64].astype(int)]

@rondo.kernel("x: in f32[n, 64], w: in f32[64, 32], h: out f32[n, 32]", core="cube", quiet=True)
def hidden(x, w, h):
    np.maximum(x @ w, 0, out=h)

@rondo.kernel("h: in f32[n, 32], w: in f32[32, 10], p: out f32[n, 10]", core="cube", quiet=True)
def output(h, w, p):
    e = np.exp(h @ w - (h @ w).max(1, keepdims=True))
    np.divide(e, e.sum(1, keepdims=True), out=p)

@rondo.kernel("x: in f32[n, 64], h: in f32[n, 32], p: in f32[n, 10], y: in f32[n, 10],"
              " w1: inout f32[64, 32], w2: inout f32[32, 10], rate: f32", quiet=True)
def learn(x, h, p, y, w1, w2, rate):
    d = (p - y) * (rate / len(x))
    w1 -= x.T @ (d @ w2.T * (h > 0))
    w2 -= h.T @ d

graph = rondo.Graph()
x, y, w1, w2, h, p = graph.declare("x: in f32[n, 64], y: in f32[n, 10], w1: resident f32[64, 32], w2: resident f32[32, 10],"
                                   " h: workspace f32[n, 32], p: out f32[n, 10]")
graph.add(hidden, x, w1, h)
graph.add(output, h, w2, p)
graph.add(learn, x, h, p, y, w1, w2, 0.5)

random, curve = np.random.default_rng(2), []
with rondo.Session(graph, options.platform) as session:
    for name, shape in ("w1", (64, 32)), ("w2", (32, 10)):
        session.upload(name, random.normal(0, shape[0] ** -0.5, shape).astype(np.float32))
    guess = np.zeros((50, 10), np.float32)
    for number in range(options.rounds):
        batch = random.integers(0, len(data) - 300, 50)  # the last 300 are never learnt
        session.run_round(x=pixels[batch], y=wanted[batch], p=guess)
        curve.append(float((guess.argmax(1) == wanted[batch].argmax(1)).mean()))
    unseen, right = np.zeros((300, 10), np.float32), wanted[-300:]
    session.run_round(x=pixels[-300:], y=right, p=unseen)  # another n: the same graph
smooth = np.convolve(curve, np.ones(10) / 10, "valid")
points = " ".join(f"{10 + 580 * i / max(1, len(smooth) - 1):.1f},{190 - 180 * a:.1f}" for i, a in enumerate(smooth))
pathlib.Path(options.svg).write_text(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 600 200"><polyline points="{points}"'
                                     ' fill="none" stroke="steelblue" stroke-width="2"/></svg>\n')
print(f"{(unseen.argmax(1) == right.argmax(1)).mean():.1%} of 300 digits that were never learnt; see {options.svg}")
