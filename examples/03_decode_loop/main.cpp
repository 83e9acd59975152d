// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

//                 ┌────────────────────────────────── × 2 layers ───────────────────────────────────┐
//   x ─▶[ norm ]─▶[ q k v ]─▶[ store ]─▶[ attend ]─▶[ + out ]─▶[ norm ]─▶[ feed forward + ]─▶[ norm ]─▶[ logits ]
//                                ▲           ▲ cache k, v (resident)
//   position (host input) ───────┴───────────┘
//
// A small transformer that writes text, one token per round. The cache of keys and values stays on the device. x and
// logits are in device buffers that alternate from round to round, so each round refreshes only their addresses in the
// args table. The position is a host input, which travels in the table.
//
// If the platform runs loops, a second session writes the same text in one round, which repeats the model until it has
// written the last token. If the device decides about the loop, the host has nothing to do between tokens; if the host
// decides, it reads one number after each, and the program says so.

#include "model.hpp"

#include <rondo/observe/clocks.hpp>
#include <rondo/observe/counters.hpp>
#include <rondo/rondo.hpp>
#include <rondo/session/loop_report.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

using namespace decode;
using namespace rondo;

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

constexpr std::int32_t first_token = 1;

/// Stops the program with the session's sentence for a status.
template <class Session>
void require(Session& session, Status status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", session.explain(status).c_str());
  std::exit(1);
}

/// Whether a loop in the graph writes `text` up to a token in its middle, as the rounds did.
template <class P>
bool writes_in_one_round(const Weights& weights, std::vector<std::int32_t> text) {
  if constexpr (HasLoops<P>) {
    const std::int32_t stop = text[positions / 2];
    std::fill(std::find(text.begin(), text.end(), stop) + 1, text.end(), -1);
    Writer writer(weights, stop);
    auto session = open<P>(writer.graph);
    for (const rondo::LoopReport& loop : session.explain_loops()) {  // rondo/session/loop_report.hpp
      const bool is_host = loop.decider == rondo::LoopReport::Decider::host;
      std::printf("loop '%s': the %s decides%s%s\n", loop.name.c_str(), is_host ? "host" : "device",
                  is_host ? ", since " : "", loop.why);
    }
    for (const auto& [tensor, values] : writer.uploads) require(session, session.upload(tensor, values));
    std::vector<std::int32_t> written(positions);
    require(session, session.run_round(bind(writer.first, first_token), bind(writer.text, written)));
    const auto tokens = std::find(written.begin(), written.end(), -1) - written.begin();
    std::printf("a loop in the graph: %td tokens in one round, %s\n", tokens,
                written == text ? "the same as with a round for each" : "not the same as with a round for each");
    return written == text;
  } else {
    std::printf("%s runs no loops, so each token takes a round\n", P::name);
    return true;
  }
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
  auto token = static_cast<std::size_t>(first_token);
  Floats host(vocabulary);
  std::vector<std::int32_t> text;
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
    text.push_back(static_cast<std::int32_t>(token));
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
  return worst < 1e-5F && counters.rounds == positions && writes_in_one_round<SelectedPlatform>(weights, text) ? 0 : 1;
}
