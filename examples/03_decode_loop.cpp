// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

//                  ┌────────────────────── × 2 layers ──────────────────────┐
//   x ──▶ [ norm ] ──▶ [ q k v ] ──▶ [ store ] ──▶ [ attend ] ──▶ [ + out ] ──▶ [ norm ] ──▶ [ feed forward + ] ──▶ …
//   ──▶ logits
//                                    cache k, v (resident)   ▲
//   position (host input) ──────────────────┴────────────────┘
//
// A small transformer that writes text, one token per round. The cache of keys and values stays on the device; x and
// logits stand in device buffers that alternate from round to round, so each round refreshes their addresses in the
// args table, and nothing else; the position rides in the table.

#include <rondo/observe/steady_clock.hpp>
#include <rondo/rondo.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace rondo;
using Floats = std::vector<float>;

constexpr std::size_t width = 128, heads = 4, head = width / heads, hidden = 256, vocabulary = 256;
constexpr std::size_t layers = 2, positions = 160;

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

/// For each head: the values of all positions so far, weighted by how well their keys answer the query.
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

// --- the model

Floats random_matrix(std::mt19937& random, std::size_t rows, std::size_t columns) {
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

/// The graph, and what has to be uploaded before the first round.
struct Decoder {
  explicit Decoder(const Weights& w) {
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
  Input<float> x = graph.input<float>("x", {width});
  HostInput<std::int32_t> position = graph.host_input<std::int32_t>("position", {1});
  Output<float> logits = graph.output<float>("logits", {vocabulary});
  std::vector<Upload> uploads;
};

/// The same model in plain loops, for comparison.
class Reference {
 public:
  explicit Reference(const Weights& w) : w_{w} {}

  Floats logits(std::size_t token) {
    Floats stream(w_.embedding.begin() + static_cast<long>(token * width),
                  w_.embedding.begin() + static_cast<long>((token + 1) * width));
    for (std::size_t l = 0; l < layers; ++l) {
      const Weights::Layer& layer = w_.layer[l];
      Floats now = norm(stream);
      const Floats q = times(layer.q, now);
      keys_[l].push_back(times(layer.k, now));
      values_[l].push_back(times(layer.v, now));
      Floats seen(width);
      for (std::size_t h = 0; h < heads; ++h) {
        std::vector<double> weight;
        double total = 0;
        for (const Floats& k : keys_[l]) {
          double score = 0;
          for (std::size_t i = h * head; i < (h + 1) * head; ++i) score += double{q[i]} * k[i];
          weight.push_back(std::exp(score / std::sqrt(double{head})));
          total += weight.back();
        }
        for (std::size_t p = 0; p < weight.size(); ++p) {
          for (std::size_t i = h * head; i < (h + 1) * head; ++i)
            seen[i] += static_cast<float>(weight[p] / total * values_[l][p][i]);
        }
      }
      add(stream, times(layer.out, seen));
      Floats up = times(layer.up, norm(stream));
      for (float& v : up) v = v / (1 + std::exp(-v));
      add(stream, times(layer.down, up));
    }
    return times(w_.head_out, norm(stream));
  }

 private:
  static Floats norm(const Floats& x) {
    double sum = 0;
    for (const float v : x) sum += double{v} * v;
    const double scale = 1 / std::sqrt(sum / static_cast<double>(x.size()) + 1e-5);
    Floats y(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = static_cast<float>(scale * x[i]);
    return y;
  }
  static Floats times(const Floats& m, const Floats& x) {
    Floats y(m.size() / x.size());
    for (std::size_t r = 0; r < y.size(); ++r) {
      double sum = 0;
      for (std::size_t c = 0; c < x.size(); ++c) sum += double{m[r * x.size() + c]} * x[c];
      y[r] = static_cast<float>(sum);
    }
    return y;
  }
  static void add(Floats& x, const Floats& y) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += y[i];
  }

  const Weights& w_;
  std::vector<Floats> keys_[layers], values_[layers];
};

struct Policies : DefaultPolicies {
  using Observe = observe::TimedCounters;
};

/// Stops the program with the session's sentence for a status.
template <class Session>
void require(Session& session, Status status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", session.explain(status).c_str());
  std::exit(1);
}

}  // namespace

int main() {
  const Weights weights;
  Decoder decoder(weights);
  Reference reference(weights);
  auto session = open<SelectedPlatform, Policies>(decoder.graph);
  for (const auto& [tensor, values] : decoder.uploads) require(session, session.upload(tensor, values));

  auto& device = session.platform();
  const auto buffer = [&](std::size_t size) {
    return DeviceSpan<float>{device.allocate(Bytes{size * sizeof(float)}, Bytes{1024}).template as<float>(), size};
  };
  const DeviceSpan<float> x[] = {buffer(width), buffer(width)};
  const DeviceSpan<float> logits[] = {buffer(vocabulary), buffer(vocabulary)};

  using Clock = std::chrono::steady_clock;
  Clock::duration rounds_took{};
  float worst = 0;
  std::size_t token = 1;
  Floats host(vocabulary);
  for (std::int32_t position = 0; position < static_cast<std::int32_t>(positions); ++position) {
    const auto& in = x[position % 2];
    const auto& out = logits[position % 2];
    const Floats expected = reference.logits(token);

    require(session, device.copy_in(in.data().as<std::byte>(), &weights.embedding[token * width], Bytes{4 * width}));
    const auto start = Clock::now();
    require(session,
            session.run_round(bind(decoder.x, in), bind(decoder.position, position), bind(decoder.logits, out)));
    rounds_took += Clock::now() - start;
    require(session, device.copy_out(host.data(), out.data().as<std::byte>(), Bytes{4 * vocabulary}));
    require(session, device.wait());

    for (std::size_t i = 0; i < vocabulary; ++i) worst = std::max(worst, std::fabs(host[i] - expected[i]));
    token = static_cast<std::size_t>(std::max_element(host.begin(), host.end()) - host.begin());
  }

  const auto& counters = session.observer();
  const double ns = static_cast<double>(std::chrono::duration_cast<std::chrono::nanoseconds>(rounds_took).count());
  std::printf("%s: %zu tokens, logits differ from the plain loops by at most %.1e\n", SelectedPlatform::name, positions,
              static_cast<double>(worst));
  std::printf("refreshes: %llu of %llu rounds, %llu slots, %.3f %% of a round's %.1f us\n",
              static_cast<unsigned long long>(counters.refreshes[static_cast<int>(UpdateLevel::model_io)]),
              static_cast<unsigned long long>(counters.rounds), static_cast<unsigned long long>(counters.slots),
              100 * static_cast<double>(counters.refresh_ns) / ns, ns / static_cast<double>(positions) / 1000);
  for (const auto& span : {x[0], x[1], logits[0], logits[1]})
    require(session, device.release(span.data().as<std::byte>()));
  return worst < 1e-5F && counters.rounds == positions ? 0 : 1;
}
