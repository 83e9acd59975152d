// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>
#include <rondo/platform/onboard/staging.hpp>

#include <cstddef>
#include <cstdint>

namespace rondo::platform::onboard {

/// Copies between host and device, in order on the session's stream. Small tensors that lie behind each other travel as
/// one: a call of the runtime's costs microseconds, whatever its size.
///
/// Such a run is gathered in staging, with the gaps that the tensors have on the device, and handed over by flush().
/// What stands between a tensor's last byte and the next multiple of 64 behind its block (see arch::block_bytes) is
/// nobody's, by the chip's rule for sub-allocations; a run writes it.
///
/// Lifetime: the device outlives it. Thread safety: none. Errors: a refused call leaves nothing in flight.
/// Cost on the hot path: no allocation; some 20 instructions and a memcpy for a tensor that continues a run.
template <arch::Arch A>
class Transfers {
 public:
  /// What a run holds at most: beyond it, handing over while the next tensor is gathered is worth a call.
  static constexpr std::uint64_t longest_run = std::uint64_t{1} << 18;

  explicit Transfers(Device& device) : device_{device}, staging_{device} {}

  [[nodiscard]] Staging& staging() noexcept { return staging_; }

  [[gnu::always_inline]] Status copy_in(DevicePtr<std::byte> to, const void* from, std::uint64_t size) noexcept {
    const std::uintptr_t at = in_.at;
    const std::uintptr_t next = at + step_of(size);
    if (to.address() != in_.device_of(at) || next > in_.limit) [[unlikely]]
      return copy_in_anew(to, from, size);
    in_.at = next;
    in_.last = size;
    __builtin_memcpy(bytes(at), from, size);
    return {};
  }
  [[gnu::always_inline]] Status copy_out(void* to, DevicePtr<const std::byte> from, std::uint64_t size) noexcept {
    const std::uintptr_t at = out_.at;
    const std::uintptr_t next = at + step_of(size);
    if (from.address() != out_.device_of(at) || next > out_.limit) [[unlikely]]
      return copy_out_anew(to, from, size);
    out_.at = next;
    out_.last = size;
    staging_.expect(to, bytes(at), size);
    return {};
  }

  /// Takes the bytes before it returns. The runtime does so itself for what is small, as the args table is.
  Status copy_in_snapshot(DevicePtr<std::byte> to, const void* from, std::uint64_t size) noexcept {
    if (!takes_snapshots_ || size > most_snapshot) return told(copy_in_staged(to, from, size));
    if (const AclError code = begin(); code != code_ok) [[unlikely]]
      return refused(code);
    call_ = copy_call;
    const AclError code =
        device_.calls().copy_async(pointer(to), size, from, size, host_to_buffer_to_device, device_.stream());
    if (code == code_ok) [[likely]]
      return {};
    if (errc_of(code) != Errc::unsupported) return refused(code);
    takes_snapshots_ = false;
    return told(copy_in_staged(to, from, size));
  }

  /// Waits for all of it; outputs are where they belong then. Nothing to wait for costs no call.
  Status wait() noexcept { return told(finish()); }

  /// To be called before anything else is asked of the device: hands over what was gathered, makes the device the
  /// calling thread's, and notes that there is something to wait for.
  [[nodiscard, gnu::always_inline]] AclError begin() noexcept {
    if (device_.stream() == nullptr) [[unlikely]]
      return code_not_open;
    device_.work_begins();
    if (const AclError code = enter(); code != code_ok) [[unlikely]]
      return code;
    if (in_.at != 0) return flush_in();
    return out_.at == 0 ? code_ok : flush_rarely();
  }

  /// A call failed, `call` or the last of ours: what was asked of the device before is waited for, outputs are not
  /// delivered.
  [[gnu::cold, gnu::noinline]] Status refused(AclError code, const char* call = nullptr) noexcept {
    in_ = {};  // what was gathered goes nowhere
    out_ = {};
    staging_.forget_outputs();
    const Status status = device_.failed(call == nullptr ? call_ : call, code);
    if (!device_.is_busy()) staging_.reset();
    return status;
  }

 private:
  /// What is handed to the runtime to snapshot at most; more goes through our own staging.
  static constexpr std::uint64_t most_snapshot = std::uint64_t{1} << 20;
  /// Pinned memory of at least this much travels directly; less is cheaper in a run.
  static constexpr std::uint64_t least_direct = 4096;
  static constexpr std::uint64_t first_staging = 65536;
  static constexpr std::uint64_t least_step = 64;  ///< what a tensor takes of a run at least
  static constexpr const char* copy_call = "aclrtMemcpyAsync";

  /// Zero everywhere: there is no run, and no device address continues it. Addresses are numbers here, since what would
  /// come next is computed before it is known whether there is a run.
  struct Run {
    std::uintptr_t at = 0;       ///< in staging: where the next tensor of the run would be
    std::uint64_t distance = 0;  ///< from there to its place on the device
    std::uintptr_t limit = 0;
    std::uint64_t last = 0;  ///< bytes of the last tensor
    std::uintptr_t begin = 0;

    [[nodiscard]] std::uint64_t device_of(std::uintptr_t staged) const noexcept { return staged + distance; }
  };
  [[nodiscard]] static std::byte* bytes(std::uintptr_t staged) noexcept {
    return reinterpret_cast<std::byte*>(staged);  // NOLINT: from a pointer into staging
  }

  [[nodiscard]] static constexpr std::uint64_t step_of(std::uint64_t size) noexcept {
    return align_up(arch::block_bytes<A>(size), 64);
  }
  template <class T>
  [[nodiscard]] static T* pointer(DevicePtr<T> p) noexcept {
    return reinterpret_cast<T*>(p.address());  // NOLINT: an address for the runtime; the host never follows it
  }

  [[nodiscard]] Status told(AclError code) noexcept {
    if (code == code_ok) [[likely]]
      return {};
    return refused(code);
  }

  // --- from here on in the runtime's codes; `call_` is the call that a code other than 0 came from
  // --------------------------

  [[nodiscard]] AclError copy(void* to, const void* from, std::uint64_t size, CopyKind kind) noexcept {
    const AclError code = device_.calls().copy_async(to, size, from, size, kind, device_.stream());
    if (code != code_ok) [[unlikely]]
      call_ = copy_call;
    return code;
  }
  [[nodiscard]] AclError finish() noexcept {
    if (!device_.is_busy()) return code_ok;
    if (const AclError code = enter(); code != code_ok) [[unlikely]]
      return code;
    if (in_.at != 0 || out_.at != 0) {
      if (const AclError code = out_.at != 0 ? flush_out() : flush_rarely(); code != code_ok) [[unlikely]]
        return code;
    }
    const AclError code = device_.wait();
    if (code != code_ok) [[unlikely]] {
      call_ = "aclrtSynchronizeStreamWithTimeout";
    } else if (!device_.is_busy()) {
      staging_.deliver();
    }
    return code;
  }

  // Inputs are handed over by the launch behind them, outputs by the wait; anything else happens rarely.
  [[nodiscard, gnu::always_inline]] AclError flush_in() noexcept {
    const DevicePtr<std::byte> device{in_.device_of(in_.begin)};
    return copy(pointer(device), bytes(in_.begin), close(in_), host_to_device);
  }
  [[nodiscard, gnu::always_inline]] AclError flush_out() noexcept {
    const DevicePtr<const std::byte> device{out_.device_of(out_.begin)};
    return copy(bytes(out_.begin), pointer(device), close(out_), device_to_host);
  }
  [[gnu::noinline]] AclError flush_rarely() noexcept { return in_.at != 0 ? flush_in() : flush_out(); }
  /// As begin(), where nothing is likely to have been gathered.
  [[nodiscard, gnu::always_inline]] AclError begin_run() noexcept {
    if (device_.stream() == nullptr) [[unlikely]]
      return code_not_open;
    device_.work_begins();
    if (const AclError code = enter(); code != code_ok) [[unlikely]]
      return code;
    return in_.at == 0 && out_.at == 0 ? code_ok : flush_rarely();
  }
  /// @returns the bytes from its first tensor's first to its last tensor's last
  [[nodiscard, gnu::always_inline]] std::uint64_t close(Run& run) noexcept {
    const std::uintptr_t end = run.at - step_of(run.last) + run.last;
    staging_.use_until(bytes(run.at));
    run.at = 0;
    run.distance = 0;
    return end - run.begin;
  }
  /// Begins a run with a tensor, in what staging has left; null: the tensor does not fit into one.
  [[nodiscard, gnu::always_inline]] std::byte* open(Run& run, std::uint64_t device, std::uint64_t size) noexcept {
    const auto begin = reinterpret_cast<std::uintptr_t>(staging_.next());
    std::uint64_t room = staging_.room() < longest_run ? staging_.room() : longest_run;
    if (&run == &out_ && room > least_step * staging_.outputs_left()) room = least_step * staging_.outputs_left();
    const std::uint64_t step = step_of(size);
    if (step > room) return nullptr;
    run = {begin + step, device - begin, begin + room, size, begin};
    return bytes(begin);
  }
  [[nodiscard, gnu::always_inline]] AclError enter() noexcept {
    const AclError code = device_.enter();
    if (code != code_ok) [[unlikely]]
      call_ = "aclrtSetDevice";
    return code;
  }

  [[gnu::noinline]] Status copy_in_anew(DevicePtr<std::byte> to, const void* from, std::uint64_t size) noexcept {
    if (const AclError code = begin_run(); code != code_ok) [[unlikely]]
      return refused(code);
    const bool direct = staging_.has_pinned() && size >= least_direct && staging_.is_pinned(from, size);
    std::byte* const staged = direct ? nullptr : open(in_, to.address(), size);
    if (staged == nullptr) [[unlikely]]
      return told(direct ? copy_direct(pointer(to), from, size, host_to_device) : copy_in_staged(to, from, size));
    __builtin_memcpy(staged, from, size);
    return {};
  }
  [[gnu::noinline]] Status copy_out_anew(void* to, DevicePtr<const std::byte> from, std::uint64_t size) noexcept {
    if (const AclError code = begin_run(); code != code_ok) [[unlikely]]
      return refused(code);
    const bool direct = staging_.has_pinned() && size >= least_direct && staging_.is_pinned(to, size);
    std::byte* const staged = direct ? nullptr : open(out_, from.address(), size);
    if (staged == nullptr) [[unlikely]]
      return told(direct ? copy_direct(to, pointer(from), size, device_to_host) : copy_out_staged(to, from, size));
    staging_.expect(to, staged, size);
    return {};
  }
  [[gnu::noinline]] AclError copy_direct(void* to, const void* from, std::uint64_t size, CopyKind kind) noexcept {
    const AclError code = begin();
    return code == code_ok ? copy(to, from, size, kind) : code;
  }
  [[gnu::noinline]] AclError copy_in_staged(DevicePtr<std::byte> to, const void* from, std::uint64_t size) noexcept {
    if (const AclError code = begin(); code != code_ok) return code;
    std::byte* const staged = staging_.take(size);
    if (staged == nullptr) return copy_in_in_parts(to, static_cast<const std::byte*>(from), size);
    __builtin_memcpy(staged, from, size);
    return copy(pointer(to), staged, size, host_to_device);
  }
  [[gnu::noinline]] AclError copy_out_staged(void* to, DevicePtr<const std::byte> from, std::uint64_t size) noexcept {
    if (const AclError code = begin(); code != code_ok) return code;
    std::byte* const staged = staging_.outputs_left() != 0 ? staging_.take(size) : nullptr;
    if (staged == nullptr) return copy_out_in_parts(static_cast<std::byte*>(to), from, size);
    staging_.expect(to, staged, size);
    return copy(staged, pointer(from), size, device_to_host);
  }

  /// More than the staging has room for: wait until it is free, then part by part.
  [[gnu::cold, gnu::noinline]] AclError copy_in_in_parts(DevicePtr<std::byte> to, const std::byte* from,
                                                         std::uint64_t size) noexcept {
    AclError code = make_room();
    while (code == code_ok && size != 0) {
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
  [[gnu::cold, gnu::noinline]] AclError copy_out_in_parts(std::byte* to, DevicePtr<const std::byte> from,
                                                          std::uint64_t size) noexcept {
    AclError code = make_room();
    while (code == code_ok && size != 0) {
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
  [[nodiscard]] AclError make_room() noexcept {
    if (const AclError code = finish(); code != code_ok) return code;
    if (staging_.capacity() != 0) return code_ok;
    call_ = "aclrtMallocHost";
    return staging_.resize(first_staging, 16);  // before any program is loaded
  }

  Run in_;
  Run out_;  ///< at most one of the two is open
  Device& device_;
  Staging staging_;
  const char* call_ = "";
  bool takes_snapshots_ = true;
};

}  // namespace rondo::platform::onboard
