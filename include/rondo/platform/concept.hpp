// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/arch/arch.hpp>
#include <rondo/args/refresh_op.hpp>
#include <rondo/error.hpp>
#include <rondo/memory/concurrency.hpp>
#include <rondo/memory/space.hpp>
#include <rondo/platform/capability.hpp>
#include <rondo/types.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

/// The requirements and capabilities of a platform. Each concept is one part, so the compiler names the part that
/// fails; for each failing part, `check_platform<P>()` of platform/check_platform.hpp states what to write. A session
/// uses nothing else of a platform.
namespace rondo {

class FrozenGraph;

// --- Required -------------------------------------------------------------------------------------------------------

/// The chip whose limits apply to the platform, as a type: `using Arch = arch::A2A3;`
template <class P>
concept HasArch = arch::Arch<typename P::Arch>;

/// A readable name: `static constexpr const char* name = "a2a3_sim";`
template <class P>
concept HasName = std::convertible_to<decltype(P::name), const char*>;

/// Opening: a default-constructible `Options`, and `explicit P(const Options&)`, which throws Error on failure.
template <class P>
concept HasOptions =
    std::default_initializable<typename P::Options> && std::constructible_from<P, const typename P::Options&>;

/// Options with a member `std::optional<args::RefreshCosts> refresh_costs`, which replace what the platform measures.
template <class Options>
concept TakesRefreshCosts = requires(Options& options, const args::RefreshCosts& costs) {
  options.refresh_costs = costs;
  static_cast<bool>(options.refresh_costs);
};

/// Device memory, at set-up only: `allocate` throws Error when no memory is left; `release` never throws.
template <class P>
concept HasMemory = requires(P& p, Bytes size, DevicePtr<std::byte> block) {
  { p.allocate(size, size) } -> std::same_as<DevicePtr<std::byte>>;
  { p.release(block) } noexcept -> std::same_as<Status>;
};

/// Copies between host and device, in order with each other and with launches; calls may return before the copies end.
template <class P>
concept HasCopy = requires(P& p, DevicePtr<std::byte> device, const void* from, void* to, Bytes size) {
  { p.copy_in(device, from, size) } noexcept -> std::same_as<Status>;
  { p.copy_out(to, DevicePtr<const std::byte>{device}, size) } noexcept -> std::same_as<Status>;
};

/// Waiting for all work given to the platform: `Status wait() noexcept`.
template <class P>
concept HasWait = requires(P& p) {
  { p.wait() } noexcept -> std::same_as<Status>;
};

/// Running a graph. `load(graph, args)` turns a frozen graph and its args table into a program, once, and throws Error;
/// `launch(program)` starts one pass over the program; `unload(program)` waits for it and frees what it holds. The
/// runtime checks this concept, since only a session knows the graph.
template <class P, class Graph, class Args>
concept HasLaunch = requires(P& p, const Graph& graph, Args& args, decltype(p.load(graph, args))& program) {
  { p.launch(program) } noexcept -> std::same_as<Status>;
  { p.unload(program) } noexcept -> std::same_as<Status>;
};

/// A device and its memory: HasArch, HasName, HasOptions, HasMemory, HasCopy and HasWait; for a graph also HasLaunch.
///
/// `static constexpr memory::Concurrency concurrency` says in which order its tasks may run; by default, in parallel.
///
/// The concepts cannot check these rules:
/// 1. copy_in, launch and copy_out take effect in the order of the calls, but may be incomplete until wait() returns.
/// 2. The host memory of a copy belongs to the platform until wait() has returned.
/// 3. After a status that is poisoned(), only calls that wait, release or report come: wait(), unload(), release(),
/// close(), failure_text(), remarks(), the destructor, and is_done(), await(), deliver(), cancel(), close() of a queue.
/// 4. None of the calls of a round allocates, locks, logs, reads a clock or throws.
/// 5. One platform object serves one session; one thread at a time uses it, but request_stop() may come from any.
template <class P>
concept Platform = HasArch<P> && HasName<P> && HasOptions<P> && HasMemory<P> && HasCopy<P> && HasWait<P>;

// --- Optional -------------------------------------------------------------------------------------------------------

namespace detail {

template <class P>
using QueueOf = decltype(std::declval<P&>().open_queue(std::size_t{}, std::size_t{}, Bytes{}));
template <class P>
using CallersStreamOf = std::remove_reference_t<decltype(std::declval<P&>().callers_stream())>;

}  // namespace detail

/// Releases what the platform itself holds and reports the outcome: `Status close() noexcept`. A session calls it last;
/// if it was not called, the destructor does the same.
template <class P>
concept HasClose = detail::declares<P, Capability::close> && requires(P& p) {
  { p.close() } noexcept -> std::same_as<Status>;
};

/// Runs rounds while the caller prepares the next ones. `open_queue(slots, outputs, bytes)`, which throws Error,
/// returns a queue that runs rounds in order. Each round is assembled in a slot, and occupies the slot until it is
/// delivered. A round makes at most `outputs` copies out, and copies at most `bytes` in each direction. One thread at a
/// time calls the queue. `void reserve(Bytes)`, which may throw Error, raises that limit while all slots are free.
/// Every other call is noexcept:
///
/// * `Status copy_in(slot, device, const void*, Bytes)` has read the bytes when it returns;
/// * `Status launch(slot, program)` runs after the slot's copies and after all launches before it; the program is the
/// result of load() or of a runtime's runner (see QueueLaunches);
/// * `Status copy_out(slot, void*, device, Bytes)` requests an output; deliver() writes the host memory;
/// * `Status commit(slot)` starts the round, which has a launch;
/// * `bool is_done(slot)` returns whether the round is over; `void await(slot)` waits until it is;
/// * `Status deliver(slot)` returns the outcome of a round that is over, copies its outputs to the host if it
/// succeeded, and frees the slot. After a round has failed, later ones fail as `poisoned`;
/// * `void cancel(slot)` drops a round of which a step before commit() failed; the slot is free when it returns;
/// * `Status close()` waits for committed rounds and releases what the queue holds; no call follows.
///
/// The outcome that deliver() returns for a round is that of the round's own tasks on the device, whatever the stream
/// that copies the outputs reports.
template <class P>
concept HasQueue = detail::declares<P, Capability::queue> &&
                   requires(detail::QueueOf<P>& queue, std::uint32_t slot, DevicePtr<std::byte> device,
                            const void* from, void* to, Bytes size) {
                     { queue.reserve(size) } -> std::same_as<void>;
                     { queue.copy_in(slot, device, from, size) } noexcept -> std::same_as<Status>;
                     {
                       queue.copy_out(slot, to, DevicePtr<const std::byte>{device}, size)
                     } noexcept -> std::same_as<Status>;
                     { queue.commit(slot) } noexcept -> std::same_as<Status>;
                     { queue.is_done(slot) } noexcept -> std::same_as<bool>;
                     { queue.await(slot) } noexcept -> std::same_as<void>;
                     { queue.deliver(slot) } noexcept -> std::same_as<Status>;
                     { queue.cancel(slot) } noexcept -> std::same_as<void>;
                     { queue.close() } noexcept -> std::same_as<Status>;
                   };

/// A queue can launch a Program.
template <class Queue, class Program>
concept QueueLaunches = requires(Queue& queue, std::uint32_t slot, Program& program) {
  { queue.launch(slot, program) } noexcept -> std::same_as<Status>;
};

/// Tasks of a round in flight may start while earlier rounds still run, as soon as their inputs are ready. `bool
/// overlaps_rounds() const noexcept` returns whether this platform object does so. A session that gives each slot its
/// own workspace then calls `void overlap_rounds()` of the queue, once. Memory that all rounds share (see
/// TensorRecord::is_shared_by_rounds) is still used in the order of the launches. The platform does not know which
/// rounds use the same device memory of the caller, so before the launch of a round that binds such memory the session
/// calls `void run_alone(slot) noexcept` of the queue, and that round overlaps with no other.
template <class P>
concept HasOverlappingRounds = detail::declares<P, Capability::overlapping_rounds> && requires(const P& p) {
  { p.overlaps_rounds() } noexcept -> std::same_as<bool>;
};

/// The part of HasOverlappingRounds that the queue provides.
template <class Queue>
concept QueueOverlaps = requires(Queue& queue, std::uint32_t slot) {
  { queue.overlap_rounds() } -> std::same_as<void>;
  { queue.run_alone(slot) } noexcept -> std::same_as<void>;
};

/// Copies that have read the bytes in host memory when they return: `Status copy_in_snapshot(device, const void*,
/// Bytes) noexcept`.
template <class P>
concept HasSnapshotCopy = detail::declares<P, Capability::snapshot_copy> &&
                          requires(P& p, DevicePtr<std::byte> device, const void* from, Bytes size) {
                            { p.copy_in_snapshot(device, from, size) } noexcept -> std::same_as<Status>;
                          };

/// Copies within device memory, in order with other copies and with launches: `Status copy_on_device(const DeviceCopy&)
/// noexcept` may return before the copy ends. For rounds in flight, the queue copies (see QueueCopiesOnDevice).
template <class P>
concept HasDeviceCopy = detail::declares<P, Capability::device_copy> && requires(P& p, const DeviceCopy& copy) {
  { p.copy_on_device(copy) } noexcept -> std::same_as<Status>;
};

/// The part of HasDeviceCopy that a queue provides: `Status copy_on_device(slot, const DeviceCopy&) noexcept` comes
/// among the slot's copies in or out. It reads what earlier rounds have written, and later rounds read what it writes.
template <class Queue>
concept QueueCopiesOnDevice = requires(Queue& queue, std::uint32_t slot, const DeviceCopy& copy) {
  { queue.copy_on_device(slot, copy) } noexcept -> std::same_as<Status>;
};

/// Host memory that the device accesses directly: `void* allocate_pinned(Bytes)`, which throws Error, and `void
/// release_pinned(void*) noexcept`.
template <class P>
concept HasPinnedMemory = detail::declares<P, Capability::pinned_memory> && requires(P& p, Bytes size, void* memory) {
  { p.allocate_pinned(size) } -> std::same_as<void*>;
  { p.release_pinned(memory) } noexcept -> std::same_as<void>;
};

/// Memory of the kinds in `static constexpr MemoryKinds memory_kinds`, which `release` takes back:
/// `DevicePtr<std::byte> allocate(MemoryKind, Bytes size, Bytes alignment)`, which throws Error. `void*
/// host_address(DevicePtr<std::byte>) const noexcept` returns the address at which the host accesses a block of
/// mapped_host.
template <class P>
concept HasMemoryKinds = detail::declares<P, Capability::memory_kinds> && requires(P& p, DevicePtr<std::byte> at) {
  { P::memory_kinds } -> std::convertible_to<MemoryKinds>;
  { p.allocate(MemoryKind{}, Bytes{}, Bytes{}) } -> std::same_as<DevicePtr<std::byte>>;
  { std::as_const(p).host_address(at) } noexcept -> std::same_as<void*>;
};

/// Sets device memory to zero without a copy, in order with copies: `Status fill_zeros(device, Bytes) noexcept`.
template <class P>
concept HasZeroFill = detail::declares<P, Capability::zero_fill> && requires(P& p, DevicePtr<std::byte> device) {
  { p.fill_zeros(device, Bytes{}) } noexcept -> std::same_as<Status>;
};

/// The report of an open platform about refreshing args; part of both capabilities below. `bool can_refresh_args()
/// const noexcept` returns whether the device can compute args. `const args::RefreshCosts* refresh_costs() const
/// noexcept` returns the measured costs of refreshing, or null if they were not measured.
template <class P>
concept AnswersForRefresh = requires(const P& p) {
  { p.can_refresh_args() } noexcept -> std::same_as<bool>;
  { p.refresh_costs() } noexcept -> std::same_as<const args::RefreshCosts*>;
};

/// The device computes args from addresses by itself, in order with copies and launches: `Status refresh_args(const
/// args::RefreshOp&) noexcept`. If it has a queue, the queue does so for a round in flight: `Status refresh_args(slot,
/// const args::RefreshOp&) noexcept` is called after the slot's copies in and before its launch (see QueueRefreshes).
template <class P>
concept HasDeviceRefresh = detail::declares<P, Capability::device_refresh> && AnswersForRefresh<P> &&
                           requires(P& p, const args::RefreshOp& op) {
                             { p.refresh_args(op) } noexcept -> std::same_as<Status>;
                           };

/// The part of HasDeviceRefresh that a queue provides.
template <class Queue>
concept QueueRefreshes = requires(Queue& queue, std::uint32_t slot, const args::RefreshOp& op) {
  { queue.refresh_args(slot, op) } noexcept -> std::same_as<Status>;
};

/// A launch carries up to `static constexpr std::uint32_t max_launch_bytes` of addresses: `Status
/// refresh_in_launch(const args::RefreshOp&, const args::LaunchPayload&) noexcept` reads the memory that the payload
/// points to before it returns, and the next launch that succeeds uses the refreshed args.
template <class P>
concept HasLaunchRefresh = detail::declares<P, Capability::launch_refresh> && AnswersForRefresh<P> &&
                           requires(P& p, const args::RefreshOp& op, const args::LaunchPayload& payload) {
                             { P::max_launch_bytes } -> std::convertible_to<std::uint32_t>;
                             { p.refresh_in_launch(op, payload) } noexcept -> std::same_as<Status>;
                           };

/// Kernels read their args in host memory, so no part of the args table is copied. The capability has no member.
template <class P>
concept HasArgsInHostMemory = detail::declares<P, Capability::args_in_host_memory>;

/// Programs run the loops of their graph, GraphView::loops; on other platforms sessions refuse graphs with loops.
template <class P>
concept HasLoops = detail::declares<P, Capability::loops>;
/// On a platform with `const char* why_host_decides_loops() const noexcept`, the host may read the conditions of loops
/// in the middle of a round; on others the device does. The result is a clause for messages, or empty if the device
/// decides about the loops of the loaded graphs.
template <class P>
concept HostMayDecideLoops = HasLoops<P> && requires(const P& p) {
  { p.why_host_decides_loops() } noexcept -> std::convertible_to<const char*>;
};

/// Loaded programs contain addresses in the arena and can be updated when the session moves the arena between rounds:
/// `void move_arena(program, from, to) noexcept`. The runtime, which knows the program, checks it with MovesArena.
template <class P>
concept HasArenaMove = detail::declares<P, Capability::arena_move>;

/// P can move the arena of a Program.
template <class P, class Program>
concept MovesArena = requires(P& p, Program& program, DevicePtr<std::byte> arena) {
  { p.move_arena(program, arena, arena) } noexcept -> std::same_as<void>;
};

/// Keeps the platform's threads from sleeping between rounds: `void keep_awake(bool) noexcept`.
template <class P>
concept HasStayingAwake = detail::declares<P, Capability::staying_awake> && requires(P& p) {
  { p.keep_awake(true) } noexcept -> std::same_as<void>;
};

/// Ends the current round, or otherwise the next, with `stopped`; from any thread: `void request_stop() noexcept`. A
/// platform that cannot interrupt its device ends the first round that reaches a decision of a loop.
template <class P>
concept HasStopping = detail::declares<P, Capability::stopping> && requires(P& p) {
  { p.request_stop() } noexcept -> std::same_as<void>;
};

/// A text about the last failure: `const Error::Text& failure_text() const noexcept`.
template <class P>
concept HasFailureText = detail::declares<P, Capability::failure_text> && requires(const P& p) {
  { p.failure_text() } noexcept -> std::convertible_to<const Error::Text&>;
};

/// Remarks for the session's log: `template <class Sink> void remarks(Moment, Sink&& sink) const noexcept` calls
/// `sink(const char*)` once for each remark.
template <class P>
concept HasRemarks =
    detail::declares<P, Capability::remarks> && requires(const P& p, void (&sink)(const char*) noexcept) {
      { p.remarks(Moment::opening, sink) } noexcept -> std::same_as<void>;
    };

/// Reports how long the tasks of the last round ran, by the device's clock or by an engine's prediction: `double
/// last_round_ns() const noexcept`; 0 before the first round. A platform that would have to spend time on it in each
/// round does not declare this capability, and its member type `Timed` names the platform that does.
template <class P>
concept HasRoundTime = detail::declares<P, Capability::round_time> && requires(const P& p) {
  { p.last_round_ns() } noexcept -> std::same_as<double>;
};

/// A platform whose `concurrency` is in_lanes deals tasks to lanes before memory is planned: `static FrozenGraph
/// deal(FrozenGraph, const Options&)`, which throws Error. A static graph is not dealt.
template <class P>
concept HasLanes = requires { requires P::concurrency == memory::Concurrency::in_lanes; };
template <class P>
concept Deals = requires(FrozenGraph&& graph, const typename P::Options& options) {
  { P::deal(static_cast<FrozenGraph&&>(graph), options) } -> std::same_as<FrozenGraph>;
};

/// Lists the memory that the platform holds: `template <class Sink> void holdings(Sink&& sink) const` calls
/// `sink(const char* what, Bytes, MemoryKind)` for each purpose. A `what` of null stands for all blocks of that kind
/// that allocate() has given out, in the sizes asked for. Not noexcept, since the sink may throw std::bad_alloc.
template <class P>
concept HasHoldings =
    detail::declares<P, Capability::holdings> && requires(const P& p, void (&sink)(const char*, Bytes, MemoryKind)) {
      requires std::same_as<decltype(p.holdings(sink)), void> && !noexcept(p.holdings(sink));
    };

/// Gives observers access to the engine that runs its tasks: `Engine& engine() noexcept`.
template <class P>
concept HasEngine = detail::declares<P, Capability::engine> && requires(P& p) {
  { &p.engine() } noexcept;
};

/// Builds the graph of a round during the round: `template <class Runtime, class Graph> using Orchestration` is a
/// runtime::Runner that is constructed from `(P&, const Graph&, const runtime::OrchestrationOptions&)` or, for a
/// further slot, from `(Orchestration& first, const Graph&)`; both throw Error.
template <class P>
concept HasOrchestration =
    detail::declares<P, Capability::orchestration> && requires { typename P::template Orchestration<void, void>; };

/// Programs learn while rounds run, and what they learned can be kept in a file: the platform has the part below.
template <class P>
concept HasLearning = detail::declares<P, Capability::learning>;

/// The part of HasLearning that needs the program, and that the runtime therefore checks. Both calls come between
/// rounds. `std::vector<std::byte> learned(const Program&)` returns what the program learned, or nothing. `void
/// restore(Program&, std::span<const std::byte>)`, which throws Error, gives it to a program of the same graph.
template <class P, class Program>
concept KeepsLearning = requires(P& p, Program& program, const Program& known) {
  { p.restore(program, p.learned(known)) } -> std::same_as<void>;
};

/// The platform's queue also launches orchestrated rounds.
template <class P>
concept HasQueuedOrchestration =
    detail::declares<P, Capability::queued_orchestration> && HasQueue<P> && HasOrchestration<P>;

/// Puts rounds on a stream that somebody else owns, see RoundSession::enqueue_round(): `Stream& callers_stream()
/// noexcept` of the platform. Each function of the stream is noexcept, and returns a Status unless stated otherwise:
///
/// * `begin()` comes first; after it, `bool is_recording() const` returns whether the owner captures the stream;
/// * `copy_in(device, const void*, Bytes, bool snapshot)`, `copy_on_device(const DeviceCopy&)`, `launch(program)`
/// and `copy_out(void*, device, Bytes)` put a step on the stream and do not wait; memory is pinned or a snapshot;
/// * `end()` comes last, and puts an event on the stream, which `event() const` returns; `void abandon()` comes in its
/// place if a step failed, so that wait() waits for the steps before it;
/// * `copy_before_replays(device, const void*, Bytes)` copies data of recorded tasks before it returns;
/// * `note_recorded(tensor, memory)` notes that a recorded round copies this memory; `bool is_recorded(tensor,
/// memory) const` and `bool has_recorded() const` return whether one does;
/// * `wait()` returns when the rounds on the stream are over; `may_close()` returns ok, or why the session cannot be
/// closed while the owner captures the stream.
template <class P>
concept HasCallersStream =
    detail::declares<P, Capability::callers_stream> &&
    requires(P& p, detail::CallersStreamOf<P>& stream, const DeviceCopy& copy, const void* from, void* to) {
      { p.callers_stream() } noexcept;
      { stream.begin() } noexcept -> std::same_as<Status>;
      { stream.is_recording() } noexcept -> std::same_as<bool>;
      { stream.copy_in(copy.to, from, copy.size, true) } noexcept -> std::same_as<Status>;
      { stream.copy_on_device(copy) } noexcept -> std::same_as<Status>;
      { stream.copy_out(to, copy.from, copy.size) } noexcept -> std::same_as<Status>;
      { stream.end() } noexcept -> std::same_as<Status>;
      { stream.abandon() } noexcept -> std::same_as<void>;
      { stream.event() } noexcept -> std::same_as<void*>;
      { stream.copy_before_replays(copy.to, from, copy.size) } noexcept -> std::same_as<Status>;
      { stream.note_recorded(std::uint32_t{}, from) } noexcept -> std::same_as<Status>;
      { stream.is_recorded(std::uint32_t{}, from) } noexcept -> std::same_as<bool>;
      { stream.has_recorded() } noexcept -> std::same_as<bool>;
      { stream.wait() } noexcept -> std::same_as<Status>;
      { stream.may_close() } noexcept -> std::same_as<Status>;
    };

/// Records each allocation and release, of pinned memory, too, in memory::Registry::instance(), so that sessions can
/// check whether memory is usable: `memory::Space memory_space() const noexcept` returns the space of its addresses.
template <class P>
concept HasMemoryRegistry = detail::declares<P, Capability::memory_registry> && requires(const P& p) {
  { p.memory_space() } noexcept -> std::same_as<memory::Space>;
};

}  // namespace rondo
