// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace rondo::platform::sim {

/// A mistake that a checked round found.
struct Finding {
  enum class Kind : std::uint8_t {
    wrote_input,       ///< a task changed a tensor that it only reads
    wrote_outside,     ///< a task changed a tensor that it was not handed, or bytes between tensors
    left_unwritten,    ///< a task did not write all of an Out
    not_repeatable,    ///< the same tasks in the same order gave something else: state of their own, or memory never
                       ///< written
    depends_on_order,  ///< another order that the edges allow gave something else: an edge is missing
    race,              ///< the engine's own way of running the tasks gave something else
  };
  static constexpr std::uint32_t none = 0xFFFF'FFFF;

  Kind kind = Kind::wrote_input;
  std::uint32_t task = none;    ///< TaskId of the task that did it, where that is known
  std::uint32_t tensor = none;  ///< TensorId of what was hit; none: no tensor's bytes
  std::uint64_t offset = 0;     ///< of the first byte, from the tensor's start; without a tensor, from the lowest one's
  std::uint64_t bytes = 0;      ///< how many differ
  Error::Text text;             ///< all of it as a sentence, with names
};

/// The first findings of a round, in a list of fixed size.
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

  /// The round's status, about the first finding. It does not poison.
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
