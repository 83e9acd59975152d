// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/concepts.hpp>
#include <rondo/error.hpp>
#include <rondo/graph/frozen_graph.hpp>
#include <rondo/memory/arena.hpp>
#include <rondo/memory/layout.hpp>
#include <rondo/session/bindings.hpp>
#include <rondo/session/policies.hpp>
#include <rondo/session/port_rules.hpp>
#include <rondo/session/ports.hpp>
#include <rondo/session/prebound.hpp>
#include <rondo/session/round.hpp>
#include <rondo/slice.hpp>
#include <rondo/tensor/pair.hpp>
#include <rondo/update/refresher.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace rondo {

namespace memory {
struct Report;
}

/// A graph, opened on a platform, that runs round after round: everything that outlives a round.
///
///     auto session = rondo::open<rondo::A2A3Sim>(std::move(graph));
///     for (;;) if (Status status = session.run_round(bind(x, hx), bind(y, hy)); !status) return report(status);
///
/// Lifetime: immovable, its buffers have stable addresses; open() returns it by guaranteed elision. Destroying it in
/// the middle of a round waits for the device. Thread safety: one thread at a time; different sessions are independent.
/// Errors: set-up throws Error. Rounds return Status: a failed one left everything usable, or poisoned the session, and
/// then every later call but close() says so. Cost on the hot path: no allocation, no lock, no system call, no clock;
/// per round the copies of what is bound, the launch, and a few instructions for each binding (fewest when they come in
/// the order in which the graph declared the tensors).
template <Platform P, class Policies = DefaultPolicies, class Graph = FrozenGraph>
class RoundSession {
  using Device = typename detail::DeviceOf<typename Policies::Runtime, P>::type;
  using Runner = typename Policies::Runtime::template Runner<P, Graph>;
  using Update = typename Policies::Update;
  using Refresher = update::Refresher<P, Update, typename Policies::Refresh>;
  using Layout = memory::Layout<Graph, typename P::Arch, typename Policies::Plan, detail::concurrency<P, Graph>>;
  static_assert(check_update_strategy<Update>());
  static_assert(std::is_same_v<P, CheckedPlatform<P, Policies>>, "rondo: open() sees to Policies::Check; call it");
  static_assert(Policies::rounds_in_flight == 1, "rondo: for rounds in flight include <rondo/session/in_flight.hpp>");

 public:
  /// What it runs on.
  using Platform = P;
  /// The platform's, with the runtime's where that has some.
  using Options = typename Device::Options;

  /// Opens the device, places all tensors in one arena, writes the args table, loads the kernels. Prefer open(); the
  /// constructor's body is in session/open.hpp, so that who only runs rounds need not read it.
  /// @throws Error limit_exceeded, unsupported, overflow, out_of_memory, and what the platform throws
  explicit RoundSession(Graph graph, const Options& options = {});
  RoundSession(const RoundSession&) = delete;
  RoundSession& operator=(const RoundSession&) = delete;

  ~RoundSession() {
    if (const Status status = close(); !status && status.code() != Errc::poisoned) {
      Policies::report_unclosed(status, explain(status).c_str());
    }
  }

  // --- rounds

  /// One round: checks the bindings, copies inputs in, runs the graph, copies outputs out, waits. Every input, output
  /// and inout of the graph is bound exactly once.
  /// Errors: wrong_tensor, wrong_size, null_memory, unbound_tensor, bound_twice: nothing was copied or run;
  /// misaligned, overlapping, fixed_address, alias_broken: likewise; uninitialized_read: a resident tensor waits for
  /// its first upload; busy, closed, poisoned; kernel_failed, device_failed: poisons.
  ///
  /// Pairs of device memory: the tensor's address changes for this round, nothing is copied, and the args table is
  /// refreshed as Policies::Update says. A round that binds only host memory pays nothing for the possibility.
  template <BoundPair... B>
  [[gnu::always_inline]] Status run_round(const B&... pairs) noexcept;

  /// The same with bindings that were checked before. Errors: besides those of running, the prebinding's own, or
  /// wrong_tensor if it was made by another session.
  template <std::size_t In, std::size_t Out, std::size_t Pairs, std::size_t HostInputs>
  [[gnu::always_inline]] Status run_round(const Prebound<In, Out, Pairs, HostInputs>& binding) noexcept;

  /// Runs `rounds` rounds with one prebinding, keeping the platform's threads awake from each to the next. Before each
  /// round calls `before_round(RoundIndex)` on the calling thread: the place to refill inputs and read outputs. Stops
  /// at the first round that fails, and returns its status.
  template <std::size_t In, std::size_t Out, std::size_t Pairs, std::size_t HostInputs, class Hook>
  Status run_rounds(std::uint64_t rounds, const Prebound<In, Out, Pairs, HostInputs>& binding,
                    Hook&& before_round) noexcept;

  /// Ends the round under way, or else the next, with `stopped`, and so poisons the session. The only call that any
  /// thread may make, also while another runs a round.
  void request_stop() noexcept requires requires(P& p) { p.request_stop(); }
  { platform_.request_stop(); }

  /// Checks and resolves bindings once, for many rounds.
  template <BoundPair... B>
  [[nodiscard]] auto prebind(const B&... pairs) noexcept;

  /// The first step of a round taken step by step; see Round. Inputs are copied (or on their way) when it returns.
  template <BoundPair... B>
  [[nodiscard]] auto begin_round(const B&... pairs) noexcept;

  /// The same for a session whose rounds are asynchronous: inputs may still be on their way when it returns, so the
  /// pairs are of memory that allows it (see AsyncPair, session/pinned.hpp). Errors: also mixed_modes, as have all
  /// other ways to run a round from then on.
  template <BoundPair... B>
  [[nodiscard]] auto begin_async_round(const B&... pairs) noexcept;

  // --- addresses that change between rounds

  /// From the next round on the input stays as the last round left it: its binding is not looked at, not compared and
  /// not copied. For weights. Errors: wrong_tensor; unbound_tensor before the first round, and until
  /// the next one when one failed or was dropped or the arena moved; shared_memory if others use its place in the arena
  /// within a round (see TaskGraph::keep); busy, closed, poisoned.
  template <Element T>
  Status freeze(Input<T> tensor) noexcept {
    return set_frozen(tensor.key, true);
  }
  /// The contrary. Errors: wrong_tensor; busy, closed, poisoned.
  template <Element T>
  Status thaw(Input<T> tensor) noexcept {
    return set_frozen(tensor.key, false);
  }

  /// From the next round on everything that the session placed stands in `memory`, at least arena_bytes() of it, which
  /// outlives the session or its next move. Nothing is carried over: residents wait for their upload as at the start,
  /// and prebindings made before are refused, inputs frozen in the arena are thawed. Errors: wrong_size, misaligned,
  /// null_memory; fixed_address if a task is pinned; busy, closed, poisoned. Its body is in session/open.hpp.
  Status move_arena(DeviceSpan<std::byte> memory) noexcept;

  /// Changes the n-th scalar argument of a task, counted from 0 in the order of its arguments; the next round writes
  /// the whole args table. `value` has the parameter's own type. Errors: invalid_argument if there is no such task or
  /// scalar; busy, closed, poisoned.
  template <class Scalar>
  requires(std::is_arithmetic_v<Scalar> || std::is_enum_v<Scalar>) Status
      set_scalar(TaskId task, std::size_t n, Scalar value)
  noexcept {
    static_assert(Update::highest == UpdateLevel::init,
                  "rondo: the session's update strategy never rewrites constants; choose update::Auto or InitOnce");
    return set_scalar_bits(task, n, detail::to_word(value));
  }

  // --- resident tensors

  /// Copies host memory into a resident tensor, or a resident tensor to the host, and waits. `host`: as in bind().
  /// Errors: wrong_tensor, wrong_size, null_memory; busy, closed, poisoned.
  template <Element T, class Host>
  Status upload(Resident<T> tensor, const Host& host) noexcept;
  /// As upload(), from the device to the host.
  template <Element T, class Host>
  Status download(Resident<T> tensor, Host&& host) noexcept;

  /// The resident holds what another session over the same memory put there: no upload of it is waited for.
  void adopt(TensorId resident) noexcept {
    residents_[index(resident)] = false;
    note_uploads();
  }

  /// Sets self-resetting workspaces to zero again, for who ran something else over their memory; see TaskGraph::zero.
  Status reset_workspace() noexcept;

  /// The device side of a tensor that stays there. @throws Error wrong_tensor
  template <Element T, Direction D>
  requires(!is_bound_each_round(D)) [[nodiscard]] DevicePair<T, D> pair(TensorHandle<T, D> tensor) const {
    if (state_ == State::closed) throw Error(Errc::closed, Error::Text(describe(Errc::closed)));
    if (!owns(tensor.key)) throw Error(Errc::wrong_tensor, Error::Text(describe(Errc::wrong_tensor)));
    return {tensor, device(tensor.key).template as<T>(), record(tensor.key).count};
  }

  // --- state

  /// Rounds finished so far, failed ones not counted.
  [[nodiscard]] std::uint64_t rounds() const noexcept { return rounds_; }
  /// Did a round fail in a way that leaves nothing to rely on? Then only close() works.
  [[nodiscard]] bool poisoned() const noexcept { return state_ == State::poisoned; }
  /// Bytes of device memory that the tensors take.
  [[nodiscard]] Bytes arena_bytes() const noexcept { return arena_.size(); }
  /// Where every tensor lies and with whom it shares, bytes by kind of memory, lower bound. Include
  /// session/memory_report.hpp. Cost: set-up's; allocates. @throws std::bad_alloc
  [[nodiscard]] memory::Report memory_report() const;
  /// What it runs; as long as the session lives.
  [[nodiscard]] const Graph& graph() const noexcept { return graph_; }
  /// What it runs on, for what only the platform can tell.
  [[nodiscard]] P& platform() noexcept { return platform_; }
  /// What Policies::Observe names, default-constructed.
  [[nodiscard]] auto& observer() noexcept { return observe_; }
  /// Where the host sets scalars; see launch/round_values.hpp.
  [[nodiscard]] auto& values() noexcept requires(Policies::Values::any) { return values_.store(); }
  /// The session's args table, for who wants to look.
  [[nodiscard]] const args::ArgsTable& args() const noexcept { return refresher_.table(); }
  /// What the last refresh of the args table did; rounds that bind only host memory make none.
  [[nodiscard]] update::Refreshed refreshed() const noexcept { return refresher_.refreshed(); }

  /// A sentence for a status of this session, naming the tensor or task.
  [[nodiscard]] Error::Text explain(Status status) const noexcept;

  /// Waits for the device and releases everything; later rounds return `closed`. Works on a poisoned session too: what
  /// poisoned it was told by the round that failed, so only a failure to release is told here. Calling it again does
  /// nothing.
  Status close() noexcept;

 private:
  /// `ready` means that a round of host memory is copies and a launch, nothing else: no base was moved, nothing is
  /// frozen, no alias is to be checked. `moved`: it would have to bring bases back to the arena first, or what came
  /// before is still to be refreshed. Whatever needs more makes the state `general`. So rounds find out with the one
  /// compare that they make anyway.
  enum class State : std::uint8_t { ready, moved, general, awaiting_uploads, in_round, poisoned, closed };
  friend class detail::RoundLink<RoundSession>;
  template <class, std::size_t, std::size_t, Stage>
  friend class Round;
  template <class>
  friend class DynamicBindings;

  static Graph checked(Graph graph);
  static Refresher make_refresher(P& platform, const graph::GraphView& graph, Slice<const std::uint64_t> offsets,
                                  DevicePtr<std::byte> arena);

  // What an observer hears beside begin and end, if it wants to.
  [[gnu::always_inline]] void enter([[maybe_unused]] Phase phase) noexcept {
    if constexpr (requires { observe_.enters(phase); }) observe_.enters(phase);
  }
  [[gnu::always_inline]] void enter_round() noexcept {
    observe_.round_begins(RoundIndex{rounds_});
    enter(Phase::copy_in);
  }
  [[gnu::always_inline]] Status move_in(DevicePtr<std::byte> to, const void* from, Bytes size,
                                        [[maybe_unused]] bool snapshot = false) noexcept {
    if constexpr (requires { observe_.copies_in(size); }) observe_.copies_in(size);
    if constexpr (HasSnapshotCopy<P>) {
      if (snapshot) return platform_.copy_in_snapshot(to, from, size);
    }
    return platform_.copy_in(to, from, size);
  }
  [[gnu::always_inline]] Status move_out(void* to, DevicePtr<const std::byte> from, Bytes size) noexcept {
    if constexpr (requires { observe_.copies_out(size); }) observe_.copies_out(size);
    return platform_.copy_out(to, from, size);
  }
  [[gnu::always_inline]] Status wait() noexcept {
    enter(Phase::wait);
    return platform_.wait();
  }

  // The steps of a round, in order. They are inlined whatever their size, so that bindings stay in registers and a
  // graph that the compiler knows leaves only its kernels.
  template <std::size_t... I, BoundPair... B>
  [[gnu::always_inline]] Status run_in_order(std::index_sequence<I...>, const B&... pairs) noexcept;
  template <BoundPair B>
  [[gnu::always_inline]] Status copy_pair_in(const detail::Port& port, const B& pair) noexcept {
    if constexpr (detail::is_copied_in<B>) {
      return move_in(port.device, pair.data(), Bytes{port.bytes});
    } else {
      return {};
    }
  }
  template <BoundPair B>
  [[gnu::always_inline]] Status copy_pair_out(const detail::Port& port, const B& pair) noexcept {
    if constexpr (detail::is_copied_out<B>) {
      return move_out(pair.data(), port.device, Bytes{port.bytes});
    } else {
      return {};
    }
  }
  template <std::size_t In, std::size_t Out, std::size_t... I>
  [[gnu::always_inline]] Status copy_in(const detail::Copies<In, Out>& copies, std::index_sequence<I...>) noexcept {
    Status status;
    (void)((status = move_in(copies.in[I].device, copies.in[I].host, copies.in[I].bytes), status.ok()) && ...);
    return status;
  }
  /// The same in any state: what is frozen, or is there already, is left out; a copy of nothing is never issued.
  Status copy_in_what_moves(Slice<const detail::Copy> copies) noexcept;
  Status copy_out_what_moves(Slice<const detail::Copy> copies) noexcept;
  [[gnu::always_inline]] Status launch() noexcept {
    enter(Phase::launch);
    return runner_.launch();
  }
  /// Brings the args table up to date and launches.
  [[gnu::always_inline]] Status refresh_and_launch() noexcept {
    if constexpr (requires { observe_.refresh_begins(); }) observe_.refresh_begins();
    const Status status = refresher_.refresh();
    notify_refreshed();
    refresh_due_ = !status.ok();
    if (!status) [[unlikely]]
      return status;
    return launch();
  }
  /// The same, the former only if this round or what came before it calls for it.
  Status refresh_if_due_and_launch() noexcept { return refresh_due_ ? refresh_and_launch() : launch(); }
  void notify_refreshed() noexcept {
    if constexpr (requires { observe_.refreshed(refresher_.refreshed()); }) observe_.refreshed(refresher_.refreshed());
  }
  template <std::size_t In, std::size_t Out, std::size_t... I>
  [[gnu::always_inline]] Status copy_out(const detail::Copies<In, Out>& copies, std::index_sequence<I...>) noexcept {
    Status status;
    enter(Phase::copy_out);
    (void)((status = move_out(copies.out[I].host, copies.out[I].device, copies.out[I].bytes), status.ok()) && ...);
    return status;
  }
  /// What every round ends with: a failure is looked at, a success counted.
  Status settle(Status status) noexcept {
    observe_.round_ends(RoundIndex{rounds_}, status);
    if (!status) [[unlikely]]
      return note_failure(status);
    ++rounds_;
    return {};
  }
  template <bool Refreshes, std::size_t In, std::size_t Out>
  [[gnu::always_inline]] Status run_copies(const detail::Copies<In, Out>& copies) noexcept {
    enter_round();
    Status status = copy_in(copies, std::make_index_sequence<In>{});
    if (status.ok()) status = Refreshes ? refresh_and_launch() : launch();
    if (status.ok()) status = copy_out(copies, std::make_index_sequence<Out>{});
    if (status.ok()) status = wait();
    return settle(status);
  }

  /// Rounds that bind host memory alone, and no host input, need no refresh unless something happened in between.
  template <BoundPair... B>
  static constexpr bool is_plain = !detail::any_update<B...> && update::is_idle_while_unbound<Update>;
  template <BoundPair... B>
  static consteval void check_strategy() {
    static_assert(((detail::level_of<B> <= Update::highest || !DeviceBoundPair<B>)&&...),
                  "rondo: the session's update strategy never changes the address of an input or output, so no device "
                  "memory can be bound; choose update::ModelIo or update::Auto");
    static_assert(((detail::level_of<B> <= Update::highest || DeviceBoundPair<B>)&&...),
                  "rondo: the session's update strategy never refreshes host inputs; choose update::HostInput or "
                  "update::Auto");
  }

  /// Checks bindings and puts them into the order of the ports.
  Status sort(Slice<detail::Binding> bindings) noexcept {
    if (detail::is_sorted(ports_.view(), bindings)) return {};
    const detail::BindingFault fault = detail::sort_bindings(ports_.view(), bindings);
    bytes_bound_ = fault.bytes_bound;
    return fault.status;
  }

  // Addresses: for bindings that stand in the order of the ports and whose number the compiler knows, so that a port
  // that stays costs a compare with memory at a constant place.
  /// May a round take this path? Else its bindings go that of any bindings, below.
  [[nodiscard]] bool may_place() const noexcept { return state_ <= State::moved && rules_.are_free(); }
  /// Checks what moved and tells the refresher of it; takes host inputs. After a failure nothing has changed.
  template <std::size_t... I, BoundPair... B>
  [[gnu::always_inline]] Status place(std::index_sequence<I...>, const B&... pairs) noexcept;
  /// The same for what was checked before.
  template <std::size_t... I, class Prebinding>
  [[gnu::always_inline]] void place_prebound(std::index_sequence<I...>, const Prebinding& binding) noexcept;
  /// Where a port's tensor is in this round. What lies in the args table stays there.
  template <std::size_t I, BoundPair B>
  [[gnu::always_inline]] std::uint64_t place_of(const detail::Port& port, const B& pair) const noexcept {
    if constexpr (rides_in_args(detail::HandleOf<B>::direction)) return refresher_.io(I);
    return DeviceBoundPair<B> ? detail::device_of(pair) : port.device.address();
  }
  template <BoundPair B>
  [[gnu::always_inline]] void take_host_input(const detail::Port& port, const B& pair) noexcept {
    if constexpr (rides_in_args(detail::HandleOf<B>::direction)) take_bytes(port, pair.data());
  }
  [[gnu::always_inline]] void take_bytes(const detail::Port& port, const void* data) noexcept {
    std::byte* const to = refresher_.host_input(index(port.key.tensor()));
    for (std::uint64_t i = 0; i < port.bytes; ++i) to[i] = static_cast<const std::byte*>(data)[i];
  }
  void note_moved() noexcept {
    is_moved_ = true;
    state_ = State::moved;
    tell_addresses();
  }
  void take_addresses(Slice<detail::Binding> bindings) noexcept;
  /// Views are where what they show is in this round.
  void place_views() noexcept;
  [[nodiscard]] auto standing() const noexcept {
    using View = decltype(ports_.view());
    return detail::Standing<Graph, View, Refresher>{graph_, ports_.view(), refresher_, frozen_.slice()};
  }
  [[nodiscard]] DevicePtr<const std::byte> source_of(std::size_t port) const noexcept {
    return DevicePtr<const std::byte>{refresher_.io(port)};
  }
  /// For runtimes that keep no args table: where each tensor is in this round.
  void tell_addresses() noexcept;
  Status prepare(Slice<detail::Binding> bindings, bool async = false) noexcept;
  template <bool Async, BoundPair... B>
  [[nodiscard]] auto begin(const B&... pairs) noexcept;
  template <BoundPair... B>
  [[gnu::noinline, gnu::cold]] Status run_in_any_order(B... pairs) noexcept;
  [[gnu::noinline]] Status run_in_general(Slice<detail::Binding> bindings) noexcept;
  [[gnu::noinline, gnu::cold]] Status run_prebound_in_general(Slice<const detail::Copy> in,
                                                              Slice<const detail::Copy> out) noexcept;
  [[gnu::noinline]] Status run_prebound_in_general(Slice<const detail::Binding> kept) noexcept;

  /// What a session returns to between rounds.
  [[nodiscard]] State calm() const noexcept {
    if constexpr (Policies::Values::any) return State::general;
    if (rules_.has_aliases() || is_async_ || frozen_count_ != 0) return State::general;
    return is_moved_ || refresh_due_ ? State::moved : State::ready;
  }
  [[nodiscard]] bool is_calm() const noexcept { return state_ <= State::general; }

  // Round's side.
  Status launch_open_round() noexcept {
    const Status status = refresh_if_due_and_launch();
    if constexpr (requires { runner_.start_beside(); }) {
      if (status.ok()) runner_.start_beside();
    }
    enter(Phase::outside);
    return status;
  }
  template <std::size_t In, std::size_t Out>
  Status finish_open_round(Status status, const detail::Copies<In, Out>& copies) noexcept {
    leave_round();
    if (status.ok()) status = copy_out_what_moves({copies.out, Out});
    if (const Status waited = wait(); status.ok()) status = waited;
    return settle(status);
  }
  /// `so_far`: of the steps that the round has taken.
  void abandon_round(Status so_far) noexcept {
    rounds_when_lost_ = rounds_;
    leave_round();
    if (const Status waited = wait(); so_far.ok()) so_far = waited;
    observe_.round_ends(RoundIndex{rounds_}, so_far.ok() ? Status{Errc::abandoned} : so_far);
    if (!so_far) (void)note_failure(so_far);
  }
  void leave_round() noexcept {
    open_round_ = nullptr;
    state_ = calm();
  }

  [[gnu::cold]] Status note_failure(Status status) noexcept {
    rounds_when_lost_ = rounds_;
    if (!status.poisoned()) {
      (void)platform_.wait();  // nothing of the round is left under way
      return status;
    }
    state_ = State::poisoned;
    cause_ = status;
    if constexpr (requires { &Policies::log; }) log_poisoned(*this, status);
    return status;
  }
  [[gnu::noinline, gnu::cold]] Status refusal() const noexcept;
  void find_first_reads();
  void open_values();
  void await_uploads() noexcept;
  void note_uploads() noexcept {
    for (const bool waits : residents_) {
      if (waits) return;
    }
    if (state_ == State::awaiting_uploads) state_ = calm();
  }
  Status set_frozen(TensorKey key, bool frozen) noexcept;
  Status set_scalar_bits(TaskId task, std::size_t n, ArgWord bits) noexcept;
  template <class Host, Element T>
  Status move_resident(Resident<T> tensor, Host* host, std::uint64_t count, bool to_device) noexcept;

  [[nodiscard]] bool owns(TensorKey key) const noexcept {
    return key.graph() == graph_.view().tag && index(key.tensor()) < graph_.view().tensors.size();
  }
  [[nodiscard]] const graph::TensorRecord& record(TensorKey key) const noexcept {
    return graph_.view().tensors[index(key.tensor())];
  }
  [[nodiscard]] DevicePtr<std::byte> device(TensorKey key) const noexcept {
    return arena_base_.offset(Bytes{layout_.offsets()[index(key.tensor())]});
  }

  // The order matters: what comes later uses what comes before and dies first.
  [[no_unique_address]] Graph graph_;
  [[no_unique_address]] Layout layout_;
  [[no_unique_address]] Device platform_;
  memory::Arena<P, memory::Holds::tensors> arena_;
  DevicePtr<std::byte> arena_base_;  ///< where the tensors are: in the arena, until it is moved
  detail::Ports<Graph, Layout> ports_;
  Refresher refresher_;
  Runner runner_;
  [[no_unique_address]] typename Policies::Observe observe_;
  [[no_unique_address]] typename Policies::Values values_;

  State state_ = State::ready;
  bool is_moved_ = false;     ///< a base may stand elsewhere than in the arena
  bool refresh_due_ = false;  ///< the next launch refreshes first
  bool is_async_ = false;     ///< rounds are asynchronous; once one was, all are
  std::size_t frozen_count_ = 0;
  std::uint64_t rounds_ = 0;
  std::uint64_t rounds_when_lost_ = 0;  ///< what the last one left in the inputs: by a failure, or the arena's move
  std::uint64_t number_ = detail::next_session_number();
  detail::RoundLink<RoundSession>* open_round_ = nullptr;
  detail::OwnedArray<bool> residents_;    ///< by tensor: waits for its first upload
  detail::OwnedArray<bool> first_reads_;  ///< by tensor: a resident that is read before any task writes it
  detail::OwnedArray<bool> frozen_;       ///< by port
  detail::PortRules<typename P::Arch> rules_;
  std::uint64_t bytes_bound_ = 0;  ///< of the last wrong_size
  Status cause_;                   ///< what poisoned the session
};

}  // namespace rondo

#include <rondo/session/round_session_impl.hpp>  // IWYU pragma: export
