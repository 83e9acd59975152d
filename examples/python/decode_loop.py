#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
#   x ─▶ [ project ] ─▶ q, k, v ─▶ [ store ] ─▶ cache k, v (resident) ─▶ [ attend ] ─▶ y
#                                     ▲ position (host input) ──────────────▲
"""One layer of attention that takes a prompt of any length in one round and then a token in each, over a cache of keys
and values that stays on the device; compared with the same in NumPy."""
import argparse

import numpy as np

import rondo

WIDTH, LENGTH = 16, 64


@rondo.kernel(f"x: in f32[n, {WIDTH}], w: in f32[3, {WIDTH}, {WIDTH}], qkv: out f32[3, n, {WIDTH}]", core="cube", quiet=True)
def project(x, w, qkv):
    np.matmul(x, w, out=qkv)


@rondo.kernel(f"qkv: in f32[3, n, {WIDTH}], at: in i32[p], keys: inout f32[l, {WIDTH}], values: inout f32[l, {WIDTH}]", quiet=True)
def store(qkv, at, keys, values):
    keys[at[0] : at[0] + qkv.shape[1]] = qkv[1]
    values[at[0] : at[0] + qkv.shape[1]] = qkv[2]


@rondo.kernel(
    f"qkv: in f32[3, n, {WIDTH}], at: in i32[p], keys: in f32[l, {WIDTH}], values: in f32[l, {WIDTH}], y: out f32[n, {WIDTH}]",
    quiet=True,
)
def attend(qkv, at, keys, values, y):
    n = qkv.shape[1]
    scores = qkv[0] @ keys[: at[0] + n].T / np.float32(WIDTH**0.5)
    scores += np.triu(np.full(scores.shape, -np.inf, np.float32), k=at[0] + 1)  # a token sees those before it
    weights = np.exp(scores - scores.max(1, keepdims=True))
    np.matmul(weights / weights.sum(1, keepdims=True), values[: at[0] + n], out=y)


def make_session(platform, w):
    graph = rondo.Graph()
    x, at, wt, keys, values, qkv, y = graph.declare(
        f"x: in f32[n, {WIDTH}], at: host_input i32[1], w: resident f32[3, {WIDTH}, {WIDTH}],"
        f" keys: resident f32[{LENGTH}, {WIDTH}], values: resident f32[{LENGTH}, {WIDTH}],"
        f" qkv: workspace f32[3, n, {WIDTH}], y: out f32[n, {WIDTH}]"
    )
    graph.add(project, x, wt, qkv)
    graph.add(store, qkv, at, keys, values)
    graph.add(attend, qkv, at, keys, values, y)
    session = rondo.Session(graph, platform)
    session.upload("w", w)
    for cache in "keys", "values":
        session.upload(cache, np.zeros((LENGTH, WIDTH), np.float32))
    return session


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--platform", default="a2a3_sim")
    options.add_argument("--tokens", type=int, default=20)
    options = options.parse_args()
    random = np.random.default_rng(3)
    w = random.normal(0, WIDTH**-0.5, (3, WIDTH, WIDTH)).astype(np.float32)
    prompt = random.normal(size=(9, WIDTH)).astype(np.float32)

    written, at = [prompt], 0
    with make_session(options.platform, w) as session:
        while at < len(prompt) + options.tokens:
            x = written[-1]
            y = np.zeros_like(x)
            session.run_round(x=x, at=np.array([at], np.int32), y=y)  # the prompt has a shape of its own, tokens share one
            at += len(x)
            written.append(np.tanh(y[-1:]))  # what is written next
        shapes = session.shapes

    # All at once, with no cache, NumPy gives the same.
    x = np.concatenate(written[:-1])
    q, k, v = x @ w
    scores = q @ k.T / np.float32(WIDTH**0.5) + np.triu(np.full((len(x), len(x)), -np.inf, np.float32), k=1)
    weights = np.exp(scores - scores.max(1, keepdims=True))
    golden = np.tanh((weights / weights.sum(1, keepdims=True) @ v)[-1:])
    np.testing.assert_allclose(written[-1], golden, rtol=1e-3, atol=1e-4)
    print(f"a prompt of {len(prompt)} and {options.tokens} tokens in {shapes} shapes, as NumPy computes them at once")


if __name__ == "__main__":
    main()
