// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/binding/bindings.hpp>
#include <rondo/error.hpp>
#include <rondo/types.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rondo {

/// The bindings of a session whose tensors the program knows only by their place in the graph: for interpreters, for
/// graphs read from a file. It stands where pairs stand, in rounds of every kind of session. What bind() leaves to the
/// compiler is checked when memory is bound: direction, size, null. The element type is the caller's to check; see
/// graph::TensorRecord.
///
///     rondo::DynamicBindings bindings(session);
///     for (const auto& [tensor, memory] : found) if (Status s = bindings.bind(tensor, memory.data, memory.size); !s) …
///     Status status = session.run_round(bindings);     // as often as wanted; or begin_round, submit_round
///
/// Lifetime: immovable; the session outlives it, and the bound memory outlives its rounds. One session may have
/// several, used in turn. What is bound while a round is under way counts from the next round on. Thread safety: the
/// session's. Errors: by status; a bind() that fails leaves what was bound before. Cost: the constructor allocates; a
/// round is checked and copied as one whose pairs come in no particular order, with no allocation.
template <class Session>
class DynamicBindings {
 public:
  /// @throws std::bad_alloc
  explicit DynamicBindings(Session& session) : session_{session}, view_{session.interface()} {
    for (std::size_t t = 0; t < view_.tensors.size(); ++t) {
      if (is_bound_each_round(view_.tensors[t].direction)) bound_.push_back(detail::Binding(view_.key(t)));
    }
    round_ = bound_;
    unbound_ = bound_.size();
  }
  DynamicBindings(const DynamicBindings&) = delete;
  DynamicBindings& operator=(const DynamicBindings&) = delete;

  /// Binds host memory for the rounds to come, in place of what was bound to the tensor before.
  /// Errors: wrong_tensor: not bound each round, or memory that must not be written for a tensor that is; wrong_size,
  /// null_memory; unsupported: a host input, and the session's update strategy refreshes none.
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

  // --- the session's side

  /// Sessions take it where they take pairs.
  static constexpr bool stands_for_pairs = true;

  /// A round's bindings, in the order of the ports, which the round may change. Cost: O(tensors bound)
  [[nodiscard]] std::span<detail::Binding> list() noexcept {
    for (std::size_t b = 0; b < bound_.size(); ++b) round_[b] = bound_[b];
    return round_;
  }
  /// What is bound for the next round, in the order of the ports.
  [[nodiscard]] std::span<const detail::Binding> bound() const noexcept { return bound_; }
  /// The tensors that these are bindings of.
  [[nodiscard]] graph::GraphView interface() const noexcept { return view_; }
  /// The first tensor that nothing was bound to.
  [[nodiscard]] Status find_unbound() const noexcept {
    if (unbound_ == 0) [[likely]]
      return {};
    for (const detail::Binding& b : bound_) {
      if (b.bytes == detail::Binding::unbound) return Status::of_tensor(Errc::unbound_tensor, index(b.key.tensor()));
    }
    return {};
  }
  /// Whether these are bindings of that session.
  [[nodiscard]] bool are_of(const Session& session) const noexcept { return &session_ == &session; }

 private:
  Status bind(TensorId tensor, void* host, DevicePtr<std::byte> device, Bytes size, bool may_write) noexcept {
    const std::size_t b = find(tensor);
    if (b == bound_.size()) return Status::of_tensor(Errc::wrong_tensor, index(tensor));
    const graph::TensorRecord& record = view_.tensors[index(tensor)];
    if (copies_out(record.direction) && !may_write) return Status::of_tensor(Errc::wrong_tensor, index(tensor));
    const UpdateLevel needed = device                            ? UpdateLevel::model_io
                               : rides_in_args(record.direction) ? UpdateLevel::host_input
                                                                 : UpdateLevel::none;
    if (Session::highest_update < needed || (device && !is_model_io(record.direction))) {
      return Status::of_tensor(Errc::unsupported, index(tensor));
    }
    if (const Status status = session_.check_bytes(tensor, size); !status) return status;
    if (host == nullptr && !device && size.value != 0) return Status::of_tensor(Errc::null_memory, index(tensor));
    if (bound_[b].bytes == detail::Binding::unbound) --unbound_;
    bound_[b].bytes = size.value;
    bound_[b].data = host;
    bound_[b].device = device.address();
    return {};
  }

  /// The place of a tensor in the lists, or their size. As a rule tensors are bound in the order of their declaration.
  [[nodiscard]] std::size_t find(TensorId tensor) noexcept {
    std::size_t b = next_ < bound_.size() && bound_[next_].key.tensor() == tensor ? next_ : 0;
    while (b < bound_.size() && bound_[b].key.tensor() != tensor) ++b;
    next_ = b + 1;
    return b;
  }

  Session& session_;
  graph::GraphView view_;
  std::vector<detail::Binding> bound_;  ///< in the order of the ports
  std::vector<detail::Binding> round_;  ///< the same, of the round under way
  std::size_t next_ = 0;                ///< the place after the one that was bound last
  std::size_t unbound_ = 0;             ///< how many tensors nothing was bound to
};

}  // namespace rondo
