// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/owned_array.hpp>
#include <rondo/error.hpp>
#include <rondo/session/bindings.hpp>
#include <rondo/session/round.hpp>
#include <rondo/session/round_session.hpp>
#include <rondo/types.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace rondo {

namespace detail {
template <class Session>
inline constexpr bool runs_one_round = false;
template <class P, class Policies, class Graph>
inline constexpr bool runs_one_round<RoundSession<P, Policies, Graph>> = Policies::rounds_in_flight == 1;
}  // namespace detail

/// The bindings of a session whose tensors the program knows only by their place in the graph: for interpreters, for
/// graphs read from a file. What bind() leaves to the compiler is checked here when memory is bound: direction, size,
/// null. The element type is the caller's to check; see graph::TensorRecord.
///
///     rondo::DynamicBindings bindings(session);
///     for (const auto& [tensor, memory] : found) if (Status s = bindings.bind(tensor, memory.data, memory.size); !s) …
///     Status status = bindings.run_round();            // as often as wanted; or begin_round(), launch(), finish()
///
/// Lifetime: immovable; the session outlives it, and the bound memory outlives its rounds. One session may have
/// several, used in turn. Thread safety: the session's. Errors: by status; a bind() that fails leaves what was bound
/// before. Cost: the constructor allocates; a round is checked and copied as one of run_round() that comes in no
/// particular order, with no allocation.
template <class Session>
class DynamicBindings {
  static_assert(detail::runs_one_round<Session>,
                "rondo: bindings that only the running program knows are for sessions of one round at a time");

 public:
  /// @throws std::bad_alloc
  explicit DynamicBindings(Session& session) : session_{session} {
    const auto ports = session.ports_.view();
    bindings_ = detail::OwnedArray<detail::Binding>(ports.size());
    round_ = detail::OwnedArray<detail::Binding>(ports.size());
    copies_in_ = detail::OwnedArray<detail::Copy>(ports.size());
    copies_out_ = detail::OwnedArray<detail::Copy>(ports.size());
    for (std::size_t p = 0; p < ports.size(); ++p) {
      bindings_[p].key = ports[p].key;
      bindings_[p].bytes = ports[p].bytes;
    }
  }
  DynamicBindings(const DynamicBindings&) = delete;
  DynamicBindings& operator=(const DynamicBindings&) = delete;

  /// Binds host memory for the rounds to come, in place of what was bound to the tensor before.
  /// Errors: wrong_tensor: not bound each round, or memory that must not be written for a tensor that is; wrong_size,
  /// null_memory; unsupported: a host input, and the session's update strategy refreshes none; busy: a round of these
  /// bindings is under way.
  Status bind(TensorId tensor, void* host, Bytes size) noexcept { return bind(tensor, host, {}, size, true); }
  /// The same for memory that is only read.
  Status bind(TensorId tensor, const void* host, Bytes size) noexcept {
    return bind(tensor, const_cast<void*>(host), {}, size, false);
  }
  /// Binds device memory: nothing is copied, the tensor's address changes. Errors: as above; unsupported also if the
  /// update strategy never changes an address.
  Status bind(TensorId tensor, DevicePtr<std::byte> device, Bytes size) noexcept {
    return bind(tensor, nullptr, device, size, true);
  }

  /// One round, as RoundSession::run_round. Errors: its own, and unbound_tensor.
  Status run_round() noexcept {
    session_.enter(Phase::bind);
    if (const Status status = take(); !status) return status;
    return session_.run_in_general({round_.data(), round_.size()});
  }

  /// A round step by step: what a failed step leaves is ended by finish(), which returns the first failure. busy: a
  /// round is under way, or launch() and finish() without begin_round().
  Status begin_round() noexcept {
    session_.enter(Phase::bind);
    if (const Status status = take(); !status) return status;
    if (const Status status = session_.prepare({round_.data(), round_.size()}); !status) return status;
    resolve();
    session_.enter_round();
    session_.state_ = Session::State::in_round;
    round_link_.emplace(&session_, Status{});
    launched_ = false;
    round_link_->status = session_.copy_in_what_moves({copies_in_.data(), in_});
    session_.enter(Phase::outside);
    return round_link_->status;
  }
  /// Starts the tasks; does not wait.
  Status launch() noexcept {
    if (!round_link_ || launched_) return Status{Errc::busy};
    launched_ = true;
    if (round_link_->status.ok()) {
      round_link_->status = round_link_->session() == nullptr ? Status{Errc::closed} : session_.launch_open_round();
    }
    return round_link_->status;
  }
  /// Copies the outputs to the host and waits until all is done. A round that was not launched is ended as `abandoned`.
  Status finish() noexcept {
    if (!round_link_) return Status{Errc::busy};
    Status status = round_link_->status;
    const bool is_over = round_link_->session() == nullptr;
    if (launched_ && !is_over) {
      round_link_->detach();
      session_.leave_round();
      if (status.ok()) status = session_.copy_out_what_moves({copies_out_.data(), out_});
      if (const Status waited = session_.wait(); status.ok()) status = waited;
      status = session_.settle(status);
    } else if (status.ok()) {
      status = Status{is_over ? Errc::closed : Errc::abandoned};
    }
    round_link_.reset();  // abandons a round that was not launched
    return status;
  }
  /// Has a round begun that is not finished?
  [[nodiscard]] bool in_round() const noexcept { return round_link_.has_value(); }

 private:
  using Update = typename Session::Update;

  Status bind(TensorId tensor, void* host, DevicePtr<std::byte> device, Bytes size, bool may_write) noexcept {
    if (round_link_) return Status{Errc::busy};
    const auto ports = session_.ports_.view();
    std::size_t p = 0;
    while (p < ports.size() && ports[p].key.tensor() != tensor) ++p;
    if (p == ports.size()) return Status::of_tensor(Errc::wrong_tensor, index(tensor));
    const Direction direction = ports[p].direction;
    if (copies_out(direction) && !may_write) return Status::of_tensor(Errc::wrong_tensor, index(tensor));
    const UpdateLevel needed = device                     ? UpdateLevel::model_io
                               : rides_in_args(direction) ? UpdateLevel::host_input
                                                          : UpdateLevel::none;
    if (Update::highest < needed || (device && !is_model_io(direction))) {
      return Status::of_tensor(Errc::unsupported, index(tensor));
    }
    if (size.value != ports[p].bytes) {
      session_.bytes_bound_ = size.value;
      return Status::of_tensor(Errc::wrong_size, index(tensor));
    }
    if (host == nullptr && !device) return Status::of_tensor(Errc::null_memory, index(tensor));
    bindings_[p].data = host;
    bindings_[p].device = device.address();
    return {};
  }

  /// This round's bindings, which a round may change. Cost: O(tensors bound)
  Status take() noexcept {
    if (round_link_) return Status{Errc::busy};
    for (std::size_t p = 0; p < bindings_.size(); ++p) {
      if (bindings_[p].is_null()) {
        return session_.is_calm() ? Status::of_tensor(Errc::unbound_tensor, index(bindings_[p].key.tensor()))
                                  : session_.refusal();
      }
      round_[p] = bindings_[p];
    }
    return {};
  }

  void resolve() noexcept {
    const auto ports = session_.ports_.view();
    in_ = out_ = 0;
    for (std::size_t p = 0; p < ports.size(); ++p) {
      if (round_[p].device != 0) continue;
      const detail::Copy copy{ports[p].device, round_[p].data, Bytes{round_[p].bytes}, static_cast<std::uint32_t>(p)};
      if (copies_in(ports[p].direction)) copies_in_[in_++] = copy;
      if (copies_out(ports[p].direction)) copies_out_[out_++] = copy;
    }
  }

  Session& session_;
  detail::OwnedArray<detail::Binding> bindings_;  ///< in the order of the ports
  detail::OwnedArray<detail::Binding> round_;     ///< the same, of the round under way
  detail::OwnedArray<detail::Copy> copies_in_;
  detail::OwnedArray<detail::Copy> copies_out_;
  std::size_t in_ = 0;
  std::size_t out_ = 0;
  std::optional<detail::RoundLink<Session>> round_link_;
  bool launched_ = false;
};

}  // namespace rondo
