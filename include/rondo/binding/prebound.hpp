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

inline constexpr std::uint64_t session_numbers = std::uint64_t{1} << 24U;  ///< the most of one session
/// Returns the first number of a session, never 0, so that a prebinding detects that its session is gone even if
/// another has the same address. A session takes its next number when its arena moves, so it refuses older prebindings.
[[nodiscard]] inline std::uint64_t next_session_number() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return (last.fetch_add(1, std::memory_order_relaxed) + 1) * session_numbers;
}
[[nodiscard]] constexpr bool are_of_one_session(std::uint64_t a, std::uint64_t b) noexcept {
  return a / session_numbers == b / session_numbers;
}

/// Bindings that an instance of a graph has checked and resolved.
///
/// `In`, `Out`: the number of tensors copied in and out; `Pairs`: the number bound; `HostInputs`: the number of those
/// in the args table. `Moves`: whether any binding is more than a copy.
template <std::size_t In, std::size_t Out, std::size_t Pairs, std::size_t HostInputs, bool Moves>
struct Resolved {
  bool has_all_checked = true;  ///< no port was held, so all bindings were checked
  Copies<In, Out> copies;
  std::uint64_t places[Moves ? Pairs + 1 : 1] = {};  ///< by port: the address of its tensor
  std::uint32_t host_inputs[HostInputs + 1] = {};    ///< the ports of the host inputs
  std::array<Binding, Pairs> bindings;               ///< by port
  std::uint64_t made_at = 0;                         ///< the number of allocations before; see memory::Registry
};

}  // namespace detail

/// The bindings of a round, checked and resolved once, for rounds that bind the same memory again and again. Made by a
/// session's prebind(); valid for that session only, and as long as the host memory exists.
///
/// Errors: a Prebound with an error converts to false, and rounds return its status. Cost: a round compares one number
/// instead of checking each binding; it compares the tensors' addresses only if some binding is more than a copy.
template <class R, std::size_t Instances>
class [[nodiscard]] Prebound {
 public:
  /// Tells sessions to accept this in place of pairs.
  static constexpr bool replaces_pairs = true;
  /// The status of the check. Rounds return it if it is an error.
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
