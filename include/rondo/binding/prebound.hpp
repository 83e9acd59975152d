// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/binding/bindings.hpp>
#include <rondo/error.hpp>
#include <rondo/platform/concept.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace rondo {
namespace detail {

template <class Derived, Platform P, class Policies, class Graph, std::size_t Slots>
class Session;

/// Numbers sessions from 1, so that a prebinding finds out that its session is gone even when another one stands at the
/// same address.
[[nodiscard]] inline std::uint64_t next_session_number() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

/// Bindings that one instance of a graph has checked and resolved.
///
/// `In`, `Out`: how many tensors are copied in and out; `Pairs`: how many are bound; `HostInputs`: how many of those
/// lie in the args table. `Moves`: whether any of them is more than a copy.
template <std::size_t In, std::size_t Out, std::size_t Pairs, std::size_t HostInputs, bool Moves>
struct Resolved {
  bool has_all_checked = true;  ///< nothing was held, so the bindings of all ports were looked at
  Copies<In, Out> copies;
  std::uint64_t places[Moves ? Pairs + 1 : 1] = {};  ///< by port: the address of its tensor
  std::uint32_t host_inputs[HostInputs + 1] = {};    ///< their ports
  std::array<Binding, Pairs> bindings;               ///< by port
};

}  // namespace detail

/// A round's bindings, checked and resolved once, for rounds that bind the same memory again and again. Made by
/// prebind() of a session; valid for that session alone, as long as the host memory lives.
///
/// Errors: a prebinding that failed is false, and rounds with it return its status. Cost: a round checks one number
/// instead of each binding, and compares the address of each tensor only where some binding is more than a copy.
template <class R, std::size_t Instances>
class [[nodiscard]] Prebound {
 public:
  /// Sessions take it where they take pairs.
  static constexpr bool stands_for_pairs = true;
  /// The status of the bindings; rounds with wrong ones return it.
  [[nodiscard]] Status status() const noexcept { return status_; }
  explicit operator bool() const noexcept { return status_.ok(); }

 private:
  template <class, Platform, class, class, std::size_t>
  friend class detail::Session;
  Prebound() noexcept = default;

  std::uint64_t session_ = 0;  ///< the session's number; 0, which no session has, if the bindings were refused
  Status status_;
  R resolved_[Instances];  ///< by slot of the session
};

}  // namespace rondo
