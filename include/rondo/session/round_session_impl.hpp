// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/session/round_session.hpp>

/// The bodies of RoundSession's members that are too long for its class; include round_session.hpp.
namespace rondo {

template <Platform P, class Policies, class Graph>
template <BoundPair... B>
inline Status RoundSession<P, Policies, Graph>::run_round(const B&... pairs) noexcept {
  if constexpr (Graph::is_static) {
    static_assert(sizeof...(B) == detail::count_ports(Graph::view()),
                  "rondo: a round binds each input, output and inout of its graph exactly once");
  }
  if (state_ != State::ready) [[unlikely]]
    return refusal();

  return run_in_order(std::index_sequence_for<B...>{}, pairs...);
}

template <Platform P, class Policies, class Graph>
template <std::size_t... I, BoundPair... B>
inline Status RoundSession<P, Policies, Graph>::run_in_order(std::index_sequence<I...>, const B&... pairs) noexcept {
  const auto ports = ports_.view();
  // In the order of declaration, one compare per binding proves that it is the right tensor, bound once, of this graph.
  const bool as_declared = sizeof...(B) == ports.size() && ((detail::key_of(pairs) == ports[I].key) && ...) &&
                           ((detail::bytes_of(pairs) == ports[I].bytes && pairs.data() != nullptr) && ...);
  if (!as_declared) [[unlikely]] {
    // Copies what the pairs say, rather than passing them on: whose address is taken cannot live in registers.
    detail::Binding bindings[] = {detail::Binding{pairs}..., {}};
    return run_in_any_order({bindings, sizeof...(B)});
  }
  observe_.round_begins(RoundIndex{rounds_});
  Status status;
  const bool done = ((status = copy_pair_in(ports[I], pairs), status.ok()) && ...) &&
                    (status = launch(), status.ok()) && ((status = copy_pair_out(ports[I], pairs), status.ok()) && ...);
  if (done) status = platform_.wait();
  return settle(status);
}

template <Platform P, class Policies, class Graph>
template <std::size_t In, std::size_t Out>
inline Status RoundSession<P, Policies, Graph>::run_round(const Prebound<In, Out>& binding) noexcept {
  if (state_ != State::ready) [[unlikely]]
    return refusal();
  if (binding.session_ != number_) [[unlikely]] {
    return binding.status_.ok() ? Status{Errc::wrong_tensor} : binding.status_;
  }
  return run_copies(binding.copies_);
}

template <Platform P, class Policies, class Graph>
Status RoundSession<P, Policies, Graph>::run_in_any_order(std::span<detail::Binding> bindings) noexcept {
  if (const Status s = sort(bindings); !s) return s;
  const auto ports = ports_.view();
  observe_.round_begins(RoundIndex{rounds_});
  Status status;
  for (std::size_t p = 0; p < ports.size() && status.ok(); ++p) {
    const detail::Port& port = ports[p];
    if (copies_in(port.direction)) status = platform_.copy_in(port.device, bindings[p].data, Bytes{port.bytes});
  }
  if (status.ok()) status = launch();
  for (std::size_t p = 0; p < ports.size() && status.ok(); ++p) {
    const detail::Port& port = ports[p];
    if (copies_out(port.direction)) status = platform_.copy_out(bindings[p].data, port.device, Bytes{port.bytes});
  }
  if (status.ok()) status = platform_.wait();
  return settle(status);
}

template <Platform P, class Policies, class Graph>
template <std::size_t In, std::size_t Out, class Hook>
requires std::is_nothrow_invocable_v<Hook&, RoundIndex>
inline Status RoundSession<P, Policies, Graph>::run_rounds(std::uint64_t rounds, const Prebound<In, Out>& binding,
                                                           Hook&& before_round) noexcept {
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

template <Platform P, class Policies, class Graph>
template <BoundPair... B>
inline auto RoundSession<P, Policies, Graph>::prebind(const B&... pairs) noexcept {
  Prebound<detail::count_in<B...>, detail::count_out<B...>> prebound;
  detail::Binding bindings[] = {detail::Binding{pairs}..., {}};
  prebound.status_ = state_ == State::closed ? refusal() : sort({bindings, sizeof...(B)});
  if (prebound.status_.ok()) {
    prebound.session_ = number_;
    prebound.copies_ = detail::resolve<detail::count_in<B...>, detail::count_out<B...>>(ports_.view(), bindings);
  }
  return prebound;
}

template <Platform P, class Policies, class Graph>
template <BoundPair... B>
inline auto RoundSession<P, Policies, Graph>::begin_round(const B&... pairs) noexcept {
  constexpr std::size_t in = detail::count_in<B...>;
  constexpr std::size_t out = detail::count_out<B...>;
  using Bound = Round<RoundSession, in, out, Stage::bound>;
  const RoundIndex index{rounds_};
  detail::Binding bindings[] = {detail::Binding{pairs}..., {}};
  const Status status = state_ == State::ready ? sort({bindings, sizeof...(B)}) : refusal();
  if (!status) return Bound{nullptr, index, status, {}};
  const detail::Copies<in, out> copies = detail::resolve<in, out>(ports_.view(), bindings);
  observe_.round_begins(index);
  state_ = State::in_round;
  return Bound{this, index, copy_in(copies, std::make_index_sequence<in>{}), copies};
}

template <Platform P, class Policies, class Graph>
template <class Host, Element T>
inline Status RoundSession<P, Policies, Graph>::move_resident(Resident<T> tensor, Host* host, std::uint64_t count,
                                                              bool to_device) noexcept {
  if (state_ != State::ready && state_ != State::awaiting_uploads) return refusal();
  if (!owns(tensor.key) || record(tensor.key).direction != Direction::resident) return Status{Errc::wrong_tensor};
  const std::uint32_t t = index(tensor.key.tensor());
  const std::uint64_t bytes = record(tensor.key).bytes;
  if (count * sizeof(T) != bytes) {
    bytes_bound_ = count * sizeof(T);
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
    bool waiting = false;
    for (const bool w : residents_) waiting |= w;
    if (!waiting) state_ = State::ready;
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
  const graph::GraphView view = graph_.view();
  detail::OwnedArray<bool> written(view.tensors.size());
  for (const graph::TaskRecord& task : view.tasks) {
    for (const graph::ArgRecord& arg : view.args_of(task)) {
      if (arg.kind != graph::ArgRecord::Kind::address) continue;
      if (view.tensors[arg.tensor].direction == Direction::resident && reads(arg.access) && !written[arg.tensor]) {
        residents_[arg.tensor] = true;
        state_ = State::awaiting_uploads;
      }
      if (writes(arg.access)) written[arg.tensor] = true;
    }
  }
}

template <Platform P, class Policies, class Graph>
Status RoundSession<P, Policies, Graph>::refusal() const noexcept {
  switch (state_) {
    case State::ready: break;
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
  if (open_round_ != nullptr) {
    open_round_->detach();
    open_round_ = nullptr;
  }
  Status status = platform_.wait();
  if (const Status unloaded = runner_.unload(); status.ok()) status = unloaded;
  if (state_ == State::poisoned) status = {};  // told already, by the round that failed
  if (const Status released = arena_.release(); status.ok()) status = released;
  state_ = State::closed;
  return status;
}

}  // namespace rondo
