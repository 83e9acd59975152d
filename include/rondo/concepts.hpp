// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/arch/arch.hpp>
#include <rondo/error.hpp>
#include <rondo/tensor/handle.hpp>
#include <rondo/types.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>

/// The three concepts that a session is made of. Each is a conjunction of named parts, so that the compiler names the
/// part that fails; `check_…<T>()` says in a sentence what to write for it.
namespace rondo {

// --- Platform
// ---------------------------------------------------------------------------------------------------------

/// The chip whose facts the platform obeys, as a type: `using Arch = arch::A2A3;`
template <class P>
concept HasArch = arch::Arch<typename P::Arch>;

/// A name for people: `static constexpr const char* name = "a2a3_sim";`
template <class P>
concept HasName = requires {
  { P::name } -> std::convertible_to<const char*>;
};

/// How it is opened: a default-constructible `Options`, and `explicit P(const Options&)`, which throws Error on
/// failure.
template <class P>
concept HasOptions =
    std::default_initializable<typename P::Options> && std::constructible_from<P, const typename P::Options&>;

/// Device memory, at set-up only: `allocate` throws Error when there is none left; `release` never throws.
template <class P>
concept HasMemory = requires(P& p, Bytes size, DevicePtr<std::byte> block) {
  { p.allocate(size, size) } -> std::same_as<DevicePtr<std::byte>>;
  { p.release(block) }
  noexcept->std::same_as<Status>;
};

/// Copies between host and device, in order with each other and with launches; they may return before they are done.
template <class P>
concept HasCopy = requires(P& p, DevicePtr<std::byte> device, const void* from, void* to, Bytes size) {
  { p.copy_in(device, from, size) }
  noexcept->std::same_as<Status>;
  { p.copy_out(to, DevicePtr<const std::byte>{device}, size) }
  noexcept->std::same_as<Status>;
};

/// Waiting until all that was asked of the platform is done: `Status wait() noexcept`.
template <class P>
concept HasWait = requires(P& p) {
  { p.wait() }
  noexcept->std::same_as<Status>;
};

/// Optional: giving back what the platform itself holds, with a chance to tell how that went. A session's close() calls
/// it last; the destructor does the same where nobody called: `Status close() noexcept`.
template <class P>
concept HasClose = requires(P& p) {
  { p.close() }
  noexcept->std::same_as<Status>;
};

/// Running a graph: `load(graph, args)` turns a frozen graph and its args table into a program, once, throwing Error;
/// `launch(program)` starts one pass over it; `unload(program)` waits for it and frees what it holds.
template <class P, class Graph, class Args>
concept HasLaunch = requires(P& p, const Graph& graph, Args& args, decltype(p.load(graph, args))& program) {
  { p.launch(program) }
  noexcept->std::same_as<Status>;
  { p.unload(program) }
  noexcept->std::same_as<Status>;
};

/// Optional: rounds that run beside the calling thread, several at a time. `open_queue(slots, outputs, bytes)` gives
/// what takes rounds in and works them off in order; each is put together in a slot, and has the slot until it is
/// delivered. `outputs` is how many copies out a round makes at most. Thread safety: one thread at a time, but for the
/// queue's own.
///
/// * `Status copy_in(slot, device, const void*, Bytes)` has taken the bytes when it returns;
/// * `Status launch(slot, program)` comes behind the slot's copies and behind all launches before it;
/// * `Status copy_out(slot, void*, device, Bytes)` is a promise: deliver() writes the host memory;
/// * `Status commit(slot)` sends the round on its way; without a launch it waits and delivers;
/// * `bool is_done(slot)` and `void await(slot)`: is the round over, and wait for that;
/// * `Status deliver(slot)` tells, of a round that is done, how it went, copies outputs to where they belong if it went
///   well, and frees the slot. Once a round failed, those behind it fail as `poisoned`;
/// * `void cancel(slot)`: a step before commit() failed; the slot is free when it returns;
/// * `Status close()` gives back what the queue holds; no call comes behind it.
template <class P>
concept HasQueue = requires(P& p, std::size_t n, std::uint32_t slot, DevicePtr<std::byte> device, const void* from,
                            void* to, Bytes size) {
  { p.open_queue(n, n, size).copy_in(slot, device, from, size) } -> std::same_as<Status>;
  { p.open_queue(n, n, size).copy_out(slot, to, DevicePtr<const std::byte>{device}, size) } -> std::same_as<Status>;
  { p.open_queue(n, n, size).commit(slot) } -> std::same_as<Status>;
  { p.open_queue(n, n, size).is_done(slot) } -> std::same_as<bool>;
  { p.open_queue(n, n, size).await(slot) } -> std::same_as<void>;
  { p.open_queue(n, n, size).deliver(slot) } -> std::same_as<Status>;
  { p.open_queue(n, n, size).cancel(slot) } -> std::same_as<void>;
  { p.open_queue(n, n, size).close() } -> std::same_as<Status>;
};

/// Where a graph's memory lives and its tasks run. Requires the six parts above (HasLaunch is checked by the session,
/// which knows the graph).
///
/// What the concept cannot check but the rules demand:
/// 1. copy_in, launch and copy_out take effect in the order of the calls; nothing is promised before wait().
/// 2. The host memory of a copy belongs to the platform until wait() has returned.
/// 3. A status that `poisons` means that no further call will be made but wait(), unload(), release() and the
///    destructor; they still release everything.
/// 4. None of copy_in, copy_out, launch and wait allocates, locks, logs, reads a clock or throws.
/// 5. One platform object serves one session; it is used by one thread at a time.
template <class P>
concept Platform = HasArch<P> && HasName<P> && HasOptions<P> && HasMemory<P> && HasCopy<P> && HasWait<P>;

/// Explains, part by part, what P lacks to be a Platform. Use: `static_assert(rondo::check_platform<MyPlatform>());`
template <class P>
consteval bool check_platform() {
  static_assert(HasArch<P>, "rondo: the platform names no chip; write `using Arch = rondo::arch::A2A3;` (or A5)");
  static_assert(HasName<P>, "rondo: the platform has no name; write `static constexpr const char* name = \"...\";`");
  static_assert(
      HasOptions<P>,
      "rondo: the platform cannot be opened; write `struct Options {...};` and `explicit P(const Options&);`");
  static_assert(HasMemory<P>,
                "rondo: the platform has no device memory; write `DevicePtr<std::byte> allocate(Bytes size, Bytes "
                "alignment);` and `Status release(DevicePtr<std::byte>) noexcept;`");
  static_assert(HasCopy<P>,
                "rondo: the platform cannot copy; write `Status copy_in(DevicePtr<std::byte>, const void*, Bytes) "
                "noexcept;` and `Status copy_out(void*, DevicePtr<const std::byte>, Bytes) noexcept;`");
  static_assert(HasWait<P>, "rondo: the platform cannot be waited for; write `Status wait() noexcept;`");
  return Platform<P>;
}

// --- TensorPair
// -------------------------------------------------------------------------------------------------------

/// Which tensor of the graph it stands for: `TensorHandle<T, D> handle() const;` This fixes element type and direction.
template <class T>
concept HasHandle = requires(const T& pair) {
  requires detail::is_tensor_handle<std::remove_cvref_t<decltype(pair.handle())>>;
};

namespace detail {
template <HasHandle T>
using HandleOf = std::remove_cvref_t<decltype(std::declval<const T&>().handle())>;
/// What the host memory of a tensor of this direction must at least allow.
template <class H>
using HostElement =
    std::conditional_t<copies_out(H::direction), typename H::element_type, const typename H::element_type>;
}  // namespace detail

/// The host side: `T* data() const` (`const T*` suffices for an input) and `std::size_t size() const`, in elements.
template <class T>
concept HasHostMemory = HasHandle<T> && requires(const T& pair) {
  { pair.data() } -> std::convertible_to<detail::HostElement<detail::HandleOf<T>>*>;
  { pair.size() } -> std::convertible_to<std::size_t>;
};

/// The device side: `DevicePtr<T> device() const`.
template <class T>
concept HasDeviceMemory = HasHandle<T> && requires(const T& pair) {
  { pair.device() } -> std::convertible_to<DevicePtr<const typename detail::HandleOf<T>::element_type>>;
};

/// A host tensor and its device twin, with a direction. Tensors that move each round (in, out, inout) show their host
/// memory, the session knowing the device side, or device memory that takes the place of the session's; tensors that
/// stay (resident, workspace) show their device memory.
///
/// What the concept cannot check but the rules demand: data() points to size() elements that stay alive and are not
/// touched by anybody else until the round is finished.
template <class T>
concept TensorPair = HasHandle<T> &&
    (is_bound_each_round(detail::HandleOf<T>::direction)
         ? HasHostMemory<T> || (HasDeviceMemory<T> && is_model_io(detail::HandleOf<T>::direction))
         : HasDeviceMemory<T>);

/// A pair that a round binds: one whose tensor moves each round.
template <class T>
concept BoundPair = TensorPair<T> && is_bound_each_round(detail::HandleOf<T>::direction);

/// A bound pair that brings device memory: nothing is copied, the tensor's address changes instead.
template <class T>
concept DeviceBoundPair = BoundPair<T> && !HasHostMemory<T>;

/// A pair whose memory a copy may still be at when the call has returned: device memory, pinned host memory, or host
/// memory that the platform snapshots first. Such a pair says so: `static constexpr bool is_pinned = true;` or
/// `static constexpr bool is_snapshot = true;`
template <class T>
concept AsyncPair = BoundPair<T> &&(
    DeviceBoundPair<T> || rides_in_args(detail::HandleOf<T>::direction) || requires { requires T::is_pinned; } ||
    requires { requires T::is_snapshot; });

/// Copies that have taken the host memory's bytes when they return: `Status copy_in_snapshot(device, const void*,
/// Bytes) noexcept`.
template <class P>
concept HasSnapshotCopy = requires(P& p, DevicePtr<std::byte> device, const void* from, Bytes size) {
  { p.copy_in_snapshot(device, from, size) }
  noexcept->std::same_as<Status>;
};

/// Explains, part by part, what T lacks to be a TensorPair.
template <class T>
consteval bool check_tensor_pair() {
  static_assert(
      HasHandle<T>,
      "rondo: the pair does not say which tensor it is; write `rondo::TensorHandle<T, D> handle() const;` and "
      "return the handle that the graph gave out");
  if constexpr (HasHandle<T>) {
    if constexpr (is_bound_each_round(detail::HandleOf<T>::direction)) {
      static_assert(HasHostMemory<T> || HasDeviceMemory<T>,
                    "rondo: the pair shows no host memory of its element type; write `T* data() const;` (`const T*` "
                    "for an input) and `std::size_t size() const;`");
    } else {
      static_assert(HasDeviceMemory<T>,
                    "rondo: the pair shows no device memory; write `rondo::DevicePtr<T> device() const;`");
    }
  }
  return TensorPair<T>;
}

// --- UpdateStrategy
// ---------------------------------------------------------------------------------------------------

/// How much of the args table a round must refresh; each level includes those before it.
enum class UpdateLevel : std::uint8_t {
  none,                      ///< nothing changed
  host_input,                ///< bytes of host inputs that ride in the table
  model_io,                  ///< the address of an input or output
  feature_map_and_model_io,  ///< the address of an arena
  init,                      ///< everything: the first round, or a constant changed
};
/// How many levels UpdateLevel has.
inline constexpr std::size_t update_level_count = 5;

/// As the code spells it.
[[nodiscard]] constexpr const char* to_string(UpdateLevel level) noexcept {
  constexpr const char* names[update_level_count] = {"NoUpdate", "HostInput", "ModelIo", "FeatureMapAndModelIo",
                                                     "InitOnce"};
  return names[static_cast<std::size_t>(level)];
}

/// What a strategy decides from: the addresses that slots of the args table are relative to, now and when the table was
/// last refreshed. Bases that stand in neither range never change.
struct BaseTable {
  /// Numbers of bases, [begin, end).
  struct Range {
    /// The first base of the stretch.
    std::uint32_t begin = 0;
    /// The one behind its last.
    std::uint32_t end = 0;
  };
  /// Where each base is in the round that begins: device addresses by number of the base.
  const std::uint64_t* active = nullptr;
  /// Where each was when the args table was last refreshed.
  const std::uint64_t* last = nullptr;
  Range feature_map;         ///< the arenas that the session placed
  Range model_io;            ///< what rounds bind, as far as it is not frozen
  bool host_inputs = false;  ///< this round brought bytes of host inputs
  bool constants = false;    ///< a constant of the table was changed
};

/// The highest level it ever asks for: `static constexpr UpdateLevel highest`. The session compiles nothing above it.
template <class S>
concept HasHighestLevel = requires {
  { S::highest } -> std::convertible_to<UpdateLevel>;
};

/// The decision, made once per round: `UpdateLevel decide(const BaseTable&) noexcept`.
template <class S>
concept HasDecide = requires(S& s, const BaseTable& bases) {
  { s.decide(bases) }
  noexcept->std::same_as<UpdateLevel>;
};

/// Decides what a round must refresh. Requires the two parts above, and to be default-constructible.
///
/// Three members are optional, and false where they are absent:
/// `static constexpr bool fixed = true`: whatever decide() names is rewritten as a whole, no base is compared;
/// `static constexpr bool idle_while_unbound = true`: decide() names nothing as long as rounds bind host memory only
/// and nothing was moved or set, so such rounds need not ask;
/// `static constexpr bool exact = true`: decide() names the maximum over what changed, so it need not be asked: where
/// kernels read the host's table, each slot is written as soon as its base is set.
///
/// What the concept cannot check but the rules demand: decide() never answers above `highest`, and answers high enough
/// for what changed; too low leaves stale addresses in the table.
template <class S>
concept UpdateStrategy = std::default_initializable<S> && HasHighestLevel<S> && HasDecide<S>;

/// Explains, part by part, what S lacks to be an UpdateStrategy.
template <class S>
consteval bool check_update_strategy() {
  static_assert(std::default_initializable<S>, "rondo: the strategy needs a default constructor");
  static_assert(HasHighestLevel<S>,
                "rondo: the strategy names no bound; write `static constexpr rondo::UpdateLevel highest = ...;`");
  static_assert(
      HasDecide<S>,
      "rondo: the strategy does not decide; write `rondo::UpdateLevel decide(const rondo::BaseTable&) noexcept;`");
  return UpdateStrategy<S>;
}

}  // namespace rondo
