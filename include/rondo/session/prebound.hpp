// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>
#include <rondo/session/bindings.hpp>

#include <cstdint>

namespace rondo {

namespace detail {

/// Numbers sessions from 1, so that a prebinding finds out that its session is gone even when another one stands at the
/// same address.
[[nodiscard]] inline std::uint64_t next_session_number() noexcept {
  static std::uint64_t last = 0;
  return __atomic_add_fetch(&last, std::uint64_t{1}, __ATOMIC_RELAXED);  // <atomic> would cost 160 ms of compile time
}

}  // namespace detail

/// A round's bindings, checked and resolved once, for rounds that bind the same memory again and again. Made by
/// RoundSession::prebind; valid for that session alone, as long as the host memory lives.
///
/// `In`, `Out`: how many tensors are copied in and out; `Pairs`: all that is bound, if any of it is more than a copy.
/// Errors: a prebinding that failed is false, and run_round with it returns its status. Cost: a round checks one number
/// instead of each binding.
template <std::size_t In, std::size_t Out, std::size_t Pairs = 0>
class [[nodiscard]] Prebound {
 public:
  /// Were the bindings right? Rounds with wrong ones return this.
  [[nodiscard]] Status status() const noexcept { return status_; }
  explicit operator bool() const noexcept { return status_.ok(); }
  /// What host memory it moves.
  [[nodiscard]] const detail::Copies<In, Out>& copies() const noexcept { return copies_; }

 private:
  template <Platform, class, class>
  friend class RoundSession;
  Prebound() noexcept = default;

  std::uint64_t session_ = 0;  ///< the session's number; 0, which no session has, if the bindings were refused
  Status status_;
  detail::Copies<In, Out> copies_;
  detail::Binding bindings_[Pairs + 1];  ///< in the order of the ports
};

}  // namespace rondo
