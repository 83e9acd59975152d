// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/binding/bindings.hpp>
#include <rondo/binding/port_rules.hpp>
#include <rondo/binding/ports.hpp>
#include <rondo/binding/prebound.hpp>
#include <rondo/graph/records.hpp>
#include <rondo/memory/layout.hpp>
#include <rondo/memory/registry.hpp>
#include <rondo/session/executor.hpp>
#include <rondo/session/policies.hpp>
#include <rondo/update/refresher.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace rondo::detail {

/// A frozen graph at one location in device memory, with its own args table and program. It runs one round at a time:
/// it checks and resolves the round's bindings, and passes the resulting work to the executor. A RoundSession has one
/// instance, a PipelinedSession one per slot, and a ShapedSession one per shape and slot.
///
/// Lifetime: immovable; the platform, graph and layout must outlive it. Thread safety: that of the session. Errors: the
/// constructor throws Error; rounds return Status, and a refused round changes nothing.
template <Platform P, class Policies, class Graph, class Layout>
class Instance {
  using Update = typename Policies::Update;
  using Refresher = update::Refresher<P, Update, typename Policies::Refresh>;
  using Options = typename Policies::Runtime::template Options<P>;
  using Rules = PortRules<typename P::Arch, HasDeviceCopy<P>>;

 public:
  using Runner = typename Policies::Runtime::template Runner<P, Graph>;
  using Values = typename Policies::Values;

  using Shared = SharedState<Values>;

  /// @throws Error as the platform and the runtime do
  Instance(P& platform, const Graph& frozen, const Layout& layout, Placement at, Shared& shared, const Options& options)
      : Instance(platform, frozen, layout, at, shared, find_bases(frozen.view(), layout.offsets(), at), platform,
                 options) {}
  /// Creates a further instance, which shares what the runtime permits with `first`; `first` must outlive it.
  Instance(P& platform, const Graph& frozen, const Layout& layout, Placement at, Shared& shared, Instance& first)
      : Instance(platform, frozen, layout, at, shared, find_bases(frozen.view(), layout.offsets(), at), first.runner_) {
  }
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;
  ~Instance() { (void)close(); }

  // --- rounds

  /// Runs a round of pairs. `settle(status)` is called if the round began, and returns the result of the round.
  template <class Channel, class O, class Settle, std::size_t... I, BoundPair... B>
  [[gnu::always_inline]] Status run(Channel channel, RoundObserver<O> observer, Settle settle,
                                    std::index_sequence<I...>, const B&... pairs) noexcept {
    const auto ports = ports_.view();
    constexpr bool refreshes = !is_plain<B...>;
    // In the order of declaration, one comparison per binding proves that it is the right tensor, of this graph, and
    // bound once.
    const bool as_declared = (refreshes ? may_place() : readiness_ == Readiness::ready) &&
                             sizeof...(B) == ports.size() && ((key_of(pairs) == ports[I].key) && ...) &&
                             (((DeviceBoundPair<B> ? elements_of(pairs) == ports[I].bytes / element_size<B>
                                                   : bytes_of(pairs) == ports[I].bytes) &&
                               !is_null(pairs)) &&
                              ...);
    if (!as_declared) [[unlikely]]
      return run_in_any_order(channel, observer, settle, B{pairs}...);
    if constexpr (checks_memory<P, Policies>) {
      if (const Status status = check_memory(std::array{Binding{pairs}..., Binding{}}); !status) return status;
    }
    if constexpr (refreshes) {
      if (const Status status = place(std::index_sequence<I...>{}, pairs...); !status) [[unlikely]]
        return status;
    }
    const auto in = [&](const auto& move, const auto&) __attribute__((always_inline)) {
      Status status;
      (void)((status = copy_pair_in(move, ports[I], pairs), status.ok()) && ...);
      return status;
    };
    const auto out = [&](const auto& move, const auto&) __attribute__((always_inline)) {
      Status status;
      (void)((status = copy_pair_out(move, ports[I], pairs), status.ok()) && ...);
      return status;
    };
    return settle(on(channel, observer).run(make_work<refreshes ? Refreshes::always : Refreshes::never>(in, out)));
  }

  /// Runs a round with a prebinding.
  template <class Channel, class O, class Settle, std::size_t In, std::size_t Out, std::size_t Pairs,
            std::size_t HostInputs, bool Moves>
  [[gnu::always_inline]] Status run(Channel channel, RoundObserver<O> observer, Settle settle,
                                    const Resolved<In, Out, Pairs, HostInputs, Moves>& bound) noexcept {
    if (!(Moves ? may_place() && bound.has_all_checked : readiness_ == Readiness::ready)) [[unlikely]]
      return run_prebound_in_general(channel, observer, settle, bound);
    if (const Status status = check_memory(bound.bindings, bound.made_at); !status) return status;
    if constexpr (Moves) place_prebound(std::make_index_sequence<Pairs>{}, bound);
    const auto in = [&](const auto& move, const auto&) __attribute__((always_inline)) {
      return [&]<std::size_t... I>(std::index_sequence<I...>) __attribute__((always_inline)) {
        Status status;
        (void)((status = move(bound.copies.in[I].device, bound.copies.in[I].host, bound.copies.in[I].bytes, false),
                status.ok()) &&
               ...);
        return status;
      }(std::make_index_sequence<In>{});
    };
    const auto out = [&](const auto& move, const auto&) __attribute__((always_inline)) {
      return [&]<std::size_t... I>(std::index_sequence<I...>) __attribute__((always_inline)) {
        Status status;
        (void)((status = move(bound.copies.out[I].host, bound.copies.out[I].device, bound.copies.out[I].bytes),
                status.ok()) &&
               ...);
        return status;
      }(std::make_index_sequence<Out>{});
    };
    return settle(on(channel, observer).run(make_work<Moves ? Refreshes::always : Refreshes::never>(in, out)));
  }

  /// Runs a round with bindings in any order; sorts and changes them.
  template <class Channel, class O, class Settle>
  [[gnu::noinline]] Status run(Channel channel, RoundObserver<O> observer, Settle settle,
                               std::span<Binding> bindings) noexcept {
    if (const Status status = prepare(bindings, false); !status) return status;
    const Status status = on(channel, observer).run(work_of(bindings));
    readiness_ = readiness_between_rounds();
    return settle(status);
  }

  /// Whether a round of host memory consists only of copies and a launch.
  [[nodiscard]] bool is_ready() const noexcept { return readiness_ == Readiness::ready; }
  /// Runs such a round, with checked bindings in the order of the ports.
  template <class Channel, class O, class Settle>
  [[gnu::noinline]] Status run_plain(Channel channel, RoundObserver<O> observer, Settle settle,
                                     std::span<const Binding> bindings) noexcept {
    if (const Status status = check_memory(bindings); !status) return status;
    return settle(on(channel, observer).run(work_of<Refreshes::never>(bindings)));
  }

  /// Does everything about a round's bindings except the copies, and sorts them into the order of the ports. After a
  /// failure nothing has changed.
  Status prepare(std::span<Binding> bindings, bool is_async) noexcept;
  /// The work of prepared bindings, which must outlive it.
  template <Refreshes when = Refreshes::if_due>
  [[nodiscard]] auto work_of(std::span<const Binding> bindings) const noexcept;
  template <class Channel, class O>
  [[nodiscard, gnu::always_inline]] Executor<Channel, Instance, O> on(Channel channel,
                                                                      RoundObserver<O> observer) noexcept {
    return {channel, *this, observer};
  }

  /// Checks and resolves bindings in any order. @returns the status of the bindings
  template <class R>
  Status resolve(std::span<Binding> bindings, R& resolved) noexcept;

  // --- for the executor

  [[nodiscard]] bool is_refresh_due() const noexcept { return refresh_due_; }
  /// Whether this round binds device memory of the caller.
  [[nodiscard]] bool uses_callers_memory() const noexcept { return uses_callers_memory_; }
  template <class Channel>
  [[gnu::always_inline]] Status refresh(const Channel& channel) noexcept {
    const Status status = refresher_.refresh(channel);
    refresh_due_ = !status.ok();
    return status;
  }
  /// Called if a queue or stream refused a round after its refresh, which the next round therefore makes again.
  void note_withdrawn() noexcept;
  [[nodiscard]] const Refresher& refresher() const noexcept { return refresher_; }
  [[nodiscard]] Runner& runner() noexcept { return runner_; }
  [[nodiscard]] const Runner& runner() const noexcept { return runner_; }

  // --- between rounds

  /// Refuses all rounds with `why` until unblock().
  void block(Status why) noexcept {
    refusal_ = why;
    readiness_ = Readiness::blocked;
  }
  void unblock() noexcept { readiness_ = readiness_between_rounds(); }
  [[nodiscard]] bool is_blocked() const noexcept { return readiness_ == Readiness::blocked; }
  [[nodiscard]] Status refusal() const noexcept { return is_blocked() ? refusal_ : Status{}; }

  /// The port of a tensor, or the number of ports if it has none.
  [[nodiscard]] std::size_t port_of(TensorKey key) const noexcept {
    const auto ports = ports_.view();
    std::size_t p = 0;
    while (p < ports.size() && ports[p].key != key) ++p;
    return p;
  }
  /// Whether the input may be held at its current address: within a round nothing else uses or writes that memory.
  [[nodiscard]] bool may_hold(std::size_t p) const noexcept {
    return !graph::is_reused(graph_.view().tensors, tensor(p)) &&
           (!Layout::ports_may_share || address(p) != arena_address(p) || record(p).kept ||
            is_carried_in_args(record(p).direction));
  }
  [[nodiscard]] bool is_held(std::size_t p) const noexcept { return held_[p] != 0; }
  /// By port: whether the input is held.
  [[nodiscard]] std::span<const char> held() const noexcept { return graph::span_of(held_); }
  [[nodiscard]] std::size_t port_count() const noexcept { return held_.size(); }
  /// Holds the input of a port as it is in `last`, this or another instance, or releases it.
  void set_held(std::size_t p, bool is_held, Instance& last) noexcept;
  /// Sets a scalar of the task at a position in the graph.
  void set_constant(std::size_t position, const graph::ArgRecord& arg, ArgWord bits) noexcept;
  /// Moves everything that the session placed to `at`. No input is held in the arena. Call unblock() afterwards.
  void move(Placement at) noexcept;
  /// Releases all resources; no round may be in progress. The destructor does the same.
  Status close() noexcept;
  [[nodiscard]] bool is_async() const noexcept { return is_async_; }

  // --- addresses of ports, for PortRules

  [[nodiscard]] std::uint32_t tensor(std::size_t p) const noexcept { return index(ports_.view()[p].key.tensor()); }
  [[nodiscard]] const graph::TensorRecord& record(std::size_t p) const noexcept {
    return graph_.view().tensors[tensor(p)];
  }
  [[nodiscard]] std::uint32_t root(std::size_t p) const noexcept {
    return graph::root_of(graph_.view().tensors, tensor(p));
  }
  [[nodiscard]] bool is_fixed(std::size_t p) const noexcept { return graph_.view().tensors[root(p)].fixed; }
  /// The address of a port's tensor in the last round.
  [[nodiscard]] std::uint64_t address(std::size_t p) const noexcept { return refresher_.port_address(p); }
  [[nodiscard]] std::uint64_t arena_address(std::size_t p) const noexcept { return ports_.view()[p].device.address(); }
  /// The device memory that a round requests for a port; 0 means its location in the arena. A held tensor stays.
  [[nodiscard]] std::uint64_t bound(std::size_t p, const Binding& binding) const noexcept {
    if (held_[p] == 0) return binding.device;
    return address(p) == arena_address(p) ? 0 : address(p);
  }

  /// Whether a round copies the device memory that is bound to a port, since kernels cannot use it where it is.
  [[nodiscard]] bool is_copied_on_device(std::size_t p, const Binding& b) const noexcept {
    if constexpr (!HasDeviceCopy<P>) return false;
    return b.bytes != 0 && (b.strided != nullptr || is_copied_to_arena(p, b));
  }

  /// The memory that a round copies to or from a port's tensor; null if it copies none.
  [[nodiscard]] const void* copied_memory(std::size_t p, const Binding& b) const noexcept {
    if (is_copied_on_device(p, b)) return reinterpret_cast<const void*>(b.device);  // NOLINT: an address of the device
    return b.device != 0 ? nullptr : b.data;
  }

  /// Whether rounds with such pairs normally consist only of copies and a launch.
  template <BoundPair... B>
  static constexpr bool is_plain = !any_update<B...> && update::is_idle_while_unbound<Update>;

 private:
  /// `ready`: a round of host memory consists only of copies and a launch: no base has moved, nothing is held, no alias
  /// needs a check. `moved`: bases must first return to the arena, or a refresh is due. `general`: more is needed. A
  /// round checks all of this with the single comparison that it makes anyway.
  enum class Readiness : std::uint8_t { ready, moved, general, blocked };

  template <class First, class... Rest>
  Instance(P& platform, const Graph& frozen, const Layout& layout, Placement at, Shared& shared,
           const args::Bases& bases, First& first, const Rest&... rest)
      : graph_{frozen},
        layout_{layout},
        at_{at},
        shared_{shared},
        ports_{frozen, layout, at},
        refresher_{platform, frozen.view(), bases, &Policies::system_address},
        values_{frozen.view(), bases.sources, shared.values},
        held_(ports_.view().size()),
        rules_{frozen.view()},
        runner_{first, frozen, refresher_.table(), rest...} {  // nothing may throw once it is there
    if constexpr (checks_memory<P, Policies>) space_ = platform.memory_space();
    pass_addresses();
    readiness_ = readiness_between_rounds();
  }

  [[nodiscard]] Readiness readiness_between_rounds() const noexcept {
    if (Values::any || rules_.are_special() || is_async_ || held_count_ != 0) return Readiness::general;
    return is_moved_ || refresh_due_ ? Readiness::moved : Readiness::ready;
  }

  /// Runs a round that is not plain after all. Takes copies of the pairs and is never inlined, because pairs that are
  /// passed by address, or kept for a cold branch, cannot stay in registers.
  template <class Channel, class O, class Settle, BoundPair... B>
  [[gnu::noinline, gnu::cold]] Status run_in_any_order(Channel channel, RoundObserver<O> observer, Settle settle,
                                                       B... pairs) noexcept {
    Binding bindings[] = {Binding{pairs}..., {}};
    return run(channel, observer, settle, std::span(bindings, sizeof...(B)));
  }
  template <class Channel, class O, class Settle, class R>
  [[gnu::noinline, gnu::cold]] Status run_prebound_in_general(Channel channel, RoundObserver<O> observer, Settle settle,
                                                              const R& bound) noexcept {
    auto bindings = bound.bindings;
    if (const Status s = is_blocked() ? refusal_ : check_memory(bindings, bound.made_at); !s) return s;
    return run(channel, observer, settle, std::span(bindings));
  }

  /// Refuses memory that may not be used. The bindings are in the order of the ports.
  [[gnu::always_inline]] Status check_memory(std::span<const Binding> bindings,
                                             std::uint64_t bound_at = memory::Registry::bound_now) noexcept {
    if constexpr (checks_memory<P, Policies>) return find_stale_memory(bindings, bound_at);
    return {};
  }
  Status find_stale_memory(std::span<const Binding> bindings, std::uint64_t bound_at) noexcept;

  /// Whether a port has a fixed address, and device memory is bound that is elsewhere.
  [[nodiscard]] bool is_copied_to_arena(std::size_t p, const Binding& b) const noexcept {
    return b.device != 0 && b.device != arena_address(p) && rules_.is_fixed(*this, p);
  }
  /// Checks bindings and sorts them into the order of the ports.
  Status sort(std::span<Binding> bindings) noexcept;

  // Addresses: for bindings in the order of the ports whose number is known at compile time, so that a port that does
  // not move costs one comparison with memory at a constant offset.

  /// Whether a round may take this path; otherwise it takes the general one.
  [[nodiscard]] bool may_place() const noexcept { return readiness_ <= Readiness::moved && rules_.are_free(); }
  /// Checks the ports that move and sets their addresses; copies host inputs. After a failure nothing has changed.
  template <std::size_t... I, BoundPair... B>
  [[gnu::always_inline]] Status place(std::index_sequence<I...>, const B&... pairs) noexcept {
    const auto ports = ports_.view();
    // A single branch for all ports: usually none moves, and if one does, a branch cannot predict which.
    const std::uint64_t moved = (std::uint64_t{0} | ... | (place_of<I>(ports[I], pairs) ^ refresher_.port_address(I)));
    if (moved != 0) {
      const std::uint64_t addresses[] = {device_of(pairs)..., 0};
      if (!rules_.may_move(ports, {addresses, sizeof...(B)})) [[unlikely]] {
        if (const Status s = rules_.check_moved(*this, {addresses, sizeof...(B)}); !s) return s;
      }
      (refresher_.set_port_address(I, place_of<I>(ports[I], pairs)), ...);
      note_moved();
    }
    (take_host_input(ports[I], pairs), ...);
    return {};
  }
  /// The same for bindings that have been checked before.
  template <std::size_t... I, class R>
  [[gnu::always_inline]] void place_prebound(std::index_sequence<I...>, const R& bound) noexcept {
    const std::uint64_t moved = (std::uint64_t{0} | ... | (bound.places[I] ^ refresher_.port_address(I)));
    if (moved != 0) {
      (refresher_.set_port_address(I, bound.places[I]), ...);
      note_moved();
    }
    const auto ports = ports_.view();
    for (std::size_t i = 0; i + 1 < std::size(bound.host_inputs); ++i) {
      take_bytes(ports[bound.host_inputs[i]], bound.bindings[bound.host_inputs[i]].data);
    }
  }
  /// The address of a port's tensor in this round. Tensors in the args table stay there.
  template <std::size_t I, BoundPair B>
  [[gnu::always_inline]] std::uint64_t place_of(const Port& port, const B& pair) const noexcept {
    if constexpr (is_carried_in_args(HandleOf<B>::direction)) return refresher_.port_address(I);
    return DeviceBoundPair<B> ? device_of(pair) : port.device.address();
  }
  template <BoundPair B>
  [[gnu::always_inline]] void take_host_input(const Port& port, const B& pair) noexcept {
    if constexpr (is_carried_in_args(HandleOf<B>::direction)) take_bytes(port, pair.data());
  }
  [[gnu::always_inline]] void take_bytes(const Port& port, const void* data) noexcept {
    std::byte* const to = refresher_.host_input(index(port.key.tensor()));
    for (std::uint64_t i = 0; i < port.bytes; ++i) to[i] = static_cast<const std::byte*>(data)[i];
  }
  void note_moved() noexcept {
    is_moved_ = uses_callers_memory_ = true;
    readiness_ = Readiness::moved;
    pass_addresses();
  }
  void take_addresses(std::span<Binding> bindings) noexcept;
  /// For runtimes without an args table: passes on the address of each tensor in this round.
  void pass_addresses() noexcept;

  // The order matters: later members use earlier ones and are destroyed first.
  const Graph& graph_;
  const Layout& layout_;
  Placement at_;
  Shared& shared_;
  [[no_unique_address]] Ports<Graph, Layout> ports_;
  Refresher refresher_;
  [[no_unique_address]] Values values_;
  std::vector<char> held_;  ///< by port
  Rules rules_;
  Runner runner_;

  Readiness readiness_ = Readiness::ready;
  bool is_open_ = true;
  Status refusal_;
  bool is_moved_ = false;  ///< whether a base may be outside of the arena
  bool uses_callers_memory_ = false;
  bool refresh_due_ = false;  ///< whether the next launch must refresh first
  bool is_async_ = false;     ///< whether rounds are asynchronous; once one was, all are
  std::size_t held_count_ = 0;
  [[maybe_unused]] memory::Space space_{};  ///< of the device, if memory is checked
};

}  // namespace rondo::detail

#include <rondo/session/instance_impl.hpp>  // IWYU pragma: export
