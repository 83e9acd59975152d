// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "program.hpp"

#include <rondo/rondo.hpp>
#include <rondo/session/recoverable.hpp>

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace soak {

/// The numbers of events in all sessions.
struct Counts {
  std::uint64_t rounds = 0;     ///< that succeeded and were compared
  std::uint64_t refused = 0;    ///< memory of a wrong size that was offered and refused
  std::uint64_t failed = 0;     ///< rounds with a task that fails on purpose
  std::uint64_t recovered = 0;  ///< sessions that were opened again from a checkpoint
  std::uint64_t moved = 0;      ///< moves of an arena
  std::uint64_t prebound = 0;   ///< rounds whose bindings were checked once
  std::uint64_t on_device = 0;  ///< rounds that bound device memory
  std::uint64_t sessions = 0;
};

/// Thrown if a session has a wrong result.
struct Mismatch : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A session and the data with which it is compared.
class World {
 public:
  virtual ~World() = default;
  /// Runs `count` rounds and compares them all, or ends early with one that fails on purpose. @returns whether the
  /// session is still usable. @throws Mismatch
  virtual bool run(std::size_t count, Counts& counts) = 0;
  [[nodiscard]] virtual std::string name() const = 0;
};

template <class Session>
class WorldOf final : public World {
  using P = typename Session::Platform;
  static constexpr bool is_shaped = requires(Session& session) { session.entries(); };
  static constexpr bool is_in_flight = requires(Session& session) { session.wait_all(); };
  static constexpr bool moves_arena = requires(Session& session) { session.move_arena({}); };
  /// A task that fails on a GPU loses the context, which all sessions of the process share.
  static constexpr bool fails_alone = std::string_view{P::name} != "cuda";
  static constexpr std::size_t depth = [] {
    if constexpr (is_in_flight) return std::size_t{Session::depth};
    return std::size_t{1};
  }();

 public:
  WorldOf(std::string name, std::uint64_t seed, const typename Session::Options& options)
      : name_{std::move(name)},
        random_{seed},
        program_{random_, is_shaped ? 0 : 1 + seed % 200},
        session_{Opener{&program_}, options},
        size_{1 + seed % 200},
        memory_(program_.tensors.size()),
        rounds_(depth) {
    for (std::size_t s = 0; s < sizes_.size(); ++s) sizes_[s] = is_shaped ? 1 + below(256) : size_;
    for (const auto& r : program_.residents) upload(r);
    begin();
    checkpoint();
  }
  WorldOf(const WorldOf&) = delete;
  WorldOf& operator=(const WorldOf&) = delete;
  ~WorldOf() override {
    release_device();
    (void)session_->close();
    release_arena();
  }

  [[nodiscard]] std::string name() const override { return name_; }

  bool run(std::size_t count, Counts& counts) override {
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t what = below(4000);
      if (what == 0) return fail(counts);
      if (what < 10) check_residents();
      if (what >= 10 && what < 20 && !program_.residents.empty()) {
        settle_all(counts);
        upload(program_.residents[below(program_.residents.size())]);
      }
      if (what >= 20 && what < 30) change_scalar(counts);
      if (what >= 30 && what < 40) be_refused(counts);
      if (what == 40) task_ns = below(2) == 0 ? 0 : static_cast<std::int64_t>(below(5'000));
      if (what >= 50 && what < 60) {
        settle_all(counts);
        checkpoint();
      }
      if (what == 60) move_arena(counts);
      if (what == 70) recover(counts);
      if (what >= 100 && what < 500 && program_.has_two_ports()) {
        run_prebound(counts);
      } else {
        round(counts, what >= 4000 - 400);
      }
    }
    settle_all(counts);
    check_residents();
    return true;
  }

 private:
  /// A round in flight, and the results that it must deliver.
  struct Flight {
    bool is_under_way = false;
    rondo::RoundTicket ticket;
    std::vector<Words> host;      ///< by tensor: the memory that it was bound to
    std::vector<Words> expected;  ///< by tensor: what must be there after it
  };

  struct Opener {
    const Program* program;
    Session operator()(const typename Session::Options& options) const {
      if constexpr (is_shaped) {
        return Session(program->graph, options);
      } else {
        return Session(rondo::freeze(program->graph), options);
      }
    }
  };
  /// What plain memory holds at a checkpoint, and the number of rounds before it.
  struct Snapshot {
    std::uint64_t rounds = 0;
    std::vector<Words> memory;
    Words scalars;
  };
  [[nodiscard]] static auto prebind(Session& session, const Program& program, Words& x, Words& y) {
    if constexpr (requires { session.prebind(rondo::bind(program.x, x)); }) {
      return session.prebind(rondo::bind(program.x, x), rondo::bind(program.y, y));
    } else {
      return rondo::Status{};
    }
  }
  using Prebound = decltype(prebind(std::declval<Session&>(), std::declval<Program&>(), std::declval<Words&>(),
                                    std::declval<Words&>()));
  [[nodiscard]] std::size_t below(std::size_t limit) { return random_() % limit; }
  void require(bool holds, const char* what, rondo::Status status = {}) {
    if (!holds) {
      throw Mismatch(fmt::format("{}: {}; the session says: {}", name_, what, session_->explain(status).c_str()));
    }
  }
  void fill(Words& words, std::size_t size) {
    words.resize(size);
    Word x = static_cast<Word>(random_()) | 1;
    for (Word& word : words) word = x = x * 1'664'525U + 1'013'904'223U;
  }
  void upload(const rondo::Resident<Word>& r) {
    Words& words = memory_[index(r.key.tensor())];
    fill(words, Program::resident_size);
    const rondo::Status status = session_->upload(r, words);
    require(status.ok(), "an upload failed", status);
  }
  void copy(rondo::Status requested) {
    require(requested.ok(), "a copy failed", requested);
    const rondo::Status copied = session_->platform().wait();
    require(copied.ok(), "a copy failed", copied);
  }
  void check_residents() {
    for (const auto& r : program_.residents) {
      Words words(Program::resident_size);
      const rondo::Status status = session_->download(r, words);
      require(status.ok(), "a download failed", status);
      require(words == memory_[index(r.key.tensor())], "a resident tensor has wrong contents");
    }
  }
  void change_scalar(Counts& counts) {
    if constexpr (requires(Session& session) { session.set_scalar(rondo::TaskId{}, 0, Word{}); }) {
      settle_all(counts);
      const std::size_t task = program_.any_mix();
      const auto k = static_cast<Word>(below(1000));
      const rondo::Status status = session_->set_scalar(rondo::TaskId{static_cast<std::uint32_t>(task)}, 0, k);
      require(status.ok(), "a scalar could not be set", status);
      program_.set_scalar(task, k);
    }
  }

  /// Binds fresh memory for the program's size `n`, in `flight`, or device memory if `on_device`.
  void bind(Flight& flight, std::size_t n, bool on_device) {
    flight.host.resize(memory_.size());
    for (std::size_t t = 0; t < memory_.size(); ++t) {
      const rondo::Direction direction = program_.tensors[t].direction;
      const std::size_t size = program_.size_of(t, n);
      if (direction == rondo::Direction::workspace) memory_[t].assign(size, 0xDEAD'BEEFU);
      if (!rondo::is_bound_each_round(direction)) continue;
      fill(flight.host[t], size);
      memory_[t] = flight.host[t];
      const rondo::Bytes bytes{4 * size};
      rondo::Status status;
      if (on_device && used_ < device_.size() && below(2) == 0) {
        const auto at = device_[used_++];
        copy(session_->platform().copy_in(at, flight.host[t].data(), bytes));
        bound_at_.emplace_back(t, at);
        status = bindings_->bind(rondo::TensorId{static_cast<std::uint32_t>(t)}, at, bytes);
      } else {
        status = bindings_->bind(rondo::TensorId{static_cast<std::uint32_t>(t)},
                                 static_cast<void*>(flight.host[t].data()), bytes);
      }
      require(status.ok(), "memory could not be bound", status);
    }
  }
  [[nodiscard]] rondo::RoundTicket submit(rondo::Status& status) {
    rondo::RoundTicket ticket;
    if constexpr (is_in_flight) {
      ticket = session_->submit_round(*bindings_);
      status = ticket ? rondo::Status{} : ticket.submitted();
    } else {
      status = session_->run_round(*bindings_);
    }
    return ticket;
  }

  void round(Counts& counts, bool on_device) {
    Flight& flight = rounds_[next_];
    next_ = (next_ + 1) % depth;
    settle(flight, counts);
    used_ = 0;
    bound_at_.clear();
    bind(flight, sizes_[below(sizes_.size())], on_device);
    program_.run(memory_);
    flight.expected = memory_;
    rondo::Status status;
    flight.ticket = submit(status);
    require(status.ok(), "a round failed", status);
    flight.is_under_way = true;
    if (!on_device) return;
    // The contents of device memory are compared before another round changes them.
    ++counts.on_device;
    settle_all(counts, &flight);
    for (const auto& [t, at] : bound_at_) {
      const rondo::Bytes bytes{4 * flight.host[t].size()};
      copy(session_->platform().copy_out(flight.host[t].data(), rondo::DevicePtr<const std::byte>{at}, bytes));
    }
    settle(flight, counts);
  }
  /// Waits for a round, and compares all its outputs.
  void settle(Flight& flight, Counts& counts) {
    if (!flight.is_under_way) return;
    wait(flight);
    flight.is_under_way = false;
    for (std::size_t t = 0; t < flight.host.size(); ++t) {
      if (!rondo::is_bound_each_round(program_.tensors[t].direction)) continue;
      require(flight.host[t] == flight.expected[t], "a round delivered wrong results");
    }
    ++counts.rounds;
  }
  void wait(Flight& flight) {
    if constexpr (is_in_flight) {
      const rondo::Status status = session_->wait(flight.ticket);
      require(status.ok(), "a round in flight failed", status);
    }
  }
  /// Settles all rounds in flight; for `last`, which binds device memory, it only waits.
  void settle_all(Counts& counts, Flight* last = nullptr) {
    for (std::size_t i = 0; i < depth; ++i) {
      Flight& flight = rounds_[(next_ + i) % depth];
      &flight == last ? wait(flight) : settle(flight, counts);
    }
  }
  /// Binds memory of a wrong size, which must be refused.
  void be_refused(Counts& counts) {
    for (std::size_t t = memory_.size(); t-- > 0;) {
      if (program_.tensors[t].direction != rondo::Direction::out) continue;
      Words words(3);
      const rondo::Status status = bindings_->bind(rondo::TensorId{static_cast<std::uint32_t>(t)},
                                                   static_cast<void*>(words.data()), rondo::Bytes{11});
      require(status.code() == rondo::Errc::wrong_size, "memory of a wrong size was not refused", status);
      break;
    }
    ++counts.refused;
  }
  /// Allocates what belongs to one session and not to the next one over the same graph.
  void begin() {
    bindings_.emplace(*session_);
    for (std::size_t i = 0; i < 4; ++i) {
      device_.push_back(session_->platform().allocate(rondo::Bytes{4 * 256}, rondo::Bytes{1024}));
    }
  }
  void release_device() {
    for (const auto at : device_) (void)session_->platform().release(at);
    device_.clear();
  }
  void release_arena() {
    if (arena_) (void)session_->platform().release(std::exchange(arena_, {}));
  }
  /// No round is in flight.
  void checkpoint() {
    if (!snapshots_.empty() && snapshots_.back().rounds == session_.rounds()) return;
    const rondo::Status status = session_.checkpoint();
    require(status.ok(), "a checkpoint failed", status);
    if (snapshots_.size() == 2) snapshots_.erase(snapshots_.begin());
    snapshots_.push_back({session_.rounds(), memory_, program_.scalars()});
  }
  /// Opens the session again. Its state must be that of the last complete checkpoint, which is one of the last two.
  void recover(Counts& counts) {
    if (!session_->poisoned()) settle_all(counts);
    for (Flight& flight : rounds_) flight.is_under_way = false;
    release_device();
    prebound_.reset();
    if (arena_) {
      (void)session_->close();  // the arena is in use until then
      release_arena();
    }
    const std::uint64_t rounds = session_.recover();
    if (snapshots_.back().rounds != rounds) snapshots_.pop_back();
    require(!snapshots_.empty() && snapshots_.back().rounds == rounds, "a recovery went back to no checkpoint");
    memory_ = snapshots_.back().memory;
    program_.set_scalars(snapshots_.back().scalars);
    next_ = 0;
    begin();
    check_residents();
    ++counts.recovered;
  }
  void move_arena(Counts& counts) {
    if constexpr (moves_arena) {
      settle_all(counts);
      const rondo::Bytes bytes = session_->arena_bytes();
      const auto to = session_->platform().allocate(bytes, rondo::Bytes{P::Arch::arena_alignment});
      const rondo::Status status = session_->move_arena({to, bytes.value});
      require(status.ok(), "the arena could not be moved", status);
      release_arena();
      arena_ = to;
      for (const auto& r : program_.residents) upload(r);
      if (prebound_) {
        const rondo::Status stale = session_->run_round(*prebound_);
        require(stale.code() == rondo::Errc::stale_memory, "an old prebinding was not refused", stale);
        prebound_.reset();
      }
      ++counts.moved;
    }
  }
  /// A round over the same host memory as the previous ones of its kind.
  void run_prebound(Counts& counts) {
    if constexpr (std::is_same_v<Prebound, rondo::Status>) {
      round(counts, false);
    } else {
      settle_all(counts);
      if (!prebound_) {
        x_.resize(size_);
        y_.resize(size_);
        prebound_.emplace(prebind(*session_, program_, x_, y_));
      }
      fill(x_, size_);
      memory_[index(program_.x.key.tensor())] = x_;
      memory_[index(program_.y.key.tensor())].resize(size_);
      for (std::size_t t = 0; t < memory_.size(); ++t) {
        const bool is_workspace = program_.tensors[t].direction == rondo::Direction::workspace;
        if (is_workspace) memory_[t].assign(program_.size_of(t, size_), 0xDEAD'BEEFU);
      }
      program_.run(memory_);
      const rondo::Status status = session_->run_round(*prebound_);
      require(status.ok(), "a prebound round failed", status);
      require(y_ == memory_[index(program_.y.key.tensor())], "a prebound round delivered wrong results");
      ++counts.rounds;
      ++counts.prebound;
    }
  }
  /// Lets a task throw: its round must fail, and so must every later one, until the session is opened again.
  bool fail(Counts& counts) {
    settle_all(counts);
    if (!fails_alone) {
      recover(counts);
      return true;
    }
    Flight& flight = rounds_[0];
    used_ = 0;
    bind(flight, sizes_[0], false);
    tasks_until_failure = 1 + static_cast<int>(below(program_.task_count()));
    rondo::Status status;
    flight.ticket = submit(status);
    if constexpr (is_in_flight) {
      if (status.ok()) status = session_->wait_all();
    }
    const bool has_failed = tasks_until_failure.exchange(0) <= 0;
    // Tasks whose results are not read are left out, so fewer tasks may run than were counted down.
    require(status.ok() != has_failed, "a task failed and its round did not, or the other way round", status);
    if (!has_failed) {
      program_.run(memory_);
      return true;
    }
    constexpr bool is_stand_in = requires { P::runs_over_stand_in; };
    constexpr rondo::Errc code = is_stand_in ? rondo::Errc::device_failed : rondo::Errc::kernel_failed;
    require(status.code() == code, "a failed task has the code of another failure", status);
    rondo::Status next;
    (void)submit(next);
    require(next.code() == rondo::Errc::poisoned, "a poisoned session ran a round", next);
    ++counts.failed;
    if (below(2) == 0) return false;
    recover(counts);
    return true;
  }

  std::string name_;
  std::mt19937_64 random_;
  Program program_;
  rondo::Recoverable<Opener, typename Session::Options> session_;
  std::optional<rondo::DynamicBindings<Session>> bindings_;
  std::size_t size_;
  std::array<std::size_t, 12> sizes_{};
  std::vector<Words> memory_;  ///< by tensor: what plain memory holds after the last round
  std::vector<Flight> rounds_;
  std::size_t next_ = 0;
  std::vector<rondo::DevicePtr<std::byte>> device_;
  std::size_t used_ = 0;  ///< of device_, by the round
  std::vector<std::pair<std::size_t, rondo::DevicePtr<std::byte>>> bound_at_;
  rondo::DevicePtr<std::byte> arena_{};  ///< to which the session's arena was moved
  std::vector<Snapshot> snapshots_;
  Words x_, y_;
  std::optional<Prebound> prebound_;
};

}  // namespace soak
