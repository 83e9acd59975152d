// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/binding/bindings.hpp>
#include <rondo/binding/host_ranges.hpp>
#include <rondo/binding/strided.hpp>
#include <rondo/error.hpp>
#include <rondo/launch/solve.hpp>
#include <rondo/memory/device_array.hpp>
#include <rondo/platform/concept.hpp>
#include <rondo/types.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <utility>
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
/// status; a bind() that fails changes nothing. Cost: the constructor allocates. If every tensor is bound to host
/// memory without strides, a round uses the bindings as they are; any other round copies their list, and checks it like
/// pairs in arbitrary order. Rounds do not allocate.
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
    ranges_ = detail::DynamicRanges(bound_.size());
    general_ = bound_.size();
    unsettled_ = bound_.size();
  }
  DynamicBindings(const DynamicBindings&) = delete;
  DynamicBindings& operator=(const DynamicBindings&) = delete;

  /// Binds host memory for all later rounds and replaces the tensor's previous binding. Errors: wrong_tensor: rounds do
  /// not bind this tensor, or would write it and `host` is const; wrong_size, null_memory; unsupported: the tensor is a
  /// host input, and the session's update strategy does not refresh those.
  Status bind(TensorId tensor, void* host, Bytes size) noexcept { return bind(tensor, host, {}, size, true); }
  /// The same for memory that is only read.
  Status bind(TensorId tensor, const void* host, Bytes size) noexcept {
    return bind(tensor, const_cast<void*>(host), {}, size, false);  // NOLINT: read only
  }
  /// Binds device memory: nothing is copied, the tensor's address changes; if that is fixed, the memory is copied on
  /// the device. If the platform has HasDeviceCopy, memory at an address that kernels cannot use is packed as below.
  /// Errors: as above; also unsupported if the update strategy never changes an address.
  Status bind(TensorId tensor, DevicePtr<std::byte> device, Bytes size) noexcept {
    if (is_misaligned(device)) [[unlikely]] {
      const auto bytes = static_cast<std::int64_t>(size.value);
      const std::int64_t next = 1;
      return bind_strided(tensor, nullptr, device, {1, &bytes, &next, 1}, true);
    }
    return bind(tensor, nullptr, device, size, true);
  }

  /// Binds host memory with strides: a round packs its elements to be copied, and scatters those that it wrote.
  /// `first`: the address of the element at index 0 of each dimension. For memory without gaps this is bind(), at its
  /// cost. Errors: as above; also overlapping if rounds write the tensor and elements of the layout share bytes;
  /// invalid_argument for elements of another size than the tensor's, or an invalid layout; out_of_memory. Cost:
  /// allocates packed memory unless an earlier binding left enough. Rounds do not allocate.
  Status bind(TensorId tensor, void* first, const StridedLayout& layout) noexcept {
    return bind_strided(tensor, first, {}, layout, true);
  }
  /// The same for memory that is only read.
  Status bind(TensorId tensor, const void* first, const StridedLayout& layout) noexcept {
    return bind_strided(tensor, const_cast<void*>(first), {}, layout, false);  // NOLINT: read only
  }
  /// Binds device memory with strides, at an address of any alignment: a round copies its elements on the device to
  /// packed memory of these bindings, and back what it wrote. Errors: as above; also unsupported if the platform lacks
  /// HasDeviceCopy, or the update strategy never changes an address. Cost: each row of elements is a call of the
  /// driver; the first bind() of each tensor allocates device memory.
  Status bind(TensorId tensor, DevicePtr<std::byte> first, const StridedLayout& layout) noexcept {
    return bind_strided(tensor, nullptr, first, layout, true);
  }

  /// The reason why rounds copy the memory that is bound to a tensor, as a sentence without its full stop; null if
  /// kernels use the memory itself. An input that the session holds is not copied, whatever the reason. Cost: O(tensors
  /// bound)
  [[nodiscard]] const char* why_copied(TensorId tensor) const noexcept {
    std::size_t b = 0;
    while (b < bound_.size() && bound_[b].key.tensor() != tensor) ++b;
    if (b == bound_.size() || bound_[b].bytes == detail::Binding::unbound) return "no memory is bound to the tensor";
    const detail::StridedMemory* const m = strided_ == nullptr ? nullptr : strided_->find(b);
    if (m != nullptr && m->is_bound) {
      if (!m->device) return "the memory is on the host and has strides, so it is packed and copied";
      return m->layout.is_packed() ? "the address of the device memory is misaligned, so it is copied on the device"
                                   : "the device memory has strides, so it is packed on the device";
    }
    if (is_carried_in_args(view_.tensors[index(tensor)].direction)) return "host inputs travel in the args table";
    if (bound_[b].device == 0) return "the memory is on the host";
    const bool is_fixed = view_.tensors[graph::root_of(view_.tensors, index(tensor))].fixed;
    return is_fixed ? "the address of the tensor is fixed, so the device memory is copied on the device" : nullptr;
  }

  /// States the value of a symbol, by its number, for all later rounds, as with_symbols() does. launch::not_stated
  /// withdraws it. Errors: invalid_argument: the graph has no such symbol, or the value is negative.
  Status state_symbol(std::size_t symbol, std::int64_t value) noexcept
    requires(has_symbols)
  {
    if (symbol >= symbols_.size() || value < launch::not_stated) {
      return session_.without_text(Status{Errc::invalid_argument});
    }
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
    if (strided_count_ == 0) return {round_.data(), round_.size()};
    for (detail::StridedMemory& m : strided_->list) {
      detail::Binding& b = round_[m.port];
      if (m.is_bound && m.device) b.strided = &m;
      if (m.is_bound && !m.device) b.data = m.packed.data(), b.bytes = m.layout.bytes();
    }
    return {round_.data(), round_.size()};
  }
  /// Whether every tensor is bound to host memory that is copied, and was checked when it was bound. A round that needs
  /// nothing else uses bound() unchanged.
  [[nodiscard]] bool is_plain() const noexcept { return general_ == 0; }
  /// The bindings of the next round, in the order of the ports.
  [[nodiscard]] std::span<const detail::Binding> bound() const noexcept { return graph::span_of(bound_); }
  /// The values of the symbols, by number, if any was stated; otherwise an empty list.
  [[nodiscard]] std::span<const std::int64_t> stated_symbols() const noexcept {
    return {symbols_.data(), stated_ == 0 ? 0 : symbols_.size()};
  }
  /// The host memory that the next round reads and writes, as of this call.
  [[nodiscard]] const detail::DynamicRanges& ranges() noexcept { return ranges_.take(bound(), view_); }
  /// Whether each tensor is bound, to memory without strides. Otherwise a round first calls settle().
  [[nodiscard]] bool is_settled() const noexcept { return unsettled_ == 0; }
  /// The bindings with strides of the next round; null if there are none. While the caller keeps them, bind()
  /// changes a copy instead.
  [[nodiscard]] std::shared_ptr<detail::StridedList> strided() const noexcept {
    return strided_count_ != 0 ? strided_ : nullptr;
  }
  /// Returns unbound_tensor for the first tensor without a binding, or packs host memory with strides, except for ports
  /// that are held. Call it when no round in flight writes that memory.
  template <class IsHeld>
  [[gnu::cold]] Status settle(const IsHeld& is_held) noexcept {
    for (const detail::Binding& b : bound_) {
      if (b.bytes == detail::Binding::unbound) return Status::of_tensor(Errc::unbound_tensor, index(b.key.tensor()));
    }
    strided_->pack(is_held);
    return {};
  }
  /// Whether these bindings belong to `session`.
  [[nodiscard]] bool are_of(const Session& session) const noexcept { return &session_ == &session; }

 private:
  /// Checks a binding to the tensor with number `b` in the lists.
  Status check(std::size_t b, TensorId tensor, void* host, DevicePtr<std::byte> device, Bytes size,
               bool may_write) noexcept {
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
    return {};
  }
  Status bind(TensorId tensor, void* host, DevicePtr<std::byte> device, Bytes size, bool may_write) noexcept {
    const std::size_t b = find(tensor);
    if (const Status status = check(b, tensor, host, device, size, may_write); !status) return status;
    if (strided_ != nullptr) [[unlikely]] {
      if (const Status status = end_strided(b); !status) return status;
    }
    set(b, host, device, size);
    return {};
  }
  void set(std::size_t b, void* host, DevicePtr<std::byte> device, Bytes size) noexcept {
    const Direction direction = view_.tensors[index(bound_[b].key.tensor())].direction;
    const bool was_plain = is_plain(bound_[b], direction);
    if (bound_[b].bytes == detail::Binding::unbound) --unsettled_;
    bound_[b].bytes = size.value;
    bound_[b].data = host;
    bound_[b].device = device.address();
    general_ += static_cast<std::size_t>(was_plain) - static_cast<std::size_t>(is_plain(bound_[b], direction));
  }

  // --- memory with strides: a tensor with it counts as not settled, and as not plain

  /// Whether device memory must be packed because of its address. Without HasDeviceCopy, rounds refuse it.
  [[nodiscard]] static bool is_misaligned(DevicePtr<std::byte> device) noexcept {
    using P = typename Session::Platform;
    return HasDeviceCopy<P> && device.address() % P::Arch::block_granule != 0;
  }
  /// Memory with strides or misaligned: `host` or `device` is its first element.
  [[gnu::cold]] Status bind_strided(TensorId tensor, void* host, DevicePtr<std::byte> device,
                                    const StridedLayout& layout, bool may_write) noexcept {
    const Bytes size{layout.bytes()};
    if (layout.is_valid() && layout.is_packed() && !(is_misaligned(device) && size.value != 0)) {
      // Nothing is at the address of a tensor without elements.
      const std::uint64_t granule = Session::Platform::Arch::block_granule;
      if (size.value == 0) device = DevicePtr<std::byte>{align_up(device.address(), granule)};
      return bind(tensor, host, device, size, may_write);
    }
    const std::size_t b = find(tensor);
    if (!layout.is_valid()) return Status::of_tensor(Errc::invalid_argument, index(tensor));
    if (const Status s = check(b, tensor, host, device, size, may_write); !s) return s;
    const graph::TensorRecord& record = view_.tensors[index(tensor)];
    if (!layout.is_packed() && layout.element_bytes() != size_of(record.type)) {
      return Status::of_tensor(Errc::invalid_argument, index(tensor));
    }
    if (copies_out(record.direction) && layout.may_overlap()) {
      return Status::of_tensor(Errc::overlapping, index(tensor));
    }
    if (device && !HasDeviceCopy<typename Session::Platform>) {
      return Status::of_tensor(Errc::unsupported, index(tensor));
    }
    detail::StridedMemory* memory = nullptr;
    std::optional<DeviceArray<std::uint8_t>> larger;
    try {
      if (device) larger = larger_block(b, size);
      own_strided();
      memory = strided_->find(b);
      if (memory == nullptr) {
        memory = &strided_->list.emplace_back(detail::StridedMemory{.port = b, .layout = layout, .is_bound = false});
      }
      if (!device && memory->packed.size() < size.value) std::vector<std::byte>(size.value).swap(memory->packed);
    } catch (const Error& error) {
      return Status::of_tensor(error.code(), index(tensor));
    } catch (const std::bad_alloc&) {
      return Status::of_tensor(Errc::out_of_memory, index(tensor));
    }
    if (!std::exchange(memory->is_bound, true)) ++general_, ++unsettled_, ++strided_count_;
    memory->direction = record.direction;
    memory->layout = layout;
    memory->host = static_cast<std::byte*>(host);
    memory->device = device;
    if (!device) {
      set(b, memory->host - layout.bytes_before(), {}, Bytes{layout.bytes_before() + layout.bytes_after()});
      return {};
    }
    memory->block = (larger ? *larger : *blocks_[b]).span().data().template as<std::byte>();
    set(b, nullptr, memory->block, size);
    // Last, since releasing the smaller block waits for rounds, whose completions may bind.
    if (larger) std::swap(blocks_[b], larger);
    return {};
  }
  /// Packed device memory for a tensor, if what there is has fewer bytes. @throws Error as the session's allocate()
  [[nodiscard]] std::optional<DeviceArray<std::uint8_t>> larger_block(std::size_t b, Bytes size) {
    if (blocks_ == nullptr) blocks_ = std::make_unique<std::optional<DeviceArray<std::uint8_t>>[]>(bound_.size());
    if (blocks_[b] && blocks_[b]->size() >= size.value) return {};
    return session_.template allocate_block<std::uint8_t>(size);
  }
  /// Ends the strided binding of a tensor, if it has one.
  [[gnu::cold]] Status end_strided(std::size_t b) noexcept {
    detail::StridedMemory* memory = strided_->find(b);
    if (memory == nullptr || !memory->is_bound) return {};
    try {
      own_strided();
    } catch (const std::bad_alloc&) {
      return Status::of_tensor(Errc::out_of_memory, index(bound_[b].key.tensor()));
    }
    strided_->find(b)->is_bound = false;
    --general_, --unsettled_, --strided_count_;
    return {};
  }
  /// Leaves the list to the rounds that keep it, if any, and makes a copy to change.
  void own_strided() {
    if (strided_ == nullptr) strided_ = std::make_shared<detail::StridedList>();
    if (strided_.use_count() == 1) return;
    strided_ = std::make_shared<detail::StridedList>(*strided_);
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
  detail::DynamicRanges ranges_{0};     ///< of the last round in flight
  std::shared_ptr<detail::StridedList> strided_;
  std::unique_ptr<std::optional<DeviceArray<std::uint8_t>>[]>
      blocks_;                         ///< by port: packed device memory; null until used
  std::size_t general_ = 0;            ///< the number of elements of bound_ that are not plain
  std::size_t next_ = 0;               ///< the index after the last tensor bound
  std::size_t unsettled_ = 0;          ///< the number of tensors without a binding, or with one that has strides
  std::vector<std::int64_t> symbols_;  ///< stated values by symbol, in a session of many shapes
  std::size_t strided_count_ = 0;      ///< the number of tensors that are bound to memory with strides
  std::size_t stated_ = 0;             ///< the number of symbols that have a stated value
};

}  // namespace rondo
