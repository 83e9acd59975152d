// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../../../bench/graph_shapes.hpp"
#include "../../../examples/02_digits/network.hpp"
#include "../../../examples/03_decode_loop/model.hpp"
#include "kernels.hpp"

#include <rondo/observe/bench_main.hpp>
#include <rondo/platform/onboard/onboard.hpp>
#include <rondo/platform/sim/dynamic/orchestrator.hpp>
#include <rondo/rondo.hpp>
#include <rondo/runtime/aicpu_build_graph.hpp>
#include <rondo/runtime/tensormap_and_ringbuffer.hpp>
#include <rondo/session/shaped_session.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

/// The rounds of the examples and of the benchmarks. A case opens its session by `open<P>()`, over memory that it
/// holds, and runs a round of it by `round(session)`.
namespace bench_rounds {

/// The policies of sessions on `P`: rounds are observed, and timed on devices that can measure them.
template <class P>
struct Watched : rondo::observe::MeasuredRounds<> {
  using Time =
      std::conditional_t<requires { typename P::Timed; } || rondo::HasRoundTime<P>, rondo::DeviceTime, rondo::NoTime>;
};

/// The files with kernels for real NPUs.
inline std::vector<std::string> kernel_files;

/// The options of sessions on `P`.
template <class P>
[[nodiscard]] typename P::Options options() {
  typename P::Options options{};
  if constexpr (requires { options.kernels; }) {
    static std::vector<rondo::KernelBinary> binaries;
    binaries.clear();
    for (const std::string& file : kernel_files) binaries.push_back(rondo::KernelBinary::from_file(file.c_str()));
    options.kernels = binaries;
  }
  return options;
}
/// Opens a session that runs one round at a time.
template <class P>
[[nodiscard]] auto open_watched(const rondo::TaskGraph& graph) {
  return rondo::open<P, Watched<P>>(graph, options<P>());
}

/// Ends the case with the session's explanation of a status.
template <class Session>
void require(Session& session, rondo::Status status) {
  if (!status) throw rondo::Error(status.code(), session.explain(status));
}

/// The graph of the README and of examples/01_saxpy.cpp: one task over 1024 elements.
class SaxpyRound {
 public:
  SaxpyRound() { graph_.add<Saxpy>(x_, y_, 2.0F); }
  template <class P>
  [[nodiscard]] auto open() {
    return open_watched<P>(graph_);
  }
  [[gnu::always_inline]] rondo::Status round(auto& session) { return session.run_round(bind(x_, hx_), bind(y_, hy_)); }

 private:
  rondo::TaskGraph graph_;
  rondo::Input<float> x_ = graph_.input<float>("x", {1024});
  rondo::InputOutput<float> y_ = graph_.inout<float>("y", {1024});
  std::vector<float> hx_ = std::vector<float>(1024, 1.0F), hy_ = std::vector<float>(1024);
};

/// The case of bench/pipeline: three rounds of one task in flight. The time of a round is the host's time between the
/// ends of two rounds.
class Pipeline {
 public:
  Pipeline() { graph_.add<Twice>(x_, y_); }
  template <class P>
  [[nodiscard]] auto open() {
    return rondo::open_pipelined<P, 3, Watched<P>>(graph_, options<P>());
  }
  rondo::Status round(auto& session) {
    return session.submit_round(bind(x_, hx_), bind(y_, hy_[turn_++ % hy_.size()])).submitted();
  }
  rondo::Status finish(auto& session) { return session.wait_all(); }

 private:
  rondo::TaskGraph graph_;
  rondo::Input<float> x_ = graph_.input<float>("x", {1024});
  rondo::Output<float> y_ = graph_.output<float>("y", {1024});
  std::vector<float> hx_ = std::vector<float>(1024, 1.0F);
  std::array<std::vector<float>, 3> hy_{hx_, hx_, hx_};
  std::size_t turn_ = 0;
};

/// A training step of examples/02_digits: 16 tasks, 32 digits.
class DigitsStep {
 public:
  template <class P>
  [[nodiscard]] auto open() {
    return open_watched<P>(step_.graph);
  }
  void prepare(auto& session) { upload(session, step_.net); }
  rondo::Status round(auto& session) {
    return session.run_round(bind(step_.pixels, pixels_), bind(step_.labels, labels_), bind(step_.rate, rate_),
                             bind(step_.loss, loss_));
  }
  static void upload(auto& session, const digits::Layers& net) {
    const digits::Weights weights = digits::random_weights(digits::Random{1});
    require(session, session.upload(net.w1, weights.w1));
    require(session, session.upload(net.b1, weights.b1));
    require(session, session.upload(net.w2, weights.w2));
    require(session, session.upload(net.b2, weights.b2));
  }

 private:
  static constexpr std::size_t batch = 32;
  digits::TrainingStep step_{batch};
  std::vector<float> pixels_ = std::vector<float>(batch * digits::pixels_per_digit, 0.5F);
  std::vector<std::int32_t> labels_ = std::vector<std::int32_t>(batch, 3);
  float rate_ = 0.01F;
  float loss_ = 0;
};

/// The same network, which classifies 32 digits.
class DigitsClassify {
 public:
  template <class P>
  [[nodiscard]] auto open() {
    return open_watched<P>(net_.graph);
  }
  void prepare(auto& session) { DigitsStep::upload(session, net_.net); }
  rondo::Status round(auto& session) {
    return session.run_round(bind(net_.pixels, pixels_), bind(net_.probabilities, probabilities_));
  }

 private:
  digits::Inference net_{32};
  std::vector<float> pixels_ = std::vector<float>(32 * digits::pixels_per_digit, 0.5F);
  std::vector<float> probabilities_ = std::vector<float>(32 * digits::classes);
};

/// A token of examples/03_decode_loop: device buffers that alternate, so each round refreshes the args table. All
/// tokens have the same position, so all rounds do the same work.
class DecodeToken {
 public:
  template <class P>
  [[nodiscard]] auto open() {
    return open_watched<P>(decoder_.graph);
  }
  void prepare(auto& session) {
    for (const auto& [tensor, values] : decoder_.uploads) require(session, session.upload(tensor, values));
    auto& device = session.platform();
    const auto buffer = [&](std::size_t size) {
      const auto block = device.allocate(rondo::Bytes{size * sizeof(float)}, rondo::Bytes{1024});
      blocks_.push_back(block);
      return rondo::DeviceSpan<float>{block.template as<float>(), size};
    };
    for (auto& each : x_) each = buffer(decode::width);
    for (auto& each : logits_) each = buffer(decode::vocabulary);
    const std::vector<float> token(decode::width, 0.1F);
    for (const auto& each : x_) {
      require(session, device.copy_in(each.data().template as<std::byte>(), token.data(),
                                      rondo::Bytes{token.size() * sizeof(float)}));
    }
  }
  rondo::Status round(auto& session) {
    const std::size_t now = turn_++ % 2;
    return session.run_round(bind(decoder_.x, x_[now]), bind(decoder_.position, position_),
                             bind(decoder_.logits, logits_[now]));
  }
  void release(auto& session) {
    for (const auto block : blocks_) (void)session.platform().release(block);
    blocks_.clear();
  }

 private:
  decode::Decoder decoder_{decode::Weights{}};
  std::array<rondo::DeviceSpan<float>, 2> x_, logits_;
  std::vector<rondo::DevicePtr<std::byte>> blocks_;
  std::int32_t position_ = 16;
  std::size_t turn_ = 0;
};

/// The graph of examples/07_toy_platform: two tasks over 256 elements.
class ScaleAdd {
 public:
  ScaleAdd() {
    const auto t = graph_.workspace<float>("t", {256});
    graph_.add<Scale>(x_, t, 3.0F);
    graph_.add<Accumulate>(t, y_);
  }
  template <class P>
  [[nodiscard]] auto open() {
    return open_watched<P>(graph_);
  }
  rondo::Status round(auto& session) { return session.run_round(bind(x_, hx_), bind(y_, hy_)); }

 private:
  rondo::TaskGraph graph_;
  rondo::Input<float> x_ = graph_.input<float>("x", {256});
  rondo::InputOutput<float> y_ = graph_.inout<float>("y", {256});
  std::vector<float> hx_ = std::vector<float>(256, 1.0F), hy_ = std::vector<float>(256);
};

/// A product of two 64 × 64 matrices, computed by a candidate of examples/04_tune_matmul.
class MatMul {
 public:
  MatMul() { graph_.add<digits::MatMul>(a_, b_, c_); }
  template <class P>
  [[nodiscard]] auto open() {
    return open_watched<P>(graph_);
  }
  rondo::Status round(auto& session) { return session.run_round(bind(a_, ha_), bind(b_, hb_), bind(c_, hc_)); }

 private:
  static constexpr std::size_t n = 64;
  rondo::TaskGraph graph_;
  rondo::Input<float> a_ = graph_.input<float>("a", {n, n}), b_ = graph_.input<float>("b", {n, n});
  rondo::Output<float> c_ = graph_.output<float>("c", {n, n});
  std::vector<float> ha_ = std::vector<float>(n * n, 1.0F), hb_ = std::vector<float>(n * n, 0.5F), hc_ = ha_;
};

/// The case of bench/round_overhead: K tensors of 64 bytes in and out, and a task that touches the first.
template <std::size_t K>
class Overhead {
 public:
  Overhead() {
    for (std::size_t i = 0; i < K; ++i) tensors_[i] = graph_.inout<float>("t" + std::to_string(i), {16});
    add(std::make_index_sequence<K>{});
  }
  template <class P>
  [[nodiscard]] auto open() {
    return open_watched<P>(graph_);
  }
  [[gnu::always_inline]] rondo::Status round(auto& session) { return run(session, std::make_index_sequence<K>{}); }

 private:
  template <std::size_t... I>
  void add(std::index_sequence<I...>) {
    graph_.add_raw("touch", rondo::CoreType::vector, &touch, rondo::updates(tensors_[I])...);
  }
  template <std::size_t... I>
  [[gnu::always_inline]] rondo::Status run(auto& session, std::index_sequence<I...>) {
    return session.run_round(bind(tensors_[I], memory_[I])...);
  }

  rondo::TaskGraph graph_;
  std::array<rondo::InputOutput<float>, K> tensors_;
  std::array<std::array<float, 16>, K> memory_{};
};

/// A case of bench/graph_replay: a graph of a given shape whose tasks have no tensors; `work`: 0 for empty tasks, 1 for
/// 1 µs, or as many as the shape says.
class Replay {
 public:
  Replay(const graph_shapes::Shape& shape, int work) {
    for (std::size_t t = 0; t < shape.tasks; ++t) {
      if (shape.costs.empty() || work == 0) {
        graph_.add_raw("task", rondo::CoreType::vector, work == 0 ? &empty : &microsecond);
      } else {
        graph_.add_raw("task", rondo::CoreType::vector, &microseconds, shape.cost(t));
      }
    }
    for (const auto& [before, after] : shape.edges) graph_.add_edge(rondo::TaskId{before}, rondo::TaskId{after});
  }
  template <class P>
  [[nodiscard]] auto open() {
    return open_watched<P>(graph_);
  }
  rondo::Status round(auto& session) { return session.run_round(); }

 private:
  rondo::TaskGraph graph_{rondo::Edges::explicit_};
};

/// A case of bench/runtimes: 64 tasks that an orchestration adds in each round, each after the one before.
template <class BuiltBy>
class Orchestrated {
 public:
  template <class P>
  struct Policies : Watched<P> {
    using Runtime = BuiltBy;
  };
  template <class P>
  [[nodiscard]] auto open() {
    return rondo::open<P, Policies<P>>(graph_, orchestration());
  }
  rondo::Status round(auto& session) { return session.run_round(bind(x_, hx_), bind(y_, hy_)); }

 private:
  [[nodiscard]] auto orchestration() const {
    return [x = x_, y = y_](auto& round) {
      rondo::runtime::TaskRef last;
      for (int t = 0; t < 64; ++t) {
        const rondo::runtime::TaskRef task = round.template add<Accumulate>(x, y);
        if constexpr (requires { round.add_edge(last, task); }) {
          if (t > 0) round.add_edge(last, task);
        }
        last = task;
      }
    };
  }
  rondo::TaskGraph graph_;
  rondo::Input<float> x_ = graph_.input<float>("x", {16});
  rondo::InputOutput<float> y_ = graph_.inout<float>("y", {16});
  std::array<float, 16> hx_{}, hy_{};
};

/// A case of bench/launch_cache: a graph of symbolic size, with four shapes in turn.
class Shapes {
 public:
  Shapes() {
    for (auto& each : hx_) each = std::vector<float>(256 * (1 + static_cast<std::size_t>(&each - hx_.data())), 1.0F);
    hy_ = hx_;
    graph_.add<Twice>(x_, y_);
  }
  template <class P>
  [[nodiscard]] auto open() {
    return rondo::open_shaped<P, Watched<P>>(graph_, options<P>());
  }
  rondo::Status round(auto& session) {
    const std::size_t now = turn_++ % hx_.size();
    return session.run_round(bind(x_, hx_[now]), bind(y_, hy_[now]));
  }

 private:
  rondo::TaskGraph graph_;
  rondo::Dim n_ = graph_.dim("n");
  rondo::Input<float> x_ = graph_.input<float>("x", {n_});
  rondo::Output<float> y_ = graph_.output<float>("y", {n_});
  std::array<std::vector<float>, 4> hx_, hy_;
  std::size_t turn_ = 0;
};

}  // namespace bench_rounds
