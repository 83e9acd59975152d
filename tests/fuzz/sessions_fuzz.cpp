// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Any bytes as a program against a session: bind, hold, upload, change a scalar, drop a round, fail, stop, close, in
// any order and in any number. Each round that succeeds has the results of plain arithmetic, a session that was closed
// or poisoned says so to every call, and each session closes. On the host, on a simulated chip with rounds in flight,
// and on the stand-in for an NPU's runtime, which ends the process for a call that it must not be given.
#include <fuzz/fuzz.hpp>
#include <rondo/platform/host/host.hpp>
#include <rondo/rondo.hpp>
#include <stand_in/over_stand_in.hpp>

#include <algorithm>
#include <array>
#include <span>
#include <stdexcept>
#include <string_view>

using namespace rondo;

namespace {

constexpr std::size_t n = 4;
using Floats = std::array<float, n>;

/// y = factor (x + w), and fails if x is negative.
struct Combine {
  static constexpr std::string_view name = "combine";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> x, In<float> w, Out<float> y, float factor) {
    if (x[0] < 0) throw std::runtime_error("a negative element");
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = factor * (x[i] + w[i]);
  }
};
struct Add {
  static constexpr std::string_view name = "add";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> y, InOut<float> sum) noexcept {
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += y[i];
  }
};

struct Graph {
  TaskGraph graph;
  Input<float> x = graph.input<float>("x", {n});
  Input<float> w = graph.input<float>("w", {n});
  Output<float> y = graph.output<float>("y", {n});
  Resident<float> sum = graph.resident<float>("sum", {n});
  TaskId combine = graph.add<Combine>(x, w, y, 1.0F);
  Graph() {
    graph.add<Add>(y, sum);
    graph.keep(w);
  }
};

template <class Session>
class Program {
 public:
  explicit Program(fuzz::Bytes bytes) : bytes_{bytes} { upload(); }
  ~Program() {
    finish();
    fuzz::require(session_.close().ok() && session_.close().ok());
    fuzz::require(session_.run_round(bind(g_.x, x_), bind(g_.w, w_), bind(g_.y, y_)).code() == Errc::closed);
  }

  void run() {
    for (int steps = 0; !bytes_.empty() && !is_over_ && steps < 200; ++steps) step();
  }

 private:
  static constexpr bool is_pipelined = requires(Session& session) { session.wait_all(); };

  /// A round in flight: what it reads, and what it must write.
  struct Flight {
    Floats x, w, y, expected;
    bool is_open = false;
  };

  [[nodiscard]] float number() { return static_cast<float>(bytes_.take() % 64); }
  void fill(Floats& values) { values.fill(number()); }

  void step() {
    switch (bytes_.take() % 12) {
      case 0: return round(0);
      case 1: return round(1);
      case 2: return hold();
      case 3: return upload();
      case 4: return download();
      case 5: return set_factor();
      case 6: return be_refused();
      case 7: return drop();
      case 8: return fail();
      case 9: return stop();
      case 10: return submit();
      default: return end();
    }
  }

  /// What the round must write, and what it leaves behind.
  Floats expect(const Floats& x, const Floats& w) {
    if (!is_held_) in_arena_ = w;
    Floats y{};
    for (std::size_t i = 0; i < n; ++i) {
      y[i] = factor_ * (x[i] + in_arena_[i]);
      sum_[i] += y[i];
    }
    has_run_ = true;
    return y;
  }
  void round(int way) {
    finish();
    fill(x_);
    fill(w_);
    y_.fill(-1);
    const Floats expected = expect(x_, w_);
    const Status status = way == 0 ? session_.run_round(bind(g_.x, x_), bind(g_.w, w_), bind(g_.y, y_))
                                   : session_.run_round(bind(g_.y, y_), bind(g_.w, w_), bind(g_.x, x_));
    fuzz::require(status.ok() && y_ == expected);
  }
  void submit() {
    if constexpr (is_pipelined) {
      if (next_ == flights_.size()) finish();
      Flight& flight = flights_[next_++];
      fill(flight.x);
      fill(flight.w);
      flight.y.fill(-1);
      flight.expected = expect(flight.x, flight.w);
      flight.is_open = true;
      const auto ticket = session_.submit_round(bind(g_.x, flight.x), bind(g_.w, flight.w), bind(g_.y, flight.y));
      fuzz::require(ticket.submitted().ok());
    } else {
      round(0);
    }
  }
  void finish() {
    if constexpr (is_pipelined) {
      const Status status = session_.wait_all();
      for (Flight& flight : flights_) {
        if (flight.is_open && !is_over_) fuzz::require(status.ok() && flight.y == flight.expected);
        flight.is_open = false;
      }
      next_ = 0;
    }
  }

  void hold() {
    const Status status = is_held_ ? session_.release_hold(g_.w) : session_.hold(g_.w);
    if (!is_held_ && !has_run_) {
      fuzz::require(status.code() == Errc::unbound_tensor);
    } else {
      fuzz::require(status.ok());
      is_held_ = !is_held_;
    }
  }
  void upload() {
    fill(sum_);
    fuzz::require(session_.upload(g_.sum, sum_).ok());
  }
  void download() {
    Floats values{};
    fuzz::require(session_.download(g_.sum, values).ok() && values == sum_);
  }
  void set_factor() {
    factor_ = number();
    fuzz::require(session_.set_scalar(g_.combine, 0, factor_).ok());
  }
  /// Refused rounds change nothing.
  void be_refused() {
    std::array<float, n - 1> small{};
    const std::span<float> null{static_cast<float*>(nullptr), n};
    Floats y{};
    fuzz::require(session_.run_round(bind(g_.x, small), bind(g_.w, w_), bind(g_.y, y)).code() == Errc::wrong_size);
    fuzz::require(session_.run_round(bind(g_.x, null), bind(g_.w, w_), bind(g_.y, y)).code() == Errc::null_memory);
    fuzz::require(session_.run_round(bind(g_.x, x_), bind(g_.x, x_), bind(g_.y, y)).code() != Errc::ok);
    Graph other;
    fuzz::require(session_.run_round(bind(other.x, x_), bind(g_.w, w_), bind(g_.y, y)).code() == Errc::wrong_tensor);
  }
  /// What a round that did not end leaves behind is written anew.
  void recover() {
    if (is_held_) fuzz::require(session_.release_hold(g_.w).ok());
    is_held_ = has_run_ = false;
    upload();
  }
  void drop() {
    if constexpr (!is_pipelined) {
      {
        auto round = session_.begin_round(bind(g_.x, x_), bind(g_.w, w_), bind(g_.y, y_));
        if (bytes_.take() % 2 == 0) (void)std::move(round).launch();
      }
      recover();
    }
  }
  void fail() {
    finish();
    Floats x{}, y{};
    x.fill(-1);
    const Status status = session_.run_round(bind(g_.x, x), bind(g_.w, w_), bind(g_.y, y));
    fuzz::require(!status.ok());
    after_failure(status);
  }
  void stop() {
    finish();
    if constexpr (requires { Session::Platform::runs_over_stand_in; }) {
      session_.request_stop();  // ends rounds with loops only
      round(0);
    } else if constexpr (requires { session_.request_stop(); }) {
      session_.request_stop();
      const Status status = session_.run_round(bind(g_.x, x_), bind(g_.w, w_), bind(g_.y, y_));
      fuzz::require(status.code() == Errc::stopped);
      after_failure(status);
    }
  }
  /// The session works, or says to each call that it does not.
  void after_failure(Status status) {
    if (!session_.poisoned()) return recover();
    is_over_ = true;
    fuzz::require(status.poisoned() || status.code() == Errc::poisoned);
    Floats values{};
    fuzz::require(session_.run_round(bind(g_.x, x_), bind(g_.w, w_), bind(g_.y, y_)).code() == Errc::poisoned);
    fuzz::require(session_.upload(g_.sum, values).code() == Errc::poisoned);
    fuzz::require(session_.hold(g_.w).code() == Errc::poisoned);
  }
  void end() {
    if (bytes_.take() % 4 != 0) return;  // seldom, so that programs become long
    finish();
    is_over_ = true;
    fuzz::require(session_.close().ok());
    fuzz::require(session_.upload(g_.sum, sum_).code() == Errc::closed);
  }

  fuzz::Bytes bytes_;
  Graph g_;
  Session session_{freeze(g_.graph)};
  Floats x_{}, w_{}, y_{}, sum_{}, in_arena_{};
  std::array<Flight, 3> flights_{};
  std::size_t next_ = 0;
  float factor_ = 1;
  bool is_held_ = false;
  bool has_run_ = false;
  bool is_over_ = false;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Bytes bytes{data, size};
  switch (bytes.take() % 3) {
    case 0: Program<RoundSession<Host>>{bytes}.run(); break;
    case 1: Program<PipelinedSession<A2A3Sim, 3>>{bytes}.run(); break;
    default: Program<RoundSession<A2A3OverStandIn>>{bytes}.run(); break;
  }
  return 0;
}
