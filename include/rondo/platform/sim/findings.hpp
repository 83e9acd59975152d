// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace rondo::platform::sim {

/// A mistake found by checking a round.
struct Finding {
  enum class Kind : std::uint8_t {
    wrote_input,       ///< a task changed a tensor that it only reads
    wrote_outside,     ///< a task changed a tensor that is not its argument, or bytes between tensors
    left_unwritten,    ///< a task did not write all of an Out
    not_repeatable,    ///< the same order gave another result: a kernel has state, or reads unwritten memory
    depends_on_order,  ///< another order that the edges allow gave another result: an edge is missing
    race,              ///< the way in which the engine runs the tasks gave another result
  };
  static constexpr std::uint32_t none = 0xFFFF'FFFF;

  Kind kind = Kind::wrote_input;  ///< the kind of mistake
  std::uint32_t task = none;      ///< TaskId of the task that caused it, if known
  std::uint32_t tensor = none;    ///< TensorId of the affected tensor; none: bytes of no tensor
  std::uint64_t offset = 0;       ///< the first such byte, from the start of the tensor, or else of the lowest tensor
  std::uint64_t bytes = 0;        ///< the number of different bytes
  Error::Text text;               ///< the finding as a sentence, with names
};

/// The first findings of a round, in a fixed-size list.
class Findings {
 public:
  static constexpr std::size_t most = 32;

  void clear() noexcept { count_ = dropped_ = 0; }
  void add(const Finding& finding) noexcept {
    if (count_ == most) {
      ++dropped_;
    } else {
      list_[count_++] = finding;
    }
  }
  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
  [[nodiscard]] std::span<const Finding> list() const noexcept { return {list_, count_}; }
  /// The number of findings that the list has no room for.
  [[nodiscard]] std::size_t dropped() const noexcept { return dropped_; }

  /// The round's status, which describes the first finding. It does not poison the session.
  [[nodiscard]] Status status() const noexcept {
    if (empty()) return {};
    const Finding& first = list_[0];
    if (first.task != Finding::none) return Status::of_task(Errc::check_failed, first.task);
    if (first.tensor != Finding::none) return Status::of_tensor(Errc::check_failed, first.tensor);
    return Status{Errc::check_failed};
  }

 private:
  Finding list_[most];
  std::size_t count_ = 0;
  std::size_t dropped_ = 0;
};

}  // namespace rondo::platform::sim
