// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/session/round_session.hpp>
#include <rondo/slice.hpp>

/// The bodies of RoundSession's members that are too long for its class; include round_session.hpp.
namespace rondo {

template <Platform P, class Policies, class Graph>
template <BoundPair... B>
inline Status RoundSession<P, Policies, Graph>::run_round(const B&... pairs) noexcept {
  if constexpr (Graph::is_static) {
    static_assert(sizeof...(B) == detail::count_ports(Graph::view()),
                  "rondo: a round binds each input, output and inout of its graph exactly once");
  }
  check_strategy<B...>();
  enter(Phase::bind);
  return run_in_order(std::index_sequence_for<B...>{}, pairs...);
}

template <Platform P, class Policies, class Graph>
template <std::size_t... I, BoundPair... B>
inline Status RoundSession<P, Policies, Graph>::run_in_order(std::index_sequence<I...>, const B&... pairs) noexcept {
  const auto ports = ports_.view();
  constexpr bool refreshes = !is_plain<B...>;
  // In the order of declaration, one compare per binding proves that it is the right tensor, bound once, of this graph.
  const bool as_declared =
      (refreshes ? may_place() : state_ == State::ready) && sizeof...(B) == ports.size() &&
      ((detail::key_of(pairs) == ports[I].key) && ...) &&
      (((DeviceBoundPair<B> ? detail::elements_of(pairs) == ports[I].bytes / detail::element_size<B>
                            : detail::bytes_of(pairs) == ports[I].bytes) &&
        !detail::is_null(pairs)) &&
       ...);
  if (!as_declared) [[unlikely]]
    return run_in_any_order(B{pairs}...);
  Status status;
  if constexpr (refreshes) {
    status = place(std::index_sequence<I...>{}, pairs...);
    if (!status) [[unlikely]]
      return status;
  }
  enter_round();
  const bool done = ((status = copy_pair_in(ports[I], pairs), status.ok()) && ...) &&
                    (status = refreshes ? refresh_and_launch() : launch(), status.ok()) &&
                    (enter(Phase::copy_out), true) && ((status = copy_pair_out(ports[I], pairs), status.ok()) && ...);
  if (done) status = wait();
  return settle(status);
}

template <Platform P, class Policies, class Graph>
template <std::size_t In, std::size_t Out, std::size_t Pairs, std::size_t HostInputs>
inline Status RoundSession<P, Policies, Graph>::run_round(
    const Prebound<In, Out, Pairs, HostInputs>& binding) noexcept {
  enter(Phase::bind);
  if (binding.session_ != number_) [[unlikely]] {
    if (!is_calm()) return refusal();
    return binding.status_.ok() ? Status{Errc::wrong_tensor} : binding.status_;
  }
  if constexpr (Pairs != 0) {
    if (!may_place() || !binding.is_checked_) [[unlikely]]
      return run_prebound_in_general({binding.bindings_, Pairs});
    place_prebound(std::make_index_sequence<Pairs>{}, binding);
    return run_copies<true>(binding.copies_);
  } else {
    if (state_ != State::ready) [[unlikely]]
      return run_prebound_in_general({binding.copies_.in, In}, {binding.copies_.out, Out});
    return run_copies<false>(binding.copies_);
  }
}

template <Platform P, class Policies, class Graph>
template <std::size_t In, std::size_t Out, std::size_t Pairs, std::size_t HostInputs, class Hook>
Status RoundSession<P, Policies, Graph>::run_rounds(std::uint64_t rounds,
                                                    const Prebound<In, Out, Pairs, HostInputs>& binding,
                                                    Hook&& before_round) noexcept {
  static_assert(std::is_nothrow_invocable_v<Hook&, RoundIndex>,
                "rondo: what is called before each round takes its RoundIndex and is noexcept");
  const auto keep_awake = [this](bool awake) {
    if constexpr (requires { platform_.keep_awake(awake); }) platform_.keep_awake(awake);
  };
  keep_awake(true);
  Status status;
  for (std::uint64_t i = 0; i < rounds && status.ok(); ++i) {
    before_round(RoundIndex{rounds_});
    status = run_round(binding);
  }
  keep_awake(false);
  return status;
}

/// Copies that were resolved while the session was `ready`, in one that is not: back to what was bound.
template <Platform P, class Policies, class Graph>
Status RoundSession<P, Policies, Graph>::run_prebound_in_general(Slice<const detail::Copy> in,
                                                                 Slice<const detail::Copy> out) noexcept {
  constexpr std::size_t most = P::Arch::max_graph_tensors;  // of ports, checked when the session was opened
  detail::Binding bindings[most];
  const auto ports = ports_.view();
  for (std::size_t p = 0; p < ports.size(); ++p) {
    bindings[p].key = ports[p].key;
    bindings[p].bytes = ports[p].bytes;
  }
  for (const detail::Copy& copy : in) bindings[copy.port].data = copy.host;
  for (const detail::Copy& copy : out) bindings[copy.port].data = copy.host;
  return run_in_general({bindings, ports.size()});
}
template <Platform P, class Policies, class Graph>
Status RoundSession<P, Policies, Graph>::run_prebound_in_general(Slice<const detail::Binding> kept) noexcept {
  detail::Binding bindings[P::Arch::max_graph_tensors];
  for (std::size_t p = 0; p < kept.size(); ++p) bindings[p] = kept[p];
  return run_in_general({bindings, kept.size()});
}

template <Platform P, class Policies, class Graph>
template <std::size_t... I, BoundPair... B>
inline Status RoundSession<P, Policies, Graph>::place(std::index_sequence<I...>, const B&... pairs) noexcept {
  const auto ports = ports_.view();
  // One branch for all: mostly none moves, and where one does, which one it is cannot be foretold.
  const std::uint64_t moved = (std::uint64_t{0} | ... | (place_of<I>(ports[I], pairs) ^ refresher_.io(I)));
  if (moved != 0) {
    const std::uint64_t addresses[] = {detail::device_of(pairs)..., 0};
    if (!rules_.may_move(ports, {addresses, sizeof...(B)})) [[unlikely]] {
      if (const Status s = rules_.check_moved(standing(), {addresses, sizeof...(B)}); !s) return s;
    }
    (refresher_.set_io(I, place_of<I>(ports[I], pairs)), ...);
    note_moved();
  }
  (take_host_input(ports[I], pairs), ...);
  return {};
}

template <Platform P, class Policies, class Graph>
template <std::size_t... I, class Prebinding>
inline void RoundSession<P, Policies, Graph>::place_prebound(std::index_sequence<I...>,
                                                             const Prebinding& binding) noexcept {
  const std::uint64_t moved = (std::uint64_t{0} | ... | (binding.places_[I] ^ refresher_.io(I)));
  if (moved != 0) {
    (refresher_.set_io(I, binding.places_[I]), ...);
    note_moved();
  }
  const auto ports = ports_.view();
  for (const std::uint32_t p : binding.host_inputs()) take_bytes(ports[p], binding.bindings_[p].data);
}

template <Platform P, class Policies, class Graph>
void RoundSession<P, Policies, Graph>::place_views() noexcept {
  const auto ports = ports_.view();
  for (const detail::PortView& view : rules_.views()) {
    if (view.source == detail::PortView::in_the_arena) continue;
    const std::uint64_t address = source_of(view.source).address() + view.offset;
    refresher_.set_io(view.port, address);
    is_moved_ = is_moved_ || address != ports[view.port].device.address();
  }
}

/// Makes checked bindings this round's: bases, host inputs; frozen ones are marked as not to be copied.
template <Platform P, class Policies, class Graph>
void RoundSession<P, Policies, Graph>::take_addresses(Slice<detail::Binding> bindings) noexcept {
  const auto ports = ports_.view();
  refresh_due_ = refresh_due_ || state_ != State::ready || !update::is_idle_while_unbound<Update>;
  is_moved_ = false;
  for (std::size_t p = 0; p < bindings.size(); ++p) {
    detail::Binding& b = bindings[p];
    const detail::Port& port = ports[p];
    if (rides_in_args(port.direction)) {
      take_bytes(port, b.data);
      refresh_due_ = true;
    } else if (frozen_[p]) {
      b.bytes = 0;
      is_moved_ = is_moved_ || refresher_.io(p) != port.device.address();
    } else {
      const std::uint64_t address = b.device != 0 ? b.device : port.device.address();
      is_moved_ = is_moved_ || address != port.device.address();
      refresher_.set_io(p, address);
      // Source and destination are one: nothing to copy.
      if (reinterpret_cast<std::uintptr_t>(b.data) == address) b.bytes = 0;
    }
  }
  if (rules_.views().size() != 0) place_views();
  if constexpr (Policies::Values::any) values_.update(refresher_);  // state general: a refresh is due
  refresh_due_ = refresh_due_ || is_moved_;
  tell_addresses();
}

template <Platform P, class Policies, class Graph>
inline void RoundSession<P, Policies, Graph>::tell_addresses() noexcept {
  if constexpr (requires { runner_.place_tensor(std::size_t{}, std::uint64_t{}); }) {
    const graph::GraphView view = graph_.view();
    std::size_t port = 0;
    for (std::size_t t = 0; t < view.tensors.size(); ++t) {
      const Direction direction = view.tensors[t].direction;
      std::uint64_t address = arena_base_.address() + layout_.offsets()[t];
      if (is_bound_each_round(direction)) address = refresher_.io(port++);
      if (rides_in_args(direction)) address = reinterpret_cast<std::uintptr_t>(refresher_.host_input(t));
      runner_.place_tensor(t, address);
    }
  }
}

/// Everything about a round's bindings that is not a copy. After a failure nothing has changed.
template <Platform P, class Policies, class Graph>
Status RoundSession<P, Policies, Graph>::prepare(Slice<detail::Binding> bindings, bool async) noexcept {
  if (!is_calm()) return refusal();
  if (async != is_async_ && (is_async_ || rounds_ != 0)) return Status{Errc::mixed_modes};
  if (const Status s = sort(bindings); !s) return s;
  if (const Status s = rules_.check(standing(), bindings); !s) return s;
  is_async_ = async;
  take_addresses(bindings);
  state_ = calm();
  return {};
}

template <Platform P, class Policies, class Graph>
Status RoundSession<P, Policies, Graph>::run_in_general(Slice<detail::Binding> bindings) noexcept {
  if (const Status s = prepare(bindings); !s) return s;
  const auto ports = ports_.view();
  enter_round();
  Status status;
  for (std::size_t p = 0; p < ports.size() && status.ok(); ++p) {
    const detail::Port& port = ports[p];
    const detail::Binding& b = bindings[p];
    if (copies_in(port.direction) && b.device == 0 && b.bytes != 0) {
      status = move_in(port.device, b.data, Bytes{b.bytes});
    }
  }
  if (status.ok()) status = refresh_if_due_and_launch();
  state_ = calm();
  enter(Phase::copy_out);
  for (std::size_t p = 0; p < ports.size() && status.ok(); ++p) {
    const detail::Port& port = ports[p];
    const detail::Binding& b = bindings[p];
    if (copies_out(port.direction) && b.device == 0 && b.bytes != 0) {
      status = move_out(b.data, source_of(p), Bytes{b.bytes});
    }
  }
  if (status.ok()) status = wait();
  return settle(status);
}

template <Platform P, class Policies, class Graph>
Status RoundSession<P, Policies, Graph>::copy_in_what_moves(Slice<const detail::Copy> copies) noexcept {
  Status status;
  for (const detail::Copy& copy : copies) {
    if (status.ok() && copy.bytes.value != 0) status = move_in(copy.device, copy.host, copy.bytes, copy.snapshot);
  }
  return status;
}
template <Platform P, class Policies, class Graph>
Status RoundSession<P, Policies, Graph>::copy_out_what_moves(Slice<const detail::Copy> copies) noexcept {
  Status status;
  enter(Phase::copy_out);
  for (const detail::Copy& copy : copies) {
    if (status.ok() && copy.bytes.value != 0) status = move_out(copy.host, copy.device, copy.bytes);
  }
  return status;
}

/// What a round does that is not plain after all. Takes copies of the pairs, in a call that is never inlined: what is
/// passed on by address, or kept for a cold branch, cannot stay in registers.
template <Platform P, class Policies, class Graph>
template <BoundPair... B>
Status RoundSession<P, Policies, Graph>::run_in_any_order(B... pairs) noexcept {
  detail::Binding bindings[] = {detail::Binding{pairs}..., {}};
  return run_in_general({bindings, sizeof...(B)});
}

template <Platform P, class Policies, class Graph>
template <BoundPair... B>
inline auto RoundSession<P, Policies, Graph>::prebind(const B&... pairs) noexcept {
  check_strategy<B...>();
  constexpr std::size_t kept = is_plain<B...> ? 0 : sizeof...(B);
  Prebound<detail::count_in<B...>, detail::count_out<B...>, kept, detail::count_host_inputs<B...>> prebound;
  detail::Binding bindings[] = {detail::Binding{pairs}..., {}};
  prebound.status_ = state_ == State::closed ? refusal() : sort({bindings, sizeof...(B)});
  if (prebound.status_.ok())
    prebound.status_ = rules_.check(standing(), {bindings, sizeof...(B)}, decltype(rules_)::Look::at_all);
  if (prebound.status_.ok()) {
    prebound.session_ = number_;
    prebound.is_checked_ = frozen_count_ == 0;
    prebound.copies_ = detail::resolve<detail::count_in<B...>, detail::count_out<B...>>(ports_.view(), bindings);
    if constexpr (kept != 0) prebound.keep(ports_.view(), bindings, refresher_);
  }
  return prebound;
}

template <Platform P, class Policies, class Graph>
template <BoundPair... B>
inline auto RoundSession<P, Policies, Graph>::begin_round(const B&... pairs) noexcept {
  return begin<false>(pairs...);
}

template <Platform P, class Policies, class Graph>
template <BoundPair... B>
inline auto RoundSession<P, Policies, Graph>::begin_async_round(const B&... pairs) noexcept {
  static_assert((AsyncPair<B> && ...),
                "rondo: an asynchronous copy would still be at this memory when the call returns; bind pinned memory, "
                "snapshot(...), or device memory");
  return begin<true>(pairs...);
}

template <Platform P, class Policies, class Graph>
template <bool Async, BoundPair... B>
inline auto RoundSession<P, Policies, Graph>::begin(const B&... pairs) noexcept {
  check_strategy<B...>();
  constexpr std::size_t in = detail::count_in<B...>;
  constexpr std::size_t out = detail::count_out<B...>;
  using Bound = Round<RoundSession, in, out, Stage::bound>;
  const RoundIndex index{rounds_};
  enter(Phase::bind);
  detail::Binding bindings[] = {detail::Binding{pairs}..., {}};
  const Status status = prepare({bindings, sizeof...(B)}, Async);
  if (!status) return Bound{nullptr, index, status, {}};
  detail::Copies<in, out> copies = detail::resolve<in, out>(ports_.view(), bindings);
  if (rules_.views().size() != 0) {
    for (std::size_t i = 0; i < out; ++i)
      copies.out[i].device = DevicePtr<std::byte>{source_of(copies.out[i].port).address()};
  }
  enter_round();
  state_ = State::in_round;
  const Status copied = copy_in_what_moves({copies.in, in});
  enter(Phase::outside);
  return Bound{this, index, copied, copies};
}

template <Platform P, class Policies, class Graph>
inline Status RoundSession<P, Policies, Graph>::set_frozen(TensorKey key, bool frozen) noexcept {
  if (!is_calm()) return refusal();
  const auto ports = ports_.view();
  std::size_t p = 0;
  while (p < ports.size() && ports[p].key != key) ++p;
  if (p == ports.size()) return Status{Errc::wrong_tensor};
  const std::uint32_t first_io = refresher_.table().bases().first_io;
  if (frozen && rounds_ == rounds_when_lost_) return Status::of_tensor(Errc::unbound_tensor, index(key.tensor()));
  const bool in_arena = refresher_.io(p) == ports[p].device.address();
  if (frozen && Layout::ports_may_share && in_arena && !record(key).kept && !rides_in_args(ports[p].direction))
    return Status::of_tensor(Errc::shared_memory, index(key.tensor()));
  if (frozen_[p] != frozen) frozen_count_ += frozen ? std::size_t{1} : static_cast<std::size_t>(-1);
  frozen_[p] = frozen;
  // The compare looks at the stretch from the first to the last that is not frozen.
  BaseTable::Range range{first_io, first_io + static_cast<std::uint32_t>(ports.size())};
  while (range.begin < range.end && frozen_[range.begin - first_io]) ++range.begin;
  while (range.end > range.begin && frozen_[range.end - 1 - first_io]) --range.end;
  refresher_.look_at(range);
  state_ = calm();
  return {};
}

template <Platform P, class Policies, class Graph>
inline Status RoundSession<P, Policies, Graph>::set_scalar_bits(TaskId task, std::size_t n, ArgWord bits) noexcept {
  if (!is_calm() && state_ != State::awaiting_uploads) return refusal();
  const graph::GraphView view = graph_.view();
  for (std::size_t position = 0; position < view.tasks.size(); ++position) {
    if (view.tasks[position].added_as != index(task)) continue;
    for (const graph::ArgRecord& arg : view.args_of(view.tasks[position])) {
      if (arg.kind != graph::ArgRecord::Kind::scalar || n-- != 0) continue;
      refresher_.set_constant(view, position, arg, bits);
      refresh_due_ = true;
      if (state_ == State::ready) state_ = State::moved;
      return {};
    }
  }
  return Status::of_task(Errc::invalid_argument, index(task));
}

template <Platform P, class Policies, class Graph>
template <class Host, Element T>
inline Status RoundSession<P, Policies, Graph>::move_resident(Resident<T> tensor, Host* host, std::uint64_t count,
                                                              bool to_device) noexcept {
  if (!is_calm() && state_ != State::awaiting_uploads) return refusal();
  if (!owns(tensor.key) || record(tensor.key).direction != Direction::resident) return Status{Errc::wrong_tensor};
  const std::uint32_t t = index(tensor.key.tensor());
  const std::uint64_t bytes = record(tensor.key).bytes;
  if (count != record(tensor.key).count) {
    bytes_bound_ = detail::bytes_or_most(count, sizeof(T));
    return Status::of_tensor(Errc::wrong_size, t);
  }
  if (host == nullptr) return Status::of_tensor(Errc::null_memory, t);
  Status status;
  if constexpr (std::is_const_v<Host>) {
    status = platform_.copy_in(device(tensor.key), host, Bytes{bytes});
  } else {
    status = to_device ? platform_.copy_in(device(tensor.key), host, Bytes{bytes})
                       : platform_.copy_out(host, device(tensor.key), Bytes{bytes});
  }
  if (const Status waited = platform_.wait(); status.ok()) status = waited;
  if (!status) return note_failure(status);
  if (to_device) {
    residents_[t] = false;
    note_uploads();
  }
  return {};
}

template <Platform P, class Policies, class Graph>
template <Element T, class Host>
inline Status RoundSession<P, Policies, Graph>::upload(Resident<T> tensor, const Host& host) noexcept {
  const auto pair = bind(Input<T>{tensor.key}, host);
  return move_resident(tensor, pair.data(), pair.size(), true);
}

template <Platform P, class Policies, class Graph>
template <Element T, class Host>
inline Status RoundSession<P, Policies, Graph>::download(Resident<T> tensor, Host&& host) noexcept {
  const auto pair = bind(Output<T>{tensor.key}, std::forward<Host>(host));
  return move_resident(tensor, pair.data(), pair.size(), false);
}

template <Platform P, class Policies, class Graph>
inline void RoundSession<P, Policies, Graph>::await_uploads() noexcept {
  for (std::size_t t = 0; t < first_reads_.size(); ++t) {
    residents_[t] = first_reads_[t];
    if (first_reads_[t]) state_ = State::awaiting_uploads;
  }
}

template <Platform P, class Policies, class Graph>
Status RoundSession<P, Policies, Graph>::refusal() const noexcept {
  switch (state_) {
    case State::ready:
    case State::moved:
    case State::general: break;
    case State::awaiting_uploads: {
      std::uint32_t t = 0;
      while (!residents_[t]) ++t;
      return Status::of_tensor(Errc::uninitialized_read, t);
    }
    case State::in_round: return Status{Errc::busy};
    case State::poisoned: return Status{Errc::poisoned}.poisoning();
    case State::closed: return Status{Errc::closed};
  }
  return {};
}

template <Platform P, class Policies, class Graph>
inline Error::Text RoundSession<P, Policies, Graph>::explain(Status status) const noexcept {
  const graph::GraphView view = graph_.view();
  Error::Text text;
  if (status.subject() == Status::Subject::tensor && status.index() < view.tensors.size()) {
    const graph::TensorRecord& tensor = view.tensors[status.index()];
    text = Error::Text("tensor '", view.name(tensor.name), "' (", to_string(tensor.direction), ", ", tensor.count,
                       " × ", to_string(tensor.type), "): ");
    if (status.code() == Errc::wrong_size) {
      text.append("it takes ");
      text.append(tensor.bytes);
      text.append(" bytes, ");
      text.append(bytes_bound_);
      text.append(" were bound; bind a span of exactly its elements");
      return text;
    }
    if (status.code() == Errc::uninitialized_read) {
      text.append("a task reads it, but nothing was uploaded to it yet; call session.upload first");
      return text;
    }
  } else if (status.subject() == Status::Subject::task) {
    for (const graph::TaskRecord& task : view.tasks) {
      if (task.added_as == status.index())
        text = Error::Text("task ", task.added_as, " '", view.name(task.name), "': ");
    }
  }
  text.append(status.message());
  if constexpr (requires { platform_.failure_text(); }) {
    if (status.code() == Errc::kernel_failed || status.code() == Errc::device_failed ||
        status.code() == Errc::orchestration_failed || status.code() == Errc::deadlock ||
        status.code() == Errc::check_failed) {
      text.append("; it said: ");
      text.append(platform_.failure_text());
    }
  }
  if (status.code() == Errc::poisoned && !cause_.ok() && cause_.code() != Errc::poisoned) {
    text.append(". The failure: ");
    text.append(explain(cause_));
  }
  return text;
}

template <Platform P, class Policies, class Graph>
inline Status RoundSession<P, Policies, Graph>::close() noexcept {
  if (state_ == State::closed) return {};
  if constexpr (requires { &Policies::log; }) log_closing(*this);
  if (open_round_ != nullptr) {
    observe_.round_ends(RoundIndex{rounds_}, Status{Errc::closed});
    open_round_->detach();
    open_round_ = nullptr;
  }
  Status status = platform_.wait();
  if (const Status unloaded = runner_.unload(); status.ok()) status = unloaded;
  if (state_ == State::poisoned) status = {};  // told already, by the round that failed
  if (const Status released = refresher_.release(); status.ok()) status = released;
  if (const Status released = arena_.release(); status.ok()) status = released;
  if constexpr (HasClose<Device>) {
    if (const Status closed = platform_.close(); status.ok()) status = closed;
  }
  state_ = State::closed;
  return status;
}

}  // namespace rondo
