// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/binding/bindings.hpp>
#include <rondo/binding/host_ranges.hpp>
#include <rondo/binding/strided.hpp>
#include <rondo/detail/compiled.hpp>
#include <rondo/error.hpp>
#include <rondo/launch/solve.hpp>
#include <rondo/memory/device_array.hpp>
#include <rondo/platform/concept.hpp>
#include <rondo/types.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace rondo {

namespace detail {

/// What a BindingList must know of the type of its session.
struct BindingRules {
  UpdateLevel highest_update;  ///< of the session's update strategy
  bool copies_on_device;       ///< whether the platform has HasDeviceCopy
  std::uint64_t granule;       ///< the alignment of the chip's device memory, in bytes; a power of two
};

}  // namespace detail

/// The part of DynamicBindings that does not depend on the type of the session. What is said there of lifetime, thread
/// safety, errors and cost holds for both. Code that need not know the session can bind through a reference to it.
class BindingList {
 public:
  BindingList(const BindingList&) = delete;
  BindingList& operator=(const BindingList&) = delete;

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
    if (is_misaligned(device)) [[unlikely]]
      return bind_misaligned(tensor, device, size);
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
  [[nodiscard]] const char* why_copied(TensorId tensor) const noexcept;

  /// States the value of a symbol, by its number, for all later rounds, as with_symbols() does. launch::not_stated
  /// withdraws it. Errors: invalid_argument: the session has no such symbol, or the value is negative.
  Status state_symbol(std::size_t symbol, std::int64_t value) noexcept;

  // --- for sessions

  /// The bindings of a round, in the order of the ports; the round may change them. Cost: O(tensors bound)
  [[nodiscard]] std::span<detail::Binding> list() noexcept;
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
  /// that are held. `held`: by port, or empty. Call it when no round in flight writes that memory.
  [[gnu::cold]] Status settle(std::span<const char> held) noexcept;

 protected:
  /// `symbols`: the number of symbols that rounds of the session have. @throws std::bad_alloc
  BindingList(const graph::GraphView& view, std::size_t symbols, detail::BindingRules rules);
  ~BindingList() = default;

 private:
  // --- the session

  /// Returns the status with which the session refuses memory of this size, and keeps the size for its explain().
  virtual Status refuse_size(TensorId tensor, Bytes size) noexcept = 0;
  /// Returns the status with which the session refuses a symbol or its value.
  virtual Status refuse_symbol() noexcept = 0;
  /// Device memory of the session. @throws Error as its allocate()
  virtual DeviceArray<std::uint8_t> allocate_block(Bytes size) = 0;

  /// Checks a binding to the tensor with number `b` in the lists.
  Status check(std::size_t b, TensorId tensor, void* host, DevicePtr<std::byte> device, Bytes size,
               bool may_write) noexcept;
  Status bind(TensorId tensor, void* host, DevicePtr<std::byte> device, Bytes size, bool may_write) noexcept;
  void set(std::size_t b, void* host, DevicePtr<std::byte> device, Bytes size) noexcept;

  // --- memory with strides: a tensor with it counts as not settled, and as not plain

  /// Whether device memory must be packed because of its address. Without HasDeviceCopy, rounds refuse it.
  [[nodiscard]] bool is_misaligned(DevicePtr<std::byte> device) const noexcept {
    return rules_.copies_on_device && (device.address() & (rules_.granule - 1)) != 0;
  }
  [[gnu::cold]] Status bind_misaligned(TensorId tensor, DevicePtr<std::byte> device, Bytes size) noexcept;
  /// Memory with strides or misaligned: `host` or `device` is its first element.
  [[gnu::cold]] Status bind_strided(TensorId tensor, void* host, DevicePtr<std::byte> device,
                                    const StridedLayout& layout, bool may_write) noexcept;
  /// Packed device memory for a tensor, if what there is has fewer bytes. @throws Error as the session's allocate()
  [[nodiscard]] std::optional<DeviceArray<std::uint8_t>> larger_block(std::size_t b, Bytes size);
  /// Ends the strided binding of a tensor, if it has one.
  [[gnu::cold]] Status end_strided(std::size_t b) noexcept;
  /// Leaves the list to the rounds that keep it, if any, and makes a copy to change.
  void own_strided();
  /// The index of a tensor in the lists, or their size.
  [[nodiscard]] std::size_t find(TensorId tensor) noexcept;

  graph::GraphView view_;
  detail::BindingRules rules_;
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
class DynamicBindings final : public BindingList {
 public:
  /// @throws std::bad_alloc
  explicit DynamicBindings(Session& session)
      : BindingList(session.interface(), symbols_of(session),
                    {Session::highest_update, HasDeviceCopy<P>, P::Arch::block_granule}),
        session_{session} {}

  // --- for sessions

  /// Tells sessions to accept this in place of pairs.
  static constexpr bool replaces_pairs = true;
  /// Whether these bindings belong to `session`.
  [[nodiscard]] bool are_of(const Session& session) const noexcept { return &session_ == &session; }

 private:
  using P = typename Session::Platform;
  static constexpr bool has_symbols = requires(const Session& session) { session.entries(); };

  [[nodiscard]] static std::size_t symbols_of([[maybe_unused]] const Session& session) noexcept {
    if constexpr (has_symbols) return session.graph().symbols().size();
    return 0;
  }
  Status refuse_size(TensorId tensor, Bytes size) noexcept override { return session_.check_bytes(tensor, size); }
  Status refuse_symbol() noexcept override {
    constexpr Status status{Errc::invalid_argument};
    if constexpr (has_symbols) return session_.without_text(status);
    return status;
  }
  DeviceArray<std::uint8_t> allocate_block(Bytes size) override {
    return session_.template allocate_block<std::uint8_t>(size);
  }

  Session& session_;
};

}  // namespace rondo

#include <rondo/binding/dynamic_bindings_impl.hpp>  // IWYU pragma: export
