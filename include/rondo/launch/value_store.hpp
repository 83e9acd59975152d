// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/owned_array.hpp>
#include <rondo/error.hpp>
#include <rondo/graph/records.hpp>
#include <rondo/graph/words.hpp>
#include <rondo/slice.hpp>

#include <cstdint>
#include <type_traits>

namespace rondo::launch {

template <class T>
requires std::is_arithmetic_v<T>
struct HostScalar;
template <class V>
struct Value;

/// What a session's per-round values are made of: how many rounds there were, and the host's scalars. One for all slots
/// of rounds in flight and for all shapes, so that no two rounds get the same numbers.
///
/// Thread safety: the session's. Cost: set() is a compare and a store; the next round brings it to the device.
class ValueStore {
 public:
  ValueStore() noexcept = default;
  explicit ValueStore(const graph::GraphView& graph) : ValueStore(graph.tensors, graph.tag) {}
  ValueStore(Slice<const graph::TensorRecord> tensors, std::uint32_t tag)
      : scalars_(tensors.size()), is_scalar_(tensors.size()), tag_{tag} {
    for (std::size_t t = 0; t < tensors.size(); ++t) {
      is_scalar_[t] = tensors[t].value.kind == graph::ValueKind::scalar;
      scalars_[t] = tensors[t].value.bits;
    }
  }

  /// From the next round on the scalar has this value. Errors: wrong_tensor if it is another graph's.
  template <class T>
  Status set(Value<HostScalar<T>> scalar, std::type_identity_t<T> value) noexcept {
    const std::uint32_t t = index(scalar.key.tensor());
    if (scalar.key.graph() != tag_ || t >= is_scalar_.size() || !is_scalar_[t]) return Status{Errc::wrong_tensor};
    scalars_[t] = static_cast<std::uint64_t>(rondo::detail::to_word(value));
    return {};
  }

  /// Rounds that were given numbers; those that were refused were not.
  [[nodiscard]] std::uint64_t rounds() const noexcept { return rounds_; }
  /// Told between rounds.
  std::uint64_t next_round() noexcept { return rounds_++; }
  /// The value that stands there.
  [[nodiscard]] std::uint64_t scalar(std::uint32_t tensor) const noexcept { return scalars_[tensor]; }

 private:
  rondo::detail::OwnedArray<std::uint64_t> scalars_;  ///< by tensor
  rondo::detail::OwnedArray<bool> is_scalar_;         ///< by tensor
  std::uint32_t tag_ = 0;
  std::uint64_t rounds_ = 0;
};

}  // namespace rondo::launch
