// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/platform/streams/transfers.hpp>

/// The bodies of Transfers' members that are too long for its class; include transfers.hpp.
namespace rondo::platform::streams {

template <arch::Arch A, class Device>
Code Transfers<A, Device>::finish_unplanned() noexcept {
  if (!device_.is_busy() && !plan_.is_under_way()) return code_ok;
  if (const Code code = enter(); code != code_ok) [[unlikely]]
    return code;
  if (const Code code = leave_plan(); code != code_ok) [[unlikely]]
    return code;
  if (in_.at != 0 || out_.at != 0) {
    if (const Code code = out_.at != 0 ? flush_out() : flush_gathered(); code != code_ok) [[unlikely]]
      return code;
  }
  const Code code = device_.wait();
  if (code != code_ok) [[unlikely]] {
    call_ = Api::synchronize;
  } else if (!device_.is_busy()) {
    staging_.deliver();
    plan_.end_recording();
    if (!staging_.has_pinned()) plan_.rearm();  // copies of pinned memory are not part of a plan
    plan_.begin_recording();
  }
  return code;
}

template <arch::Arch A, class Device>
inline Code Transfers<A, Device>::leave_plan() noexcept {
  if (!plan_.is_on()) [[likely]]
    return code_ok;
  if (plan_.is_under_way()) {
    if (const Code code = enter(); code != code_ok) [[unlikely]]
      return code;
    device_.work_begins();
    const bool in = plan_.is_at_inputs();
    const RoundPlan::Copies& copies = in ? plan_.in() : plan_.out();
    std::size_t runs = 0;
    for (const RoundPlan::Step* s = copies.first; s != (in ? plan_.next_in() : plan_.next_out()); ++s) {
      runs += s->begins_run ? 1 : 0;
    }
    if (runs > 1) {
      const Code code = copy_runs(copies.runs, copies.runs + (runs - 1), in ? host_to_device : device_to_host);
      if (code != code_ok) return code;
    }
  }
  leave_plan_as_it_is();
  return code_ok;
}

template <arch::Arch A, class Device>
void Transfers<A, Device>::leave_plan_as_it_is() noexcept {
  if (!plan_.is_on()) return;
  const RoundPlan::Step* const in = plan_.in().first;
  const RoundPlan::Step* const out = plan_.out().first;
  const RoundPlan::Step* const in_end = plan_.is_at_inputs() ? plan_.next_in() : plan_.in().end;
  const RoundPlan::Step* const out_end = plan_.is_at_outputs() ? plan_.next_out() : out;
  const bool launched = plan_.is_at_outputs();
  plan_.begin_recording();
  for (const RoundPlan::Step* s = in; s != in_end; ++s) {
    plan_.record_in(s->device, s->size, s->staged, s->begins_run);
  }
  if (in != in_end) {
    const RoundPlan::Step* const first = last_run(in, in_end);
    staging_.use_until(first->staged);
    if (launched) {
      staging_.use_until(in_end[-1].staged + step_of(in_end[-1].size));
    } else {
      in_ = run_of(first, in_end, room_in());
    }
  }
  if (launched) {
    plan_.record_launch();
    if (out != out_end) {
      const RoundPlan::Step* const first = last_run(out, out_end);
      for (const RoundPlan::Step* s = out; s != first; ++s) staging_.expect(s->host, s->staged, s->size);
      staging_.use_until(first->staged);
      out_ = run_of(first, out_end, room_out());
      for (const RoundPlan::Step* s = first; s != out_end; ++s) staging_.expect(s->host, s->staged, s->size);
    }
    for (const RoundPlan::Step* s = out; s != out_end; ++s) {
      plan_.record_out(s->device, s->size, s->staged, s->begins_run);
    }
  }
  plan_.disarm();
}

template <arch::Arch A, class Device>
Status Transfers<A, Device>::copy_in_unplanned(DevicePtr<std::byte> to, const void* from, std::uint64_t size) noexcept {
  if (size == 0) return {};
  device_.note_contents();
  if (const Code code = leave_plan(); code != code_ok) [[unlikely]]
    return refused(code);
  if (std::byte* const staged = extend_run(in_, to.address(), size); staged != nullptr) {
    plan_.record_in(to.address(), size, staged, false);
    __builtin_memcpy(staged, from, size);
    return {};
  }
  if (const Code code = begin(); code != code_ok) [[unlikely]]
    return refused(code);
  const bool direct = staging_.has_pinned() && size >= least_direct && staging_.is_pinned(from, size);
  std::byte* const staged = direct ? nullptr : open(in_, to.address(), size);
  if (staged == nullptr) [[unlikely]] {
    plan_.invalidate();
    return noted(direct ? copy_direct(pointer(to), from, size, host_to_device) : copy_in_staged(to, from, size));
  }
  plan_.record_in(to.address(), size, staged, true);
  __builtin_memcpy(staged, from, size);
  return {};
}

template <arch::Arch A, class Device>
Status Transfers<A, Device>::copy_out_unplanned(void* to, DevicePtr<const std::byte> from,
                                                std::uint64_t size) noexcept {
  if (size == 0) return {};
  if (const Code code = leave_plan(); code != code_ok) [[unlikely]]
    return refused(code);
  if (std::byte* const staged = extend_run(out_, from.address(), size); staged != nullptr) {
    plan_.record_out(from.address(), size, staged, false);
    staging_.expect(to, staged, size);
    return {};
  }
  if (const Code code = begin(); code != code_ok) [[unlikely]]
    return refused(code);
  const bool direct = staging_.has_pinned() && size >= least_direct && staging_.is_pinned(to, size);
  std::byte* const staged = direct ? nullptr : open(out_, from.address(), size);
  if (staged == nullptr) [[unlikely]] {
    plan_.invalidate();
    return noted(direct ? copy_direct(to, pointer(from), size, device_to_host) : copy_out_staged(to, from, size));
  }
  plan_.record_out(from.address(), size, staged, true);
  staging_.expect(to, staged, size);
  return {};
}

/// Called after a wait in the middle of a round: its next copies are not those at the start of a plan.
template <arch::Arch A, class Device>
void Transfers<A, Device>::leave_plan_for_now() noexcept {
  plan_.disarm();
  plan_.invalidate();
}

template <arch::Arch A, class Device>
Code Transfers<A, Device>::copy_in_in_parts(DevicePtr<std::byte> to, const std::byte* from,
                                            std::uint64_t size) noexcept {
  Code code = make_room();
  while (code == code_ok && size != 0) {
    leave_plan_for_now();
    const std::uint64_t part = size < staging_.capacity() ? size : staging_.capacity();
    std::byte* const staged = staging_.take(part);
    __builtin_memcpy(staged, from, part);
    device_.work_begins();
    code = copy(pointer(to), staged, part, host_to_device);
    to = to.offset(Bytes{part});
    from += part;
    size -= part;
    if (code == code_ok && size != 0) code = finish();
  }
  return code;
}

template <arch::Arch A, class Device>
Code Transfers<A, Device>::copy_out_in_parts(std::byte* to, DevicePtr<const std::byte> from,
                                             std::uint64_t size) noexcept {
  Code code = make_room();
  while (code == code_ok && size != 0) {
    leave_plan_for_now();
    const std::uint64_t part = size < staging_.capacity() ? size : staging_.capacity();
    std::byte* const staged = staging_.take(part);
    staging_.expect(to, staged, part);
    device_.work_begins();
    code = copy(staged, pointer(from), part, device_to_host);
    to += part;
    from = from.offset(Bytes{part});
    size -= part;
    if (code == code_ok && size != 0) code = finish();
  }
  return code;
}

}  // namespace rondo::platform::streams
