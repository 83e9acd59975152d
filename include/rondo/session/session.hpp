// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/binding/dynamic_bindings.hpp>
#include <rondo/binding/prebound.hpp>
#include <rondo/memory/arena.hpp>
#include <rondo/memory/layout.hpp>
#include <rondo/platform/saved_file.hpp>
#include <rondo/session/explain.hpp>
#include <rondo/session/instances.hpp>
#include <rondo/session/log.hpp>
#include <rondo/session/other_memory.hpp>
#include <rondo/session/policies.hpp>
#include <rondo/session/session_base.hpp>
#include <rondo/session/slot_memory.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

namespace rondo::detail {

/// The common part of RoundSession and PipelinedSession: one graph, opened on a platform, with an instance of it per
/// slot; residents, constants and addresses between rounds.
///
/// `Derived` has `finish_all()`, as for SessionBase; `rounds()`, the number of rounds that succeeded; `round_number()`
/// and `next_slot()`, the number of the next round and its slot; and `settle(Status)`, which counts a round that ended,
/// and returns its status.
template <class Derived, Platform P, class Policies, class Graph, std::size_t Slots>
class Session : public SessionBase<Derived, P, Policies> {
 protected:
  using Root = SessionBase<Derived, P, Policies>;
  friend Root;
  using typename Root::State;
  /// Whether rounds in flight may overlap, in which case each slot has its own workspace.
  static constexpr bool may_overlap = Slots > 1 && HasOverlappingRounds<P> && !is_orchestrated<Graph>;
  using PlanOfSlots = memory::PortsLast<typename Policies::Plan>;
  using Plan = std::conditional_t<Slots == 1, typename Policies::Plan,
                                  std::conditional_t<may_overlap, memory::ResidentsFirst<PlanOfSlots>, PlanOfSlots>>;
  using Layout = memory::Layout<Graph, typename P::Arch, Plan, concurrency<P, Graph>>;
  using Instances = detail::Instances<P, Policies, Graph, Layout, Slots>;
  using Instance = typename Instances::Instance;
  using Update = typename Policies::Update;

 public:
  using typename Root::Options;

  // --- rounds

  /// Checks and resolves bindings once for many rounds. Bind the result in place of the pairs. Errors: see Prebound.
  template <BoundPair... B>
  [[nodiscard]] auto prebind(const B&... pairs) noexcept {
    check_pairs<B...>();
    constexpr bool moves = !Instance::template is_plain<B...>;
    using R = Resolved<count_in<B...>, count_out<B...>, sizeof...(B), count_host_inputs<B...>, moves>;
    Prebound<R, Slots> prebound;
    prebound.status_ = state_ == State::closed ? Status{Errc::closed} : Status{};
    for (std::size_t s = 0; s < Slots && prebound.status_.ok(); ++s) {
      Binding bindings[] = {Binding{pairs}..., {}};
      prebound.status_ = instances_[s].resolve(std::span(bindings, sizeof...(B)), prebound.resolved_[s]);
    }
    if (prebound.status_.ok()) prebound.session_ = number_;
    return prebound;
  }

  // --- between rounds: all of these functions wait for the rounds in flight

  /// From the next round on the input keeps the contents of the last round, and its binding is neither checked nor
  /// copied. Use it for weights. Errors: wrong_tensor; unbound_tensor before the first round, and after a round failed,
  /// was dropped or recorded, the arena moved, or an array that the last round bound was released, until another ran;
  /// shared_memory if an output reuses it, or other tensors use its memory in the arena within a round (see
  /// TaskGraph::keep); fixed_address if rounds can be in flight and a task's arguments cannot change, and unsupported
  /// if the update strategy then never rewrites what the input needs; busy, closed, poisoned.
  template <Element T>
  Status hold(Input<T> tensor) noexcept {
    return set_held(tensor.key, true);
  }
  /// Undoes hold(): the input is copied again from the next round on. Errors: wrong_tensor; busy, closed, poisoned.
  template <Element T>
  Status release_hold(Input<T> tensor) noexcept {
    return set_held(tensor.key, false);
  }

  /// Moves everything that the session placed to `memory`: at least arena_bytes(), aligned to Arch::arena_alignment,
  /// and valid as long as the session or until the next move. Copies nothing: residents in it need an upload, existing
  /// prebindings are refused, inputs held in the arena are released. Errors: wrong_size, misaligned, null_memory,
  /// out_of_memory; fixed_address if a task's arguments cannot change or a round was recorded; stale_memory, if memory
  /// is checked, for the arena of another session; busy, closed, poisoned.
  Status move_arena(DeviceSpan<std::byte> memory) noexcept;

  /// Changes the n-th scalar argument of a task, counted from 0 in the order of its arguments; the next round writes
  /// the whole args table. `value` has the parameter's own type. Errors: invalid_argument if there is no such task or
  /// scalar; busy, closed, poisoned.
  template <class Scalar>
    requires(std::is_arithmetic_v<Scalar> || std::is_enum_v<Scalar>)
  Status set_scalar(TaskId task, std::size_t n, Scalar value) noexcept {
    static_assert(Update::highest == UpdateLevel::init,
                  "rondo: the session's update strategy never rewrites constants; choose update::Auto or InitOnce");
    return set_scalar_bits(task, n, to_word(value));
  }

  /// The device memory of a tensor that stays on the device. @throws Error wrong_tensor, closed
  template <Element T, Direction D>
    requires(!is_bound_each_round(D))
  [[nodiscard]] DevicePair<T, D> pair(TensorHandle<T, D> tensor) const {
    if (state_ == State::closed) throw Error(Errc::closed, Error::Text(describe(Errc::closed)));
    if (!owns(tensor.key)) throw Error(Errc::wrong_tensor, Error::Text(describe(Errc::wrong_tensor)));
    return {tensor, {device(tensor.key).template as<T>(), record(tensor.key).count}};
  }

  // --- state

  /// The device memory that the tensors take, in all slots together.
  [[nodiscard]] Bytes arena_bytes() const noexcept { return arena_.size(); }
  /// The location of every tensor, the tensors with which it shares memory, the bytes by kind of memory, and the lower
  /// bound. Include session/memory_report.hpp. Cost: that of set-up; allocates. @throws std::bad_alloc
  [[nodiscard]] memory::Report memory_report() const;
  /// The graph of the session; valid as long as the session.
  [[nodiscard]] const Graph& graph() const noexcept { return graph_; }
  /// The graph's tensors and tasks.
  [[nodiscard]] graph::GraphView interface() const noexcept { return graph_.view(); }
  /// The args table of the first slot, for inspection.
  [[nodiscard]] const args::ArgsTable& args() const noexcept { return instances_[0].refresher().table(); }
  /// The result of the last refresh of the args table. Rounds that bind only host memory do not refresh it.
  [[nodiscard]] update::Refreshed refreshed() const noexcept { return instances_[last_slot()].refresher().refreshed(); }
  /// Returns wrong_size unless a tensor has exactly this many bytes, and wrong_tensor if the graph has no such tensor.
  Status check_bytes(TensorId tensor, Bytes size) noexcept {
    if (index(tensor) >= graph_.view().tensors.size()) return Status{Errc::wrong_tensor};
    if (graph_.view().tensors[index(tensor)].bytes == size.value) return {};
    shared_.refusal_detail = size.value;
    return Status::of_tensor(Errc::wrong_size, index(tensor));
  }

  /// Waits for the rounds in flight, and writes a file with the locations of the tensors, the schedule that a Pool
  /// learned, and the measured costs of refreshing. A session over the same graph that is opened with `Options{.saved =
  /// path}` on the same platform, with the same policies and the same version of Rondo, neither plans nor learns again.
  /// The file is written under another name, then renamed. @throws Error invalid_argument if there can be no such file,
  /// out_of_resources if the disk is full; busy, closed, poisoned
  void save(const char* path);
  /// Whether the session's plan comes from the file that its options name.
  [[nodiscard]] bool is_restored() const noexcept { return is_restored_; }

  /// Returns a sentence for a status of this session that names the tensor or task.
  [[nodiscard]] Error::Text explain(Status status) const noexcept;

 protected:
  using Root::arena_watch_;
  using Root::derived;
  using Root::direct;
  using Root::observe_;
  using Root::platform_;
  using Root::round_observer;
  using Root::shared_;
  using Root::state_;

  Session(Graph graph, const Options& options);
  ~Session();

  [[nodiscard]] std::size_t last_slot() const noexcept { return static_cast<const Derived&>(*this).last_slot(); }
  [[gnu::always_inline]] void enter(Phase phase) noexcept { round_observer().enters(phase); }

  template <BoundPair... B>
  static consteval void check_pairs() {
    Root::template check_strategy<B...>();
    if constexpr (Graph::is_static) {
      static_assert(sizeof...(B) == count_ports(Graph::view()),
                    "rondo: a round binds each input, output and inout of its graph exactly once");
    }
  }
  /// Runs a round with these bindings: pairs, a prebinding, or DynamicBindings. `settle(status)` is called if the round
  /// began, and returns the result of the round.
  template <class Channel, class Settle, BoundPair... B>
  [[gnu::always_inline]] Status run_on(Channel channel, std::size_t slot, Settle settle, const B&... pairs) noexcept {
    check_pairs<B...>();
    enter(Phase::bind);
    return instances_[slot].run(channel, round_observer(), settle, std::index_sequence_for<B...>{}, pairs...);
  }
  template <class Channel, class Settle, class R>
  [[gnu::always_inline]] Status run_on(Channel channel, std::size_t slot, Settle settle,
                                       const Prebound<R, Slots>& binding) noexcept {
    enter(Phase::bind);
    if (binding.session_ != number_) [[unlikely]]
      return refuse(binding);
    return instances_[slot].run(channel, round_observer(), settle, binding.resolved_[Slots == 1 ? 0 : slot]);
  }
  template <class Channel, class Settle>
  Status run_on(Channel channel, std::size_t slot, Settle settle, DynamicBindings<Derived>& bindings) noexcept {
    enter(Phase::bind);
    constexpr bool may_be_plain = Instance::template is_plain<>;
    if (may_be_plain && bindings.is_plain() && instances_[slot].is_ready() && bindings.are_of(derived())) [[likely]] {
      return instances_[slot].run_plain(channel, round_observer(), settle, bindings.bound());
    }
    if (const Status status = take(bindings); !status) return status;
    Instance& its = instances_[slot];
    const auto run = [&] { return its.run(channel, round_observer(), settle, bindings.list()); };
    if (bindings.is_settled()) [[likely]]
      return run();
    return Root::template run_packed<Channel>(slot, bindings, its.held(), run);
  }
  /// Checks whether these bindings belong to this session.
  [[nodiscard]] Status take(const DynamicBindings<Derived>& bindings) const noexcept {
    if (instances_[0].is_blocked()) [[unlikely]]
      return refusal();
    return bindings.are_of(static_cast<const Derived&>(*this)) ? Status{} : Status{Errc::wrong_tensor};
  }
  template <class R>
  [[nodiscard, gnu::cold, gnu::noinline]] Status refuse(const Prebound<R, Slots>& binding) noexcept {
    if (const Status status = refusal(); !status) return status;
    if (!binding.status_.ok()) return binding.status_;
    if (!are_of_one_session(binding.session_, number_)) return Status{Errc::wrong_tensor};
    return refuse_stale(instances_[0].port_count() == 0 ? 0 : instances_[0].tensor(0),
                        memory::Staleness::prebound_before_move);
  }
  [[nodiscard, gnu::cold]] Status refuse_stale(std::uint32_t tensor, memory::Staleness why) noexcept {
    shared_.refusal_detail = static_cast<std::uint64_t>(why);
    return Status::of_tensor(Errc::stale_memory, tensor);
  }
  template <class R>
  [[nodiscard]] static const R& resolved(const Prebound<R, Slots>& binding) noexcept {
    return binding.resolved_[0];
  }

  /// The reason why no round may begin; ok if one may.
  [[nodiscard, gnu::cold]] Status refusal() const noexcept { return instances_[0].refusal(); }
  void block(State state, Status why) noexcept {
    state_ = state;
    instances_.block(why);
  }
  /// Returns to the state between rounds: open, or waiting for the first upload of a resident. Nothing poisons a
  /// session during a round: what would wait for the device then is refused.
  void unblock() noexcept {
    state_ = State::open;
    note_uploads();
  }
  void note_uploads() noexcept { instances_.unblock(this->uploaded_); }
  Status find_resident(TensorKey key, DevicePtr<std::byte>& at) const noexcept {
    at = device(key);
    return {};
  }
  [[gnu::cold]] Status note_failure(Status status) noexcept;
  static Status without_text(Status status) noexcept { return status; }
  /// Waits for the rounds in flight. Returns ok if the session is usable, even if residents still need an upload.
  [[nodiscard]] Status wait_until_idle() noexcept {
    (void)derived().finish_all();
    return state_ == State::open ? Status{} : refusal();
  }

  Status wait_for_device() noexcept { return direct().finish(instances_[derived().next_slot()].runner()); }

  [[nodiscard]] bool owns(TensorKey key) const noexcept {
    return key.graph() == graph_.view().tag && index(key.tensor()) < graph_.view().tensors.size();
  }
  [[nodiscard]] const graph::TensorRecord& record(TensorKey key) const noexcept {
    return graph_.view().tensors[index(key.tensor())];
  }
  [[nodiscard]] DevicePtr<std::byte> device(TensorKey key) const noexcept {
    return DevicePtr<std::byte>{placement(0).address_of(graph_.view(), layout_.offsets(), index(key.tensor()))};
  }
  [[nodiscard]] bool overlaps() const noexcept {
    if constexpr (may_overlap) return platform_.overlaps_rounds();
    return false;
  }
  [[nodiscard]] Placement placement(std::size_t slot) const noexcept {
    return {arena_base_, arena_base_.offset(memory_.displacement(slot)), overlaps(), others_.of_slot(slot)};
  }

 private:
  friend class SessionState<Derived>;

  /// The parts of a session: a graph that is ready to be opened, and its plan if a file has it.
  struct Opening {
    Graph graph;
    std::optional<SavedState> saved{};
    Error::Text reason{};  ///< why the file is not used
  };
  Session(Opening&& opening, const Options& options);
  static Opening prepare_opening(Graph graph, const Options& options);
  static Layout make_layout(const Graph& graph, Opening& opening);
  static SavedOrigin saved_origin(const graph::GraphView& view);
  void restore_learned(Opening& opening, const Options& options);
  static Graph prepared(Graph graph, const Options& options);
  // The steps of close().
  Status close_instances() noexcept { return instances_.close(); }
  Status release_arena() noexcept {
    const Status others = others_.release();
    return first_failure(others, arena_.release());
  }
  /// Makes hold() refuse until the next round if the last one bound memory of the block.
  void note_released(DevicePtr<std::byte> block, Bytes size) noexcept {
    const Instance& last = instances_[derived().last_slot()];
    for (std::size_t p = 0; p < last.port_count(); ++p) {
      if (last.address(p) - block.address() < size.value) rounds_when_lost_ = derived().rounds();
    }
  }
  void note_closed() noexcept { block(State::closed, Status{Errc::closed}); }

  Status set_held(TensorKey key, bool is_held) noexcept;
  Status set_scalar_bits(TaskId task, std::size_t n, ArgWord bits) noexcept;

 protected:
  // The order matters: later members use earlier ones and are destroyed first.
  [[no_unique_address]] Graph graph_;
  [[no_unique_address]] Layout layout_;
  SlotMemory<typename P::Arch> memory_;
  OtherMemory<P> others_;
  memory::Arena<P> arena_;
  DevicePtr<std::byte> arena_base_;  ///< the start of the tensors: the arena, until it is moved
  Instances instances_;
  std::uint64_t rounds_when_lost_ = 0;  ///< the number of rounds when the contents of the last round were lost
  std::uint64_t number_ = next_session_number();
  bool is_restored_ = false;
};

}  // namespace rondo::detail

#include <rondo/session/session_impl.hpp>  // IWYU pragma: export
