// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/binding/bindings.hpp>
#include <rondo/error.hpp>
#include <rondo/launch/solve.hpp>
#include <rondo/types.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rondo {

/// The bindings of a session whose tensors the program knows only by their position in the graph: for interpreters, and
/// for graphs read from files. Rounds of every kind of session accept it in place of pairs. When memory is bound, it
/// checks what the compiler checks for bind(): direction, size, null. The caller checks the element type; see
/// graph::TensorRecord.
///
///     rondo::DynamicBindings bindings(session);
///     for (const auto& [tensor, memory] : found) if (Status s = bindings.bind(tensor, memory.data, memory.size); !s) …
///     Status status = session.run_round(bindings);     // any number of times; or begin_round, submit_round
///
/// Lifetime: immovable; the session must outlive it, and the bound memory its rounds. A session may have several, used
/// in turn. A bind() during a round takes effect in the next round. Thread safety: that of the session. Errors: by
/// status; a bind() that fails changes nothing. Cost: the constructor allocates. A round of host memory alone is copied
/// as bound; any other round is checked and copied like one with pairs in arbitrary order. Neither allocates.
template <class Session>
class DynamicBindings {
  static constexpr bool has_symbols = requires(Session& session) { session.entries(); };

 public:
  /// @throws std::bad_alloc
  explicit DynamicBindings(Session& session) : session_{session}, view_{session.interface()} {
    for (std::size_t t = 0; t < view_.tensors.size(); ++t) {
      if (is_bound_each_round(view_.tensors[t].direction)) bound_.push_back(detail::Binding(view_.key(t)));
    }
    if constexpr (has_symbols) symbols_.assign(session.graph().symbols().size(), launch::not_stated);
    round_ = bound_;
    general_ = bound_.size();
    unbound_ = bound_.size();
  }
  DynamicBindings(const DynamicBindings&) = delete;
  DynamicBindings& operator=(const DynamicBindings&) = delete;

  /// Binds host memory for all later rounds and replaces the tensor's previous binding.
  /// Errors: wrong_tensor: rounds do not bind this tensor, or would write it and `host` is const; wrong_size,
  /// null_memory; unsupported: a host input, which the session's update strategy does not refresh.
  Status bind(TensorId tensor, void* host, Bytes size) noexcept { return bind(tensor, host, {}, size, true); }
  /// The same for memory that is only read.
  Status bind(TensorId tensor, const void* host, Bytes size) noexcept {
    return bind(tensor, const_cast<void*>(host), {}, size, false);  // NOLINT: read only
  }
  /// Binds device memory: nothing is copied, the tensor's address changes. Errors: as above; also unsupported if the
  /// update strategy never changes an address.
  Status bind(TensorId tensor, DevicePtr<std::byte> device, Bytes size) noexcept {
    return bind(tensor, nullptr, device, size, true);
  }

  /// States the value of a symbol, by its number, for all later rounds, as with_symbols() does. launch::not_stated
  /// withdraws it. Errors: invalid_argument: the graph has no such symbol, or the value is negative.
  Status state_symbol(std::size_t symbol, std::int64_t value) noexcept
    requires(has_symbols)
  {
    if (symbol >= symbols_.size() || value < launch::not_stated) return Status{Errc::invalid_argument};
    std::int64_t& stated = symbols_[symbol];
    stated_ += static_cast<std::size_t>(value >= 0) - static_cast<std::size_t>(stated >= 0);
    stated = value;
    return {};
  }

  // --- for sessions

  /// Tells sessions to accept this in place of pairs.
  static constexpr bool replaces_pairs = true;

  /// The bindings of a round, in the order of the ports; the round may change them. Cost: O(tensors bound)
  [[nodiscard]] std::span<detail::Binding> list() noexcept {
    for (std::size_t b = 0; b < bound_.size(); ++b) round_[b] = bound_[b];
    return round_;
  }
  /// Whether every tensor is bound to host memory that is copied, and was checked when it was bound. A round that needs
  /// nothing else uses bound() unchanged.
  [[nodiscard]] bool is_plain() const noexcept { return general_ == 0; }
  /// The bindings of the next round, in the order of the ports.
  [[nodiscard]] std::span<const detail::Binding> bound() const noexcept { return bound_; }
  /// The values of the symbols, by number, if any was stated; otherwise an empty list.
  [[nodiscard]] std::span<const std::int64_t> stated_symbols() const noexcept {
    return std::span(symbols_).first(stated_ == 0 ? 0 : symbols_.size());
  }
  /// The tensors to which these bindings belong.
  [[nodiscard]] graph::GraphView interface() const noexcept { return view_; }
  /// Returns unbound_tensor for the first tensor without a binding.
  [[nodiscard]] Status find_unbound() const noexcept {
    if (unbound_ == 0) [[likely]]
      return {};
    for (const detail::Binding& b : bound_) {
      if (b.bytes == detail::Binding::unbound) return Status::of_tensor(Errc::unbound_tensor, index(b.key.tensor()));
    }
    return {};
  }
  /// Whether these bindings belong to `session`.
  [[nodiscard]] bool are_of(const Session& session) const noexcept { return &session_ == &session; }

 private:
  Status bind(TensorId tensor, void* host, DevicePtr<std::byte> device, Bytes size, bool may_write) noexcept {
    const std::size_t b = find(tensor);
    if (b == bound_.size()) return Status::of_tensor(Errc::wrong_tensor, index(tensor));
    const graph::TensorRecord& record = view_.tensors[index(tensor)];
    if (copies_out(record.direction) && !may_write) return Status::of_tensor(Errc::wrong_tensor, index(tensor));
    const UpdateLevel needed = device                                 ? UpdateLevel::model_io
                               : is_carried_in_args(record.direction) ? UpdateLevel::host_input
                                                                      : UpdateLevel::none;
    if (Session::highest_update < needed || (device && !is_model_io(record.direction))) {
      return Status::of_tensor(Errc::unsupported, index(tensor));
    }
    if (const Status status = session_.check_bytes(tensor, size); !status) return status;
    if (host == nullptr && !device && size.value != 0) return Status::of_tensor(Errc::null_memory, index(tensor));
    const bool was_plain = is_plain(bound_[b], record.direction);
    if (bound_[b].bytes == detail::Binding::unbound) --unbound_;
    bound_[b].bytes = size.value;
    bound_[b].data = host;
    bound_[b].device = device.address();
    general_ += static_cast<std::size_t>(was_plain) - static_cast<std::size_t>(is_plain(bound_[b], record.direction));
    return {};
  }
  [[nodiscard]] static bool is_plain(const detail::Binding& b, Direction direction) noexcept {
    return b.bytes != detail::Binding::unbound && b.data != nullptr && b.device == 0 && !is_carried_in_args(direction);
  }

  /// The index of a tensor in the lists, or their size. Tries the next tensor first, since most are bound in order.
  [[nodiscard]] std::size_t find(TensorId tensor) noexcept {
    std::size_t b = next_ < bound_.size() && bound_[next_].key.tensor() == tensor ? next_ : 0;
    while (b < bound_.size() && bound_[b].key.tensor() != tensor) ++b;
    next_ = b + 1;
    return b;
  }

  Session& session_;
  graph::GraphView view_;
  std::vector<detail::Binding> bound_;  ///< in the order of the ports
  std::vector<detail::Binding> round_;  ///< a copy of bound_ for the current round
  std::size_t general_ = 0;             ///< the number of elements of bound_ that are not plain
  std::size_t next_ = 0;                ///< the index after the last tensor bound
  std::size_t unbound_ = 0;             ///< the number of tensors without a binding
  std::vector<std::int64_t> symbols_;   ///< stated values by symbol, in a session of many shapes
  std::size_t stated_ = 0;              ///< the number of symbols that have a stated value
};

}  // namespace rondo
