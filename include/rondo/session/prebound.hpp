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
/// `In`, `Out`: how many tensors are copied in and out; `Pairs`: all that is bound, if any of it is more than a copy;
/// `HostInputs`: how many of those lie in the args table.
/// Errors: a prebinding that failed is false, and run_round with it returns its status. Cost: a round checks one number
/// instead of each binding; what is more than a copy, a compare for each of `Pairs`.
template <std::size_t In, std::size_t Out, std::size_t Pairs = 0, std::size_t HostInputs = 0>
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

  [[nodiscard]] Slice<const std::uint32_t> host_inputs() const noexcept { return {host_inputs_, HostInputs}; }
  /// Checked bindings, in the order of the ports.
  template <class Ports, class Refresher>
  void keep(const Ports& ports, const detail::Binding* bindings, const Refresher& refresher) noexcept {
    std::size_t host_input = 0;
    for (std::size_t p = 0; p < Pairs; ++p) {
      const detail::Binding& b = bindings[p];
      bindings_[p] = b;
      places_[p] = b.device != 0 ? b.device : ports[p].device.address();
      if (!rides_in_args(ports[p].direction)) continue;
      places_[p] = refresher.io(p);  // stays where it is
      host_inputs_[host_input++] = static_cast<std::uint32_t>(p);
    }
  }

  bool is_checked_ = true;     ///< all of it: nothing was frozen, and so not looked at
  std::uint64_t session_ = 0;  ///< the session's number; 0, which no session has, if the bindings were refused
  Status status_;
  detail::Copies<In, Out> copies_;
  std::uint64_t places_[Pairs + 1] = {};            ///< by port: where its tensor is
  std::uint32_t host_inputs_[HostInputs + 1] = {};  ///< their ports
  detail::Binding bindings_[Pairs + 1];             ///< by port
};

}  // namespace rondo
