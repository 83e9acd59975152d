// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fuzz/fuzz.hpp>
#include <fuzz/session_model.hpp>
#include <rondo/rondo.hpp>
#include <rondo/session/loop_report.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

namespace rondo::fuzz {

/// A session, and what its device must hold.
template <class Session>
class SessionUnderTest : private SessionModel {
  static constexpr bool is_pipelined = requires(Session& session) { session.wait_all(); };
  static constexpr bool checks_memory = std::is_same_v<DefaultPolicies::Check, CheckMemory>;
  static constexpr bool has_values = requires(Session& session) { session.values(); };
  struct Prebind {
    Session* session;
    auto operator()(const auto&... pairs) const { return session->prebind(pairs...); }
  };

 public:
  struct Graph : SessionGraph {
    explicit Graph(Bytes& bytes) : SessionGraph(bytes, has_values) {}
  };
  using P = typename Session::Platform;

  explicit SessionUnderTest(const SessionGraph& graph) : SessionModel(graph) {}
  SessionUnderTest(const SessionUnderTest&) = delete;
  SessionUnderTest& operator=(const SessionUnderTest&) = delete;
  ~SessionUnderTest() {
    finish();
    if (!is_over_) {
      for (const std::size_t resident : {0U, 1U}) download(resident);
      check_arrays();
    }
    release_arena();
    require(session_.close().ok() && session_.close().ok());
    require(run_plainly(memory_).code() == Errc::closed);
  }

  [[nodiscard]] bool is_over() const { return is_over_; }
  [[nodiscard]] bool has_failed() const { return has_failed_; }

  /// One call of the session, or a few, with a check of what they do.
  void step(Bytes& bytes, SessionUnderTest* other) {
    const auto call = bytes.take();
    const bool is_varied = call / 20 % 2 != 0;
    switch (call % 20) {
      case 0: return round(bytes, [this](auto& m) { return run_plainly(m); });
      case 1: return round(bytes, [this](auto& m) { return with_pairs_reversed(g_, m, run()); });
      case 2: return round(bytes, [this](auto& m) { return with_pairs(g_, m, run_by_steps()); });
      case 3: return hold(bytes.take() % 2 == 0 ? g_.x : g_.w);
      case 4: return upload(bytes.take() % 2, number(bytes));
      case 5: return download(bytes.take() % 2);
      case 6: return set_factor(bytes.take() % 8, number(bytes));
      case 7: return be_refused();
      case 8: return drop(bytes);
      case 9: return bytes.take() % 2 == 0 ? fail() : stop(bytes);
      case 10:
      case 11: return submit(bytes);
      case 12: return move_arena(bytes.take() % 4 != 0);
      case 13: return prebind(bytes, is_varied);
      case 14: return run_prebound(bytes, other, is_varied);
      case 15: return bytes.take() % 4 == 0 ? close() : round_by_number(bytes);  // seldom, so that programs become long
      case 16: return submit_by_number(bytes);
      case 17: return round_on_device(bytes);
      default: return change_array(bytes);
    }
  }
  /// Another session of the process has failed.
  void note_failed_for_all() {
    if (is_over_) return;
    finish(true);
    const Status status = is_blocked() ? session_.upload(g_.r, memory_.x) : run_plainly(memory_);
    require(!status.ok());
    after_failure(status);
  }

 private:
  using OnHost =
      decltype(with_pairs(std::declval<SessionGraph&>(), std::declval<HostMemory&>(), std::declval<Prebind&>()));
  using OnDevice = decltype(with_pairs_on_device(std::declval<SessionGraph&>(), std::declval<HostMemory&>(),
                                                 std::declval<DeviceArray<Word>&>(), std::declval<DeviceArray<Word>&>(),
                                                 std::declval<Prebind&>()));

  void fill(Bytes& bytes, HostMemory& m) {
    SessionModel::fill(bytes, m);
    if constexpr (has_values) {
      state_.offset = number(bytes);
      require(session_.values().set(*g_.offset, state_.offset).ok());
    }
  }
  [[nodiscard]] auto run() {
    return [this](const auto&... pairs) { return session_.run_round(pairs...); };
  }
  [[nodiscard]] auto run_by_steps() {
    return [this](const auto&... pairs) { return session_.begin_round(pairs...).launch().finish().status(); };
  }
  Status run_plainly(HostMemory& m) { return with_pairs(g_, m, run()); }

  void check_arrays() {
    for (const Array& array : arrays_) {
      Words values{};
      if (array.memory) require(session_.download(*array.memory, values).ok() && values == array.holds);
    }
  }
  /// The number of rounds that were given the scalar.
  [[nodiscard]] std::uint64_t rounds_with_value() {
    if constexpr (has_values) return session_.values().rounds();
    return 0;
  }
  /// A call that is refused leaves everything as it is. `named`: what the explanation of its status must name.
  template <class Call>
  void refuse(Errc code, const Call& call, std::string_view named = {}) {
    finish();
    const HostMemory before = memory_;
    const std::uint64_t with_value = rounds_with_value();
    const Status status = call();
    require(status.code() == code && !status.poisoned() && !session_.poisoned());
    require(memory_ == before && session_.rounds() == rounds_ && rounds_with_value() == with_value);
    require(std::string_view(session_.explain(status).c_str()).find(named) != std::string_view::npos);
    check_arrays();
  }
  template <class Run>
  void round(Bytes& bytes, const Run& run, const Places& places = all_on_host) {
    finish();
    HostMemory& m = memory_;
    fill(bytes, m);
    if (is_blocked()) return refuse(Errc::uninitialized_read, [&] { return run(m); });
    const HostMemory expected = expect(m, places);
    const Status status = run(m);
    require(status.ok() && m == expected && session_.rounds() == rounds_);
    check_arrays();
  }
  /// Binds what the program knows by its number only.
  void bind_by_number(HostMemory& m, const Places& places) {
    if (!bindings_) bindings_.emplace(session_);
    constexpr rondo::Bytes size{sizeof(Words)};
    const auto bind = [&](TensorKey key, Words& host, int array) {
      const TensorId tensor = key.tensor();
      if (array < 0) return require(bindings_->bind(tensor, static_cast<void*>(&host), size).ok());
      const auto device = arrays_[static_cast<std::size_t>(array)].memory->span().data();
      require(bindings_->bind(tensor, device.template as<std::byte>(), size).ok());
    };
    bind(g_.y.key, m.y, places[3]);
    bind(g_.x.key, m.x, places[0]);
    bind(g_.w.key, m.w, places[1]);
    bind(g_.s.key, m.s, places[2]);
    require(bindings_->bind(g_.shift.key.tensor(), static_cast<void*>(&m.shift), rondo::Bytes{sizeof(Word)}).ok());
    const Status refused = bindings_->bind(g_.x.key.tensor(), static_cast<void*>(&m.w), rondo::Bytes{4});
    require(refused.code() == Errc::wrong_size);
    by_number_ = places;
  }
  void round_by_number(Bytes& bytes) {
    const Places places = choose(bytes);
    const auto run = [&](HostMemory& m) {
      bind_by_number(m, places);
      return session_.run_round(*bindings_);
    };
    round(bytes, run, places);
  }
  void submit_by_number(Bytes& bytes) {
    if constexpr (is_pipelined) {
      if (is_blocked()) return round_by_number(bytes);
      const Places places = choose(bytes);
      const auto submit = [&](HostMemory& m) {
        bind_by_number(m, places);
        return session_.submit_round(*bindings_).submitted();
      };
      fly(bytes, submit, places);
    } else {
      round_by_number(bytes);
    }
  }
  void submit(Bytes& bytes) {
    if constexpr (is_pipelined) {
      if (is_blocked()) return round(bytes, [this](auto& m) { return run_plainly(m); });
      const auto submit = [this](const auto&... pairs) { return session_.submit_round(pairs...).submitted(); };
      fly(bytes, [&](HostMemory& m) { return with_pairs(g_, m, submit); }, all_on_host);
    } else {
      round(bytes, [this](auto& m) { return run_plainly(m); });
    }
  }
  template <class Submit>
  void fly(Bytes& bytes, const Submit& submit, const Places& places) {
    if (next_ == flights_.size()) finish();
    Flight& flight = flights_[next_++];
    fill(bytes, flight.memory);
    flight.expected = expect(flight.memory, places);
    flight.is_open = true;
    require(submit(flight.memory).ok());
  }
  /// `may_fail`: whether the device may have failed under the rounds in flight.
  void finish(bool may_fail = false) {
    if constexpr (is_pipelined) {
      const Status status = session_.wait_all();
      for (Flight& flight : flights_) {
        if (!status.ok() && (may_fail || is_over_)) flight.is_open = false;
        if (flight.is_open) require(status.ok() && flight.memory == flight.expected);
        flight.is_open = false;
      }
      next_ = 0;
    }
  }

  void hold(Input<Word> input) {
    finish();
    const std::size_t i = input == g_.x ? 0 : 1;
    if (is_held_[i]) {
      require(session_.release_hold(input).ok());
      is_held_[i] = false;
      if (last_[i] < on_host && !is_held_in(last_[i])) has_run_ = false;  // the memory is released now
    } else if (!has_run_) {
      refuse(Errc::unbound_tensor, [&] { return session_.hold(input); });
    } else {
      const Status status = session_.hold(input);
      const bool is_kept = g_.graph.tensors()[index(input.key.tensor())].kept;
      require(status.ok() || (!is_kept && last_[i] == on_host && status.code() == Errc::shared_memory));
      is_held_[i] = status.ok();
    }
  }
  void upload(std::size_t resident, Word value) {
    finish();
    Words& values = state_.at[resident == 0 ? SessionGraph::number_r : SessionGraph::number_q];
    values.fill(value);
    values.back() = 3;
    require(session_.upload(resident == 0 ? g_.r : g_.q, values).ok());
    is_uploaded_[resident] = true;
  }
  void upload_all() {
    for (const std::size_t resident : {0U, 1U}) {
      if (!is_uploaded_[resident]) upload(resident, 5);
    }
  }
  void download(std::size_t resident) {
    finish();
    if (!is_uploaded_[resident]) return;
    Words values{};
    require(session_.download(resident == 0 ? g_.r : g_.q, values).ok());
    require(values == state_.at[resident == 0 ? SessionGraph::number_r : SessionGraph::number_q]);
  }
  void set_factor(std::size_t i, Word value) {
    const TaskId task = i < g_.tasks.size() ? g_.tasks[i].id : TaskId{77};
    if (i < g_.tasks.size() && g_.tasks[i].has_scalar()) {
      finish();
      require(session_.set_scalar(task, 0, value).ok());
      state_.factors[i] = value;
    } else {
      refuse(Errc::invalid_argument, [&] { return session_.set_scalar(task, 0, value); });
    }
  }
  void be_refused() {
    std::array<Word, n - 1> small{};
    const std::span<Word> null{static_cast<Word*>(nullptr), n};
    HostMemory& m = memory_;
    Bytes none{nullptr, 0};
    const Graph other(none);
    const auto run = [&](Errc code, const auto& pair) {
      refuse(is_blocked() ? Errc::uninitialized_read : code, [&] {
        return session_.run_round(pair, bind(g_.w, m.w), bind(g_.s, m.s), bind(g_.y, m.y), bind(g_.shift, m.shift));
      });
    };
    const bool takes_x = !is_held_[0];
    if (takes_x) run(Errc::wrong_size, bind(g_.x, small));
    if (takes_x) run(Errc::null_memory, bind(g_.x, null));
    run(Errc::bound_twice, bind(g_.w, m.w));
    run(Errc::wrong_tensor, bind(other.x, m.x));
    const auto bound =
        session_.prebind(bind(g_.x, small), bind(g_.w, m.w), bind(g_.s, m.s), bind(g_.y, m.y), bind(g_.shift, m.shift));
    require(bound.status().code() == Errc::wrong_size);
    refuse(is_blocked() ? Errc::uninitialized_read : Errc::wrong_size, [&] { return session_.run_round(bound); });
    auto on_device = session_.allocate(g_.x);
    const DeviceSpan<Word> whole = on_device.span();
    const DeviceSpan<Word> moved{whole.data().offset(rondo::Bytes{sizeof(Word)}), n};
    if (takes_x) run(Errc::wrong_size, bind(g_.x, DeviceSpan<Word>{whole.data(), n - 1}));
    if (takes_x) run(Errc::misaligned, bind(g_.x, moved));
    require(on_device.release().ok());
    if (takes_x) run(Errc::null_memory, bind(g_.x, on_device));
    refuse(Errc::wrong_size, [&] { return session_.upload(g_.r, small); });
    refuse(Errc::null_memory, [&] { return session_.download(g_.q, null); });
    refuse(Errc::wrong_tensor, [&] { return session_.upload(other.r, m.x); });
    refuse(Errc::wrong_tensor, [&] { return session_.hold(other.x); });
    if constexpr (has_values) {
      refuse(Errc::wrong_tensor, [&] { return session_.values().set(*other.offset, 1); });
    }
  }
  /// After a round that did not end, the contents of residents and inputs are unknown.
  void drop(Bytes& bytes) {
    finish();
    upload_all();
    with_pairs(g_, memory_, [&](const auto&... pairs) {
      auto round = session_.begin_round(pairs...);
      require(session_.run_round(pairs...).code() == Errc::busy);
      if (bytes.take() % 2 == 0) (void)std::move(round).launch();
      return 0;
    });
    if (is_held_[0]) hold(g_.x);
    if (is_held_[1]) hold(g_.w);
    has_run_ = false;
    is_uploaded_ = {};
    upload_all();
  }
  void fail() {
    finish();
    upload_all();
    if (is_held_[0]) hold(g_.x);
    memory_.x.fill(refused_by_take);
    const Status status = run_plainly(memory_);
    require(!status.ok());
    has_failed_ = true;
    after_failure(status);
  }
  void stop(Bytes& bytes) {
    finish();
    upload_all();
    if constexpr (requires { session_.request_stop(); }) {
      session_.request_stop();
      // On NPUs and GPUs it ends a round at a decision that the host makes.
      const auto loops = session_.explain_loops();
      const bool host_decides = !loops.empty() && loops[0].decider == LoopReport::Decider::host && g_.loop.decides();
      if (requires { P::runs_over_stand_in; } && !host_decides) {
        return round(bytes, [this](auto& m) { return run_plainly(m); });
      }
      fill(bytes, memory_);
      const Status status = run_plainly(memory_);
      require(status.code() == Errc::stopped);
      after_failure(status);
    }
  }
  /// The session says to each call that it does not work.
  void after_failure(Status status) {
    is_over_ = true;
    require(session_.poisoned() && (status.poisoned() || status.code() == Errc::poisoned));
    Words values{};
    require(run_plainly(memory_).code() == Errc::poisoned);
    require(session_.upload(g_.r, values).code() == Errc::poisoned);
    require(session_.hold(g_.w).code() == Errc::poisoned);
    require(session_.set_scalar(g_.tasks[0].id, 0, Word{2}).code() == Errc::poisoned);
    require(session_.move_arena({DevicePtr<std::byte>{std::uint64_t{1} << 20}, 1 << 20}).code() == Errc::poisoned);
  }
  void close() {
    finish();
    is_over_ = true;
    release_arena();
    require(session_.close().ok());
    for (Array& array : arrays_) require(!array.memory || array.memory->size() == 0);
    require(session_.upload(g_.r, memory_.x).code() == Errc::closed);
    require(with_pairs(g_, memory_, Prebind{&session_}).status().code() == Errc::closed);
  }

  /// `moves`: whether calls that are refused are followed by one that is not.
  void move_arena(bool moves) {
    finish();
    const rondo::Bytes size = session_.arena_bytes();
    const rondo::Bytes alignment{P::Arch::arena_alignment};
    const auto to = session_.platform().allocate(rondo::Bytes{size.value + 64}, alignment);
    refuse(Errc::wrong_size, [&] { return session_.move_arena({to, size.value - 1}); });
    refuse(Errc::misaligned, [&] { return session_.move_arena({to.offset(rondo::Bytes{8}), size.value}); });
    refuse(Errc::null_memory, [&] { return session_.move_arena({DevicePtr<std::byte>{}, size.value}); });
    if (!moves) return require(session_.platform().release(to).ok());
    require(session_.move_arena({to, size.value}).ok());
    release_arena();
    arena_ = to;
    // It copies nothing: what is held there must be bound, and residents must be uploaded.
    has_run_ = false;
    is_uploaded_ = {};
    for (const std::size_t i : {0U, 1U}) is_held_[i] = is_held_[i] && last_[i] != on_host;
    is_stale_ = true;
  }
  void release_arena() {
    if (!arena_) return;
    const Status status = session_.platform().release(arena_);
    require(status.ok() || session_.poisoned());
    arena_ = DevicePtr<std::byte>();
  }

  /// Allocates an array, uploads to it, or releases it, maybe while rounds in flight or held inputs use it.
  void change_array(Bytes& bytes) {
    const auto choices = bytes.take();
    const int number = choices % 3;
    Array& array = arrays_[static_cast<std::size_t>(number)];
    if (!array.memory || choices / 4 % 2 == 0) {
      finish();
      if (!array.memory) array.memory.emplace(choices / 8 % 2 == 0 ? session_.allocate(g_.x) : session_.allocate(g_.y));
      array.holds.fill(SessionUnderTest::number(bytes));
      array.holds.front() = choices;
      return require(session_.upload(*array.memory, array.holds).ok());
    }
    require(array.memory->release().ok() && array.memory->size() == 0);
    array.memory.reset();
    const bool is_held = is_held_in(number);
    const Words held = array.holds;
    for (const std::size_t t : {0U, 1U, 2U, 3U}) {
      if (last_[t] == number && !is_held) has_run_ = false;  // hold() would hold what is gone
      if (last_[t] == number && t < 2) kept_[t] = held;
      if (last_[t] == number) last_[t] = last_gone_ - 1;
    }
    if constexpr (checks_memory) {
      bool is_bound = false;
      for (const std::size_t t : {0U, 1U, 2U, 3U}) {
        is_bound = is_bound || (by_number_[t] == number && !is_held && (t > 1 || !is_held_[t]));
      }
      if (is_bound) {
        refuse(is_blocked() ? Errc::uninitialized_read : Errc::stale_memory,
               [&] { return session_.run_round(*bindings_); });
      }
    }
    for (int& place : by_number_) place = place == number ? on_host : place;
    for (int& place : prebound_places_) place = place == number ? last_gone_ - 1 : place;
    --last_gone_;
  }
  /// With pairs of device memory.
  void round_on_device(Bytes& bytes) {
    auto &x = arrays_[0].memory, &y = arrays_[1].memory;
    if (!x || !y || is_held_in(1)) return;
    round(bytes, [&](HostMemory& m) { return with_pairs_on_device(g_, m, *x, *y, run()); }, x_and_y_on_device);
  }

  void prebind(Bytes& bytes, bool is_on_device) {
    finish();
    fill(bytes, memory_);
    auto &x = arrays_[0].memory, &y = arrays_[1].memory;
    is_on_device = is_on_device && x && y;
    if (is_on_device) {
      prebound_.emplace(with_pairs_on_device(g_, memory_, *x, *y, Prebind{&session_}));
    } else {
      prebound_.emplace(with_pairs(g_, memory_, Prebind{&session_}));
    }
    prebound_places_ = is_on_device ? x_and_y_on_device : all_on_host;
    require(std::visit([](const auto& bound) { return bound.status().ok(); }, *prebound_));
    is_stale_ = false;
  }
  /// Bindings that were resolved before work again, unless the arena has moved or their memory was released, and in
  /// their own session only.
  void run_prebound(Bytes& bytes, SessionUnderTest* other, bool submits) {
    const auto run = [&](const SessionUnderTest& of) {
      const auto run_bound = [&](const auto& bound) {
        if constexpr (is_pipelined) {
          if (submits) return session_.wait(session_.submit_round(bound));
        }
        return session_.run_round(bound);
      };
      return std::visit(run_bound, *of.prebound_);
    };
    if (other != nullptr && other->prebound_) {
      refuse(is_blocked() ? Errc::uninitialized_read : Errc::wrong_tensor, [&] { return run(*other); });
    }
    // What is written must be in no held input; what is released while an input is held in it is not gone yet.
    const int x = is_held_[0] ? on_host : prebound_places_[0], y = prebound_places_[3];
    if (!prebound_ || (y != on_host && is_held_in(y)) || (x < on_host && is_held_in(x))) return;
    const bool is_gone = x < on_host || y < on_host;
    if (!is_stale_ && !is_gone) return round(bytes, [&](auto&) { return run(*this); }, prebound_places_);
    if (!is_stale_ && !checks_memory) return;
    if (is_blocked()) return refuse(Errc::uninitialized_read, [&] { return run(*this); });
    refuse(Errc::stale_memory, [&] { return run(*this); }, is_stale_ ? "" : x < on_host ? "tensor 'x'" : "tensor 'y'");
  }

  Session session_{freeze(g_.graph)};
  std::optional<DynamicBindings<Session>> bindings_;
  std::optional<std::variant<OnHost, OnDevice>> prebound_;
  Places prebound_places_ = all_on_host;
  bool is_stale_ = false;  ///< whether the arena has moved since
  DevicePtr<std::byte> arena_;
  std::size_t next_ = 0;
  bool is_over_ = false;
  bool has_failed_ = false;
};

}  // namespace rondo::fuzz
