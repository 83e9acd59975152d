// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/graph/loops.hpp>
#include <rondo/graph/task_graph.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// The transformer as a graph: one token per round. main.cpp has a picture of it.
namespace decode {

using rondo::CoreType;
using rondo::HostInput;
using rondo::In;
using rondo::InOut;
using rondo::Input;
using rondo::Out;
using rondo::Output;
using rondo::Resident;
using rondo::TaskGraph;
using rondo::Workspace;
using Floats = std::vector<float>;

inline constexpr std::size_t width = 128, heads = 4, head = width / heads, hidden = 256, vocabulary = 256;
inline constexpr std::size_t layers = 2, positions = 160;

// --- the kernels

/// y = x / rms(x)
struct Norm {
  static constexpr std::string_view name = "norm";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> x, Out<float> y) noexcept {
    float sum = 0;
    for (const float v : x) sum += v * v;
    const float scale = 1 / std::sqrt(sum / static_cast<float>(x.size()) + 1e-5F);
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = scale * x[i];
  }
};

/// y = W x
struct MatVec {
  static constexpr std::string_view name = "mat_vec";
  static constexpr auto core = CoreType::cube;
  static void run(In<float, 2> w, In<float> x, Out<float> y) noexcept {
    for (std::size_t r = 0; r < y.size(); ++r) {
      float sum = 0;
      for (std::size_t c = 0; c < x.size(); ++c) sum += w(r, c) * x[c];
      y[r] = sum;
    }
  }
};

/// cache[position] = row
struct Store {
  static constexpr std::string_view name = "store";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> row, In<std::int32_t> position, InOut<float, 2> cache) noexcept {
    for (std::size_t i = 0; i < row.size(); ++i) cache(static_cast<std::size_t>(position[0]), i) = row[i];
  }
};

/// The sum, for each head, of the values of all positions so far, weighted by how well their keys match the query.
struct Attend {
  static constexpr std::string_view name = "attend";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> q, In<float, 2> k, In<float, 2> v, In<std::int32_t> position, Out<float> y) noexcept {
    const auto last = static_cast<std::size_t>(position[0]);
    float weight[positions];
    for (std::size_t h = 0; h < heads; ++h) {
      float most = -1e30F, total = 0;
      for (std::size_t p = 0; p <= last; ++p) {
        weight[p] = 0;
        for (std::size_t i = 0; i < head; ++i) weight[p] += q[h * head + i] * k(p, h * head + i);
        weight[p] /= std::sqrt(static_cast<float>(head));
        most = std::max(most, weight[p]);
      }
      for (std::size_t p = 0; p <= last; ++p) total += weight[p] = std::exp(weight[p] - most);
      for (std::size_t i = 0; i < head; ++i) {
        float sum = 0;
        for (std::size_t p = 0; p <= last; ++p) sum += weight[p] * v(p, h * head + i);
        y[h * head + i] = sum / total;
      }
    }
  }
};

/// y = a + b
struct Add {
  static constexpr std::string_view name = "add";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> a, In<float> b, Out<float> y) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = a[i] + b[i];
  }
};

/// y = x · sigmoid(x)
struct Silu {
  static constexpr std::string_view name = "silu";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> x, Out<float> y) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[i] / (1 + std::exp(-x[i]));
  }
};

/// The start of a text: its first token is given, and nothing is written yet.
struct Begin {
  static constexpr std::string_view name = "begin";
  static constexpr auto core = CoreType::vector;
  static void run(In<std::int32_t> first, Out<std::int32_t> token, Out<std::int32_t> position,
                  Out<std::int32_t> text) noexcept {
    token[0] = first[0];
    position[0] = 0;
    for (std::size_t i = 0; i < text.size(); ++i) text[i] = -1;
  }
};

/// x = table[token]
struct Embed {
  static constexpr std::string_view name = "embed";
  static constexpr auto core = CoreType::vector;
  static void run(In<float, 2> table, In<std::int32_t> token, Out<float> x) noexcept {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = table(static_cast<std::size_t>(token[0]), i);
  }
};

/// Writes the likeliest token; the text is done with the token `stop`, or when it is full.
struct Pick {
  static constexpr std::string_view name = "pick";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> logits, InOut<std::int32_t> token, InOut<std::int32_t> position, InOut<std::int32_t> text,
                  Out<std::int32_t> done, std::int32_t stop) noexcept {
    token[0] = 0;
    for (std::size_t i = 1; i < logits.size(); ++i) {
      if (logits[i] > logits[static_cast<std::size_t>(token[0])]) token[0] = static_cast<std::int32_t>(i);
    }
    text[static_cast<std::size_t>(position[0]++)] = token[0];
    done[0] = token[0] == stop || static_cast<std::size_t>(position[0]) == text.size() ? 1 : 0;
  }
};

// --- the model

inline Floats random_matrix(std::mt19937& random, std::size_t rows, std::size_t columns) {
  std::normal_distribution<float> normal(0, 1 / std::sqrt(static_cast<float>(columns)));
  Floats m(rows * columns);
  for (float& v : m) v = normal(random);
  return m;
}

struct Weights {
  struct Layer {
    Floats q, k, v, out, up, down;
  };
  Weights() {
    std::mt19937 random{42};
    embedding = random_matrix(random, vocabulary, width);
    for (Layer& l : layer) {
      for (Floats* m : {&l.q, &l.k, &l.v, &l.out}) *m = random_matrix(random, width, width);
      l.up = random_matrix(random, hidden, width);
      l.down = random_matrix(random, width, hidden);
    }
    head_out = random_matrix(random, vocabulary, width);
  }
  Floats embedding, head_out;
  Layer layer[layers];
};

/// A graph with the model, and the weights to upload before the first round.
struct Model {
  /// Adds the tasks that read a token's embedding and write the model's logits for the next token.
  template <class X, class Position, class Logits>
  void add_model(const Weights& w, X x, Position position, Logits logits) {
    auto now = step<Norm>("norm_in", width, x);
    auto stream = step<Add>("start", width, x, zero());
    for (std::size_t l = 0; l < layers; ++l) {
      const std::string at = std::to_string(l) + ".";
      const Weights::Layer& layer = w.layer[l];
      const auto q = step<MatVec>(at + "q", width, matrix(at + "Wq", width, width, layer.q), now);
      const auto k = step<MatVec>(at + "k", width, matrix(at + "Wk", width, width, layer.k), now);
      const auto v = step<MatVec>(at + "v", width, matrix(at + "Wv", width, width, layer.v), now);
      const auto keys = matrix(at + "keys", positions, width, Floats(positions * width));
      const auto values = matrix(at + "values", positions, width, Floats(positions * width));
      graph.add<Store>(k, position, keys);
      graph.add<Store>(v, position, values);
      const auto seen = step<Attend>(at + "seen", width, q, keys, values, position);
      const auto mixed = step<MatVec>(at + "mixed", width, matrix(at + "Wo", width, width, layer.out), seen);
      stream = step<Add>(at + "attended", width, stream, mixed);
      now = step<Norm>(at + "norm", width, stream);
      const auto up = step<MatVec>(at + "up", hidden, matrix(at + "Wup", hidden, width, layer.up), now);
      const auto active = step<Silu>(at + "silu", hidden, up);
      const auto down = step<MatVec>(at + "down", width, matrix(at + "Wdown", width, hidden, layer.down), active);
      stream = step<Add>(at + "out", width, stream, down);
      now = step<Norm>(at + "norm_out", width, stream);
    }
    graph.add<MatVec>(matrix("Whead", vocabulary, width, w.head_out), now, logits);
  }

  Resident<float> matrix(const std::string& name, std::size_t rows, std::size_t columns, Floats values) {
    uploads.push_back({graph.resident<float>(name, {rows, columns}), std::move(values)});
    return uploads.back().tensor;
  }
  Resident<float> zero() {
    uploads.push_back({graph.resident<float>("zero", {width}), Floats(width)});
    return uploads.back().tensor;
  }
  /// A task and the workspace for its result.
  template <class K, class... A>
  Workspace<float> step(const std::string& name, std::size_t size, const A&... arguments) {
    const auto result = graph.workspace<float>(name, {size});
    graph.add<K>(arguments..., result);
    return result;
  }

  struct Upload {
    Resident<float> tensor;
    Floats values;
  };
  TaskGraph graph;
  std::vector<Upload> uploads;
};

/// One token per round: the host chooses the next token.
struct Decoder : Model {
  explicit Decoder(const Weights& w) { add_model(w, x, position, logits); }

  Input<float> x = graph.input<float>("x", {width});
  HostInput<std::int32_t> position = graph.host_input<std::int32_t>("position", {1});
  Output<float> logits = graph.output<float>("logits", {vocabulary});
};

/// A whole text per round: a loop that the device ends when it has written the token `stop`, or all positions.
struct Writer : Model {
  Writer(const Weights& w, std::int32_t stop) {
    const auto table = matrix("embedding", vocabulary, width, w.embedding);
    const auto token = graph.workspace<std::int32_t>("token", {1});
    const auto position = graph.workspace<std::int32_t>("position", {1});
    const auto done = graph.workspace<std::int32_t>("done", {1});
    const auto x = graph.workspace<float>("x", {width});
    const auto logits = graph.workspace<float>("logits", {vocabulary});
    graph.add<Begin>(first, token, position, text);
    graph.repeat_until(done, positions, [&] {
      graph.add<Embed>(table, token, x);
      add_model(w, x, position, logits);
      graph.add<Pick>(logits, token, position, text, done, stop);
    });
  }

  HostInput<std::int32_t> first = graph.host_input<std::int32_t>("first", {1});
  Output<std::int32_t> text = graph.output<std::int32_t>("text", {positions});
};

}  // namespace decode
