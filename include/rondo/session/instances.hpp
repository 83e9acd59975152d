// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>
#include <rondo/platform/concept.hpp>
#include <rondo/session/instance.hpp>
#include <rondo/session/policies.hpp>
#include <rondo/session/residents.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace rondo::detail {

/// The text that the platform has for its last failure; null if it has none.
template <Platform P>
[[nodiscard]] const Error::Text* failure_text_of(const P& platform) noexcept {
  if constexpr (HasFailureText<P>) return &platform.failure_text();
  return nullptr;
}

/// The instances of one graph, one per slot. All have the same plan, and share what the runtime permits. They refuse
/// rounds while a resident still needs its first upload.
///
/// Lifetime: immovable; the platform, graph and layout must outlive it. Thread safety: that of the session.
template <Platform P, class Policies, class Graph, class Layout, std::size_t Slots>
class Instances {
 public:
  using Instance = detail::Instance<P, Policies, Graph, Layout>;
  using Shared = typename Instance::Shared;
  using Options = typename Policies::Runtime::template Options<P>;

  /// `placement(slot)`: the location of a slot. @throws Error as Instance
  template <class PlacementOf>
  Instances(P& platform, const Graph& frozen, const Layout& layout, const PlacementOf& placement, Shared& shared,
            const Options& options)
      : Instances(platform, frozen, layout, placement, shared, options, std::make_index_sequence<Slots>{}) {}

  [[nodiscard, gnu::always_inline]] Instance& operator[](std::size_t slot) noexcept {
    return by_slot_[Slots == 1 ? 0 : slot];
  }
  [[nodiscard, gnu::always_inline]] const Instance& operator[](std::size_t slot) const noexcept {
    return by_slot_[slot];
  }
  [[nodiscard]] Instance* begin() noexcept { return by_slot_; }
  [[nodiscard]] Instance* end() noexcept { return by_slot_ + Slots; }
  [[nodiscard]] const Instance* begin() const noexcept { return by_slot_; }
  [[nodiscard]] const Instance* end() const noexcept { return by_slot_ + Slots; }

  /// Refuses all rounds with `why` until unblock().
  void block(Status why) noexcept {
    for (Instance& instance : by_slot_) instance.block(why);
  }
  /// Accepts rounds unless a resident needs its first upload. `uploaded`: by tensor, whether a resident has contents.
  void unblock(std::span<const std::uint8_t> uploaded) noexcept {
    const auto missing = std::ranges::find(read_first_, 0, [&](std::uint32_t t) { return uploaded[t]; });
    for (Instance& instance : by_slot_) {
      instance.unblock();
      if (missing != read_first_.end()) instance.block(Status::of_tensor(Errc::uninitialized_read, *missing));
    }
  }
  template <class PlacementOf>
  void move(const PlacementOf& placement) noexcept {
    for (std::size_t s = 0; s < Slots; ++s) by_slot_[s].move(placement(s));
  }
  /// Releases all resources. @returns the first failure
  Status close() noexcept {
    Status status;
    for (Instance& instance : by_slot_) status = first_failure(status, instance.close());
    return status;
  }
  /// The text that a runner, or else the platform, has for its last failure; null if there is none.
  [[nodiscard]] const Error::Text* failure_text(const P& platform) const noexcept {
    for (const Instance& instance : by_slot_) {
      if (const Error::Text* const text = instance.runner().failure_text(); text != nullptr) return text;
    }
    return failure_text_of(platform);
  }

 private:
  template <class PlacementOf, std::size_t... I>
  Instances(P& platform, const Graph& frozen, const Layout& layout, const PlacementOf& placement, Shared& shared,
            const Options& options, std::index_sequence<I...>)
      : by_slot_{make<I>(platform, frozen, layout, placement(I), shared, options)...},
        read_first_{residents_read_first(frozen.view(), is_orchestrated<Graph>)} {}
  template <std::size_t slot>
  [[nodiscard]] Instance make(P& platform, const Graph& frozen, const Layout& layout, Placement at, Shared& shared,
                              const Options& options) {
    if constexpr (slot == 0) {
      return Instance(platform, frozen, layout, at, shared, options);
    } else {
      return Instance(platform, frozen, layout, at, shared, by_slot_[0]);
    }
  }

  Instance by_slot_[Slots];
  std::vector<std::uint32_t> read_first_;  ///< the residents that need a first upload
};

}  // namespace rondo::detail
