// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/concepts.hpp>
#include <rondo/error.hpp>
#include <rondo/graph/frozen_graph.hpp>
#include <rondo/graph/limits.hpp>
#include <rondo/memory/arena.hpp>
#include <rondo/memory/layout.hpp>
#include <rondo/session/bindings.hpp>
#include <rondo/session/policies.hpp>
#include <rondo/session/ports.hpp>
#include <rondo/session/prebound.hpp>
#include <rondo/session/round.hpp>
#include <rondo/tensor/pair.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace rondo {

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
  using Layout = memory::Layout<Graph, typename P::Arch>;
  static_assert(check_update_strategy<Update>());
  static_assert(Policies::rounds_in_flight == 1, "rondo: one round at a time is what there is so far");

 public:
  using Platform = P;
  /// The platform's, with the runtime's where that has some.
  using Options = typename Device::Options;

  /// Opens the device, places all tensors in one arena, writes the args table, loads the kernels. Prefer open().
  /// @throws Error limit_exceeded, unsupported, overflow, out_of_memory, and what the platform throws
  explicit RoundSession(Graph graph, const Options& options = {})
      : graph_{checked(std::move(graph))},
        layout_{graph_},
        platform_{options},
        arena_{platform_, layout_.arena_bytes(), Bytes{P::Arch::arena_alignment}},
        ports_{graph_, layout_, arena_.base()},
        runner_{platform_, graph_, layout_.offsets(), arena_.base()},
        residents_(graph_.view().tensors.size()) {
    await_uploads();
  }
  RoundSession(const RoundSession&) = delete;
  RoundSession& operator=(const RoundSession&) = delete;

  ~RoundSession() {
    if (const Status status = close(); !status && status.code() != Errc::poisoned) {
      Policies::report_unclosed(status, explain(status).c_str());
    }
  }

  // --- rounds
  // ---------------------------------------------------------------------------------------------------------

  /// One round: checks the bindings, copies inputs in, runs the graph, copies outputs out, waits. Every input, output
  /// and inout of the graph is bound exactly once.
  /// Errors: wrong_tensor, wrong_size, null_memory, unbound_tensor, bound_twice: nothing was copied or run;
  /// uninitialized_read: a resident tensor waits for its first upload; busy, closed, poisoned; kernel_failed,
  /// device_failed: poisons.
  template <BoundPair... B>
  [[gnu::always_inline]] Status run_round(const B&... pairs) noexcept;

  /// The same with bindings that were checked before. Errors: besides those of running, the prebinding's own, or
  /// wrong_tensor if it was made by another session.
  template <std::size_t In, std::size_t Out>
  [[gnu::always_inline]] Status run_round(const Prebound<In, Out>& binding) noexcept;

  /// Checks and resolves bindings once, for many rounds.
  template <BoundPair... B>
  [[nodiscard]] auto prebind(const B&... pairs) noexcept;

  /// The first step of a round taken step by step; see Round. Inputs are copied (or on their way) when it returns.
  template <BoundPair... B>
  [[nodiscard]] auto begin_round(const B&... pairs) noexcept;

  // --- resident tensors
  // -----------------------------------------------------------------------------------------------

  /// Copies host memory into a resident tensor, or a resident tensor to the host, and waits. `host`: as in bind().
  /// Errors: wrong_tensor, wrong_size, null_memory; busy, closed, poisoned.
  template <Element T, class Host>
  Status upload(Resident<T> tensor, const Host& host) noexcept;
  template <Element T, class Host>
  Status download(Resident<T> tensor, Host&& host) noexcept;

  /// The device side of a tensor that stays there. @throws Error wrong_tensor
  template <Element T, Direction D>
  requires(!is_bound_each_round(D)) [[nodiscard]] DevicePair<T, D> pair(TensorHandle<T, D> tensor) const {
    if (!owns(tensor.key)) throw Error(Errc::wrong_tensor, Error::Text(describe(Errc::wrong_tensor)));
    return {tensor, device(tensor.key).template as<T>(), record(tensor.key).count};
  }

  // --- state
  // ----------------------------------------------------------------------------------------------------------

  /// Rounds finished so far, failed ones not counted.
  [[nodiscard]] std::uint64_t rounds() const noexcept { return rounds_; }
  [[nodiscard]] bool poisoned() const noexcept { return state_ == State::poisoned; }
  /// Bytes of device memory that the tensors take.
  [[nodiscard]] Bytes arena_bytes() const noexcept { return arena_.size(); }
  [[nodiscard]] const Graph& graph() const noexcept { return graph_; }
  [[nodiscard]] auto& observer() noexcept { return observe_; }

  /// A sentence for a status of this session, naming the tensor or task.
  [[nodiscard]] Error::Text explain(Status status) const noexcept;

  /// Waits for the device and releases everything; later rounds return `closed`. Works on a poisoned session too, and
  /// then returns what poisoned it, once. Calling it again does nothing.
  Status close() noexcept;

 private:
  enum class State : std::uint8_t { ready, awaiting_uploads, in_round, poisoned, closed };
  friend class detail::RoundLink<RoundSession>;
  template <class, std::size_t, std::size_t, Stage>
  friend class Round;

  static Graph checked(Graph graph) {
    if constexpr (Graph::is_static) {
      static_assert((graph::check_limits<typename P::Arch>(Graph::view()), true));
    } else {
      graph::check_limits<typename P::Arch>(graph.view());
    }
    return graph;
  }

  // The steps of a round, in order. They are inlined whatever their size, so that bindings stay in registers and a
  // graph that the compiler knows leaves only its kernels.
  template <std::size_t... I, BoundPair... B>
  [[gnu::always_inline]] Status run_in_order(std::index_sequence<I...>, const B&... pairs) noexcept;
  template <BoundPair B>
  [[gnu::always_inline]] Status copy_pair_in(const detail::Port& port, const B& pair) noexcept {
    if constexpr (copies_in(detail::HandleOf<B>::direction)) {
      return platform_.copy_in(port.device, pair.data(), Bytes{port.bytes});
    } else {
      return {};
    }
  }
  template <BoundPair B>
  [[gnu::always_inline]] Status copy_pair_out(const detail::Port& port, const B& pair) noexcept {
    if constexpr (copies_out(detail::HandleOf<B>::direction)) {
      return platform_.copy_out(pair.data(), port.device, Bytes{port.bytes});
    } else {
      return {};
    }
  }
  template <std::size_t In, std::size_t Out, std::size_t... I>
  [[gnu::always_inline]] Status copy_in(const detail::Copies<In, Out>& copies, std::index_sequence<I...>) noexcept {
    Status status;
    (void)((status = platform_.copy_in(copies.in[I].device, copies.in[I].host, copies.in[I].bytes), status.ok()) &&
           ...);
    return status;
  }
  Status launch() noexcept {
    if constexpr (Update::highest != UpdateLevel::none) {
      const std::uint64_t active[] = {0, arena_.base().address()};
      runner_.refresh(update_.decide({active, last_bases_, 2}), layout_.offsets(), arena_.base());
      last_bases_[1] = active[1];
    }
    return runner_.launch();
  }
  template <std::size_t In, std::size_t Out, std::size_t... I>
  [[gnu::always_inline]] Status copy_out(const detail::Copies<In, Out>& copies, std::index_sequence<I...>) noexcept {
    Status status;
    (void)((status = platform_.copy_out(copies.out[I].host, copies.out[I].device, copies.out[I].bytes), status.ok()) &&
           ...);
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
  template <std::size_t In, std::size_t Out>
  [[gnu::always_inline]] Status run_copies(const detail::Copies<In, Out>& copies) noexcept {
    observe_.round_begins(RoundIndex{rounds_});
    Status status = copy_in(copies, std::make_index_sequence<In>{});
    if (status.ok()) status = launch();
    if (status.ok()) status = copy_out(copies, std::make_index_sequence<Out>{});
    if (status.ok()) status = platform_.wait();
    return settle(status);
  }

  /// Checks bindings and puts them into the order of the ports.
  Status sort(std::span<detail::Binding> bindings) noexcept {
    const detail::BindingFault fault = detail::sort_bindings(ports_.view(), bindings);
    bytes_bound_ = fault.bytes_bound;
    return fault.status;
  }
  [[gnu::noinline, gnu::cold]] Status run_in_any_order(std::span<detail::Binding> bindings) noexcept;

  // Round's side.
  Status launch_open_round() noexcept {
    const Status status = launch();
    if constexpr (requires { runner_.start_beside(); }) {
      if (status.ok()) runner_.start_beside();
    }
    return status;
  }
  template <std::size_t In, std::size_t Out>
  Status finish_open_round(Status status, const detail::Copies<In, Out>& copies) noexcept {
    leave_round();
    if (status.ok()) status = copy_out(copies, std::make_index_sequence<Out>{});
    if (const Status waited = platform_.wait(); status.ok()) status = waited;
    return settle(status);
  }
  void abandon_round() noexcept {
    leave_round();
    if (const Status waited = platform_.wait(); !waited) (void)note_failure(waited);
  }
  void leave_round() noexcept {
    open_round_ = nullptr;
    state_ = State::ready;
  }

  // Cold.
  [[gnu::cold]] Status note_failure(Status status) noexcept {
    if (status.poisoned()) {
      state_ = State::poisoned;
      cause_ = status;
    }
    return status;
  }
  [[gnu::noinline, gnu::cold]] Status refusal() const noexcept;
  void await_uploads() noexcept;
  template <class Host, Element T>
  Status move_resident(Resident<T> tensor, Host* host, std::uint64_t count, bool to_device) noexcept;

  [[nodiscard]] bool owns(TensorKey key) const noexcept {
    return key.graph() == graph_.view().tag && index(key.tensor()) < graph_.view().tensors.size();
  }
  [[nodiscard]] const graph::TensorRecord& record(TensorKey key) const noexcept {
    return graph_.view().tensors[index(key.tensor())];
  }
  [[nodiscard]] DevicePtr<std::byte> device(TensorKey key) const noexcept {
    return arena_.base().offset(Bytes{layout_.offsets()[index(key.tensor())]});
  }

  // The order matters: what comes later uses what comes before and dies first.
  [[no_unique_address]] Graph graph_;
  [[no_unique_address]] Layout layout_;
  [[no_unique_address]] Device platform_;
  memory::Arena<P> arena_;
  detail::Ports<Graph, Layout> ports_;
  Runner runner_;
  [[no_unique_address]] Update update_;
  [[no_unique_address]] typename Policies::Observe observe_;

  State state_ = State::ready;
  std::uint64_t rounds_ = 0;
  const std::uint64_t number_ = detail::next_session_number();
  detail::RoundLink<RoundSession>* open_round_ = nullptr;
  detail::OwnedArray<bool> residents_;  ///< by tensor: waits for its first upload
  std::uint64_t last_bases_[2] = {};
  std::uint64_t bytes_bound_ = 0;  ///< of the last wrong_size
  Status cause_;                   ///< what poisoned the session
};

}  // namespace rondo

#include <rondo/session/round_session_impl.hpp>  // IWYU pragma: export
