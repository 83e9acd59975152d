// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fuzz/fuzz.hpp>
#include <fuzz/session_graph.hpp>
#include <rondo/rondo.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace rondo::fuzz {

/// What the device of a session must hold, and what its next round must deliver, in plain arithmetic.
class SessionModel {
 protected:
  /// A round in flight.
  struct Flight {
    HostMemory memory, expected;
    bool is_open = false;
  };
  /// Device memory that rounds may bind to any of x, w, s and y.
  struct Array {
    std::optional<DeviceArray<Word>> memory;
    Words holds{};
  };
  /// The array that a round binds to each of x, w, s and y, or on_host. Lower numbers are arrays that were released.
  using Places = std::array<int, 4>;
  static constexpr int on_host = -1;
  static constexpr Places all_on_host{on_host, on_host, on_host, on_host};
  static constexpr Places x_and_y_on_device{0, on_host, on_host, 1};

  [[nodiscard]] static Word number(Bytes& bytes) { return bytes.take() % 64; }
  static void fill(Bytes& bytes, HostMemory& m) {
    m.x.fill(number(bytes));
    m.x.back() = number(bytes);
    m.w.fill(number(bytes));
    m.s.fill(m.x[0] + m.w[0]);
    m.y.fill(77);
    m.shift = number(bytes);
  }

  explicit SessionModel(const SessionGraph& graph) : g_{graph} {}
  SessionModel(const SessionModel&) = delete;
  SessionModel& operator=(const SessionModel&) = delete;
  ~SessionModel() = default;

  /// Whether a resident that the tasks read lacks its upload.
  [[nodiscard]] bool is_blocked() const {
    return (g_.uses_resident[0] && !is_uploaded_[0]) || (g_.uses_resident[1] && !is_uploaded_[1]);
  }
  [[nodiscard]] Words& holds(int array) { return arrays_[static_cast<std::size_t>(array)].holds; }
  [[nodiscard]] bool is_held_in(int array) const {
    return (is_held_[0] && last_[0] == array) || (is_held_[1] && last_[1] == array);
  }
  /// Chooses arrays for a round. No tensor is written where another one is.
  [[nodiscard]] Places choose(Bytes& bytes) const {
    Places places = all_on_host;
    const int choices = bytes.take();
    for (std::size_t t = 0; t < places.size(); ++t) {
      const int array = choices >> (2 * t) & 3;
      if (array == 3 || !arrays_[static_cast<std::size_t>(array)].memory) continue;
      const bool is_taken = is_held_in(array) || places[0] == array || places[1] == array || places[2] == array;
      if (t < 2 ? !is_held_[t] : !is_taken) places[t] = array;
    }
    return places;
  }
  /// What a round leaves in the host's memory; the state and the arrays are then those after the round.
  HostMemory expect(const HostMemory& m, const Places& places) {
    for (const std::size_t i : {0U, 1U}) {
      if (!is_held_[i]) last_[i] = places[i];
      if (!is_held_[i] && places[i] == on_host) kept_[i] = i == 0 ? m.x : m.w;
      state_.at[i] = last_[i] < 0 ? kept_[i] : holds(last_[i]);
    }
    last_[2] = places[2], last_[3] = places[3];
    HostMemory expected = m;
    Words& s = places[2] < 0 ? expected.s : holds(places[2]);
    state_.at[SessionGraph::number_s] = s;
    state_.shift = m.shift;
    g_.run(state_);
    has_run_ = true;
    ++rounds_;
    s = state_.at[SessionGraph::number_s];
    (places[3] < 0 ? expected.y : holds(places[3])) = state_.at[SessionGraph::number_y];
    return expected;
  }

  const SessionGraph& g_;
  HostMemory memory_;
  SessionGraph::State state_;
  std::array<Array, 3> arrays_;
  Places last_ = all_on_host;       ///< those of the last round, and of inputs that are held
  Places by_number_ = all_on_host;  ///< those of bindings_
  int last_gone_ = on_host;
  std::array<Words, 2> kept_{};  ///< what x and w hold, unless it is in an array
  std::array<Flight, 3> flights_{};
  std::uint64_t rounds_ = 0;
  std::array<bool, 2> is_held_{}, is_uploaded_{};
  bool has_run_ = false;
};

}  // namespace rondo::fuzz
