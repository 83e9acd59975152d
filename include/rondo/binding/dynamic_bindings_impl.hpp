// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/binding/dynamic_bindings.hpp>

#include <new>
#include <utility>

/// The bodies of BindingList. Include dynamic_bindings.hpp instead.
#if RONDO_HAS_BODIES
namespace rondo {

namespace detail {
[[nodiscard]] inline bool is_plain_binding(const Binding& b, Direction direction) noexcept {
  return b.bytes != Binding::unbound && b.data != nullptr && b.device == 0 && !is_carried_in_args(direction);
}
}  // namespace detail

RONDO_INLINE BindingList::BindingList(const graph::GraphView& view, std::size_t symbols, detail::BindingRules rules)
    : view_{view}, rules_{rules}, symbols_(symbols, launch::not_stated) {
  for (std::size_t t = 0; t < view_.tensors.size(); ++t) {
    if (is_bound_each_round(view_.tensors[t].direction)) bound_.push_back(detail::Binding(view_.key(t)));
  }
  round_ = bound_;
  ranges_ = detail::DynamicRanges(bound_.size());
  general_ = bound_.size();
  unsettled_ = bound_.size();
}

RONDO_INLINE const char* BindingList::why_copied(TensorId tensor) const noexcept {
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

RONDO_INLINE Status BindingList::state_symbol(std::size_t symbol, std::int64_t value) noexcept {
  if (symbol >= symbols_.size() || value < launch::not_stated) return refuse_symbol();
  std::int64_t& stated = symbols_[symbol];
  stated_ += static_cast<std::size_t>(value >= 0) - static_cast<std::size_t>(stated >= 0);
  stated = value;
  return {};
}

RONDO_INLINE std::span<detail::Binding> BindingList::list() noexcept {
  for (std::size_t b = 0; b < bound_.size(); ++b) round_[b] = bound_[b];
  if (strided_count_ == 0) return {round_.data(), round_.size()};
  for (detail::StridedMemory& m : strided_->list) {
    detail::Binding& b = round_[m.port];
    if (m.is_bound && m.device) b.strided = &m;
    if (m.is_bound && !m.device) b.data = m.packed.data(), b.bytes = m.layout.bytes();
  }
  return {round_.data(), round_.size()};
}

RONDO_INLINE Status BindingList::settle(std::span<const char> held) noexcept {
  for (const detail::Binding& b : bound_) {
    if (b.bytes == detail::Binding::unbound) return Status::of_tensor(Errc::unbound_tensor, index(b.key.tensor()));
  }
  strided_->pack(held);
  return {};
}

RONDO_INLINE Status BindingList::check(std::size_t b, TensorId tensor, void* host, DevicePtr<std::byte> device,
                                       Bytes size, bool may_write) noexcept {
  if (b == bound_.size()) return Status::of_tensor(Errc::wrong_tensor, index(tensor));
  const graph::TensorRecord& record = view_.tensors[index(tensor)];
  if (copies_out(record.direction) && !may_write) return Status::of_tensor(Errc::wrong_tensor, index(tensor));
  const UpdateLevel needed = device                                 ? UpdateLevel::model_io
                             : is_carried_in_args(record.direction) ? UpdateLevel::host_input
                                                                    : UpdateLevel::none;
  if (rules_.highest_update < needed || (device && !is_model_io(record.direction))) {
    return Status::of_tensor(Errc::unsupported, index(tensor));
  }
  if (!record.may_have(size)) return refuse_size(tensor, size);
  if (host == nullptr && !device && size.value != 0) return Status::of_tensor(Errc::null_memory, index(tensor));
  return {};
}

RONDO_INLINE Status BindingList::bind(TensorId tensor, void* host, DevicePtr<std::byte> device, Bytes size,
                                      bool may_write) noexcept {
  const std::size_t b = find(tensor);
  if (const Status status = check(b, tensor, host, device, size, may_write); !status) return status;
  if (strided_ != nullptr) [[unlikely]] {
    if (const Status status = end_strided(b); !status) return status;
  }
  set(b, host, device, size);
  return {};
}

RONDO_INLINE void BindingList::set(std::size_t b, void* host, DevicePtr<std::byte> device, Bytes size) noexcept {
  const Direction direction = view_.tensors[index(bound_[b].key.tensor())].direction;
  const bool was_plain = detail::is_plain_binding(bound_[b], direction);
  if (bound_[b].bytes == detail::Binding::unbound) --unsettled_;
  bound_[b].bytes = size.value;
  bound_[b].data = host;
  bound_[b].device = device.address();
  general_ +=
      static_cast<std::size_t>(was_plain) - static_cast<std::size_t>(detail::is_plain_binding(bound_[b], direction));
}

RONDO_INLINE Status BindingList::bind_misaligned(TensorId tensor, DevicePtr<std::byte> device, Bytes size) noexcept {
  const auto bytes = static_cast<std::int64_t>(size.value);
  const std::int64_t next = 1;
  return bind_strided(tensor, nullptr, device, {1, &bytes, &next, 1}, true);
}

RONDO_INLINE Status BindingList::bind_strided(TensorId tensor, void* host, DevicePtr<std::byte> device,
                                              const StridedLayout& layout, bool may_write) noexcept {
  const Bytes size{layout.bytes()};
  if (layout.is_valid() && layout.is_packed() && !(is_misaligned(device) && size.value != 0)) {
    // Nothing is at the address of a tensor without elements.
    if (size.value == 0) device = DevicePtr<std::byte>{align_up(device.address(), rules_.granule)};
    return bind(tensor, host, device, size, may_write);
  }
  const std::size_t b = find(tensor);
  if (!layout.is_valid()) return Status::of_tensor(Errc::invalid_argument, index(tensor));
  if (const Status s = check(b, tensor, host, device, size, may_write); !s) return s;
  const graph::TensorRecord& record = view_.tensors[index(tensor)];
  if (!layout.is_packed() && layout.element_bytes() != size_of(record.type)) {
    return Status::of_tensor(Errc::invalid_argument, index(tensor));
  }
  if (copies_out(record.direction) && layout.may_overlap()) return Status::of_tensor(Errc::overlapping, index(tensor));
  if (device && !rules_.copies_on_device) return Status::of_tensor(Errc::unsupported, index(tensor));
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
  memory->block = (larger ? *larger : *blocks_[b]).span().data().as<std::byte>();
  set(b, nullptr, memory->block, size);
  // Last, since releasing the smaller block waits for rounds, whose completions may bind.
  if (larger) std::swap(blocks_[b], larger);
  return {};
}

RONDO_INLINE std::optional<DeviceArray<std::uint8_t>> BindingList::larger_block(std::size_t b, Bytes size) {
  if (blocks_ == nullptr) blocks_ = std::make_unique<std::optional<DeviceArray<std::uint8_t>>[]>(bound_.size());
  if (blocks_[b] && blocks_[b]->size() >= size.value) return {};
  return allocate_block(size);
}

RONDO_INLINE Status BindingList::end_strided(std::size_t b) noexcept {
  const detail::StridedMemory* const memory = strided_->find(b);
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

RONDO_INLINE void BindingList::own_strided() {
  if (strided_ == nullptr) strided_ = std::make_shared<detail::StridedList>();
  if (strided_.use_count() == 1) return;
  strided_ = std::make_shared<detail::StridedList>(*strided_);
}

/// Tries the next tensor first, since most are bound in order.
RONDO_INLINE std::size_t BindingList::find(TensorId tensor) noexcept {
  std::size_t b = next_ < bound_.size() && bound_[next_].key.tensor() == tensor ? next_ : 0;
  while (b < bound_.size() && bound_[b].key.tensor() != tensor) ++b;
  next_ = b + 1;
  return b;
}

}  // namespace rondo
#endif
