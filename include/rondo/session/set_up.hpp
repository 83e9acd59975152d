// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/graph/limits.hpp>
#include <rondo/memory/lay_out.hpp>
#include <rondo/session/bases.hpp>
#include <rondo/session/round_session.hpp>
#include <rondo/slice.hpp>
#include <rondo/update/refresher_impl.hpp>

#include <utility>

/// How a RoundSession comes into being, and how all of it moves; include open.hpp.
namespace rondo {

namespace detail {

template <class Arch>
inline PortRules<Arch>::PortRules(const graph::GraphView& view) : order_{count_ports(view)} {
  OwnedArray<std::uint32_t> port_of(view.tensors.size());
  std::uint32_t port = 0;
  for (std::size_t t = 0; t < view.tensors.size(); ++t) {
    port_of[t] = is_bound_each_round(view.tensors[t].direction) ? port++ : PortView::in_the_arena;
  }
  const auto is_view = [&](std::size_t t) {
    return view.tensors[t].is_view() && is_bound_each_round(view.tensors[t].direction);
  };
  std::size_t count = 0;
  for (std::size_t t = 0; t < view.tensors.size(); ++t) count += is_view(t) ? 1 : 0;
  views_ = OwnedArray<PortView>(count);
  PortView* next = views_.begin();
  for (std::size_t t = 0; t < view.tensors.size(); ++t) {
    if (is_view(t)) *next++ = {port_of[t], port_of[view.tensors[t].view_of], view.tensors[t].view_offset()};
  }
  are_free_ = count == 0;
  for (const graph::TensorRecord& tensor : view.tensors) {
    has_aliases_ = has_aliases_ || tensor.alias_of != graph::TensorRecord::no_alias;
    are_free_ = are_free_ && !has_aliases_ && !tensor.fixed;
  }
}

}  // namespace detail

template <Platform P, class Policies, class Graph>
inline RoundSession<P, Policies, Graph>::RoundSession(Graph graph, const Options& options)
    : graph_{checked(std::move(graph))},
      layout_{graph_},
      platform_{options},
      arena_{platform_, layout_.arena_bytes(), Bytes{P::Arch::arena_alignment}},
      arena_base_{arena_.base()},
      ports_{graph_, layout_, detail::base_of_ports(platform_, arena_base_)},
      refresher_{make_refresher(platform_, graph_.view(), layout_.offsets(), arena_base_)},
      runner_{platform_, graph_, refresher_.table()},
      residents_(graph_.view().tensors.size()),
      frozen_(ports_.view().size()),
      rules_{graph_.view()} {
  find_first_reads();
  await_uploads();
  tell_addresses();
  open_values();
  if (is_calm()) state_ = calm();
  if (const Status status = reset_workspace(); !status) {
    throw Error(status.code(), Error::Text("setting workspaces to zero: ", status.message()));
  }
  notify_refreshed();
  if constexpr (requires { &Policies::log; }) log_opened(*this);
}

template <Platform P, class Policies, class Graph>
inline Graph RoundSession<P, Policies, Graph>::checked(Graph graph) {
  if constexpr (Graph::is_static) {
    static_assert((graph::check_limits<typename P::Arch>(Graph::view()), true));
  } else {
    graph::check_limits<typename P::Arch>(graph.view());
  }
  return graph;
}

template <Platform P, class Policies, class Graph>
inline auto RoundSession<P, Policies, Graph>::make_refresher(P& platform, const graph::GraphView& graph,
                                                             Slice<const std::uint64_t> offsets,
                                                             DevicePtr<std::byte> arena) -> Refresher {
  const detail::Bases bases{graph, offsets, arena, detail::base_of_ports(platform, arena)};
  return Refresher(platform, graph, bases.sources.slice(), bases.layout, bases.addresses.slice(),
                   &Policies::system_address);
}

template <Platform P, class Policies, class Graph>
inline void RoundSession<P, Policies, Graph>::find_first_reads() {
  const graph::GraphView view = graph_.view();
  first_reads_ = detail::OwnedArray<bool>(view.tensors.size());
  if constexpr (requires { Graph::is_orchestrated; }) {
    // Nobody knows yet what the tasks will read.
    for (std::size_t t = 0; t < view.tensors.size(); ++t) {
      first_reads_[t] = view.tensors[t].direction == Direction::resident;
    }
    return;
  }
  detail::OwnedArray<bool> written(view.tensors.size());
  for (const graph::TaskRecord& task : view.tasks) {
    for (const graph::ArgRecord& arg : view.args_of(task)) {
      if (arg.kind != graph::ArgRecord::Kind::address) continue;
      const std::uint32_t root = graph::root_of(view.tensors, arg.tensor);
      if (view.tensors[root].direction == Direction::resident && reads(arg.access) && !written[root]) {
        first_reads_[root] = true;
      }
      if (writes(arg.access)) written[root] = true;
    }
  }
  for (std::size_t t = 0; t < view.tensors.size(); ++t) {
    if (view.tensors[t].delivered && view.tensors[t].direction == Direction::resident && !written[t]) {
      first_reads_[t] = true;
    }
  }
}

template <Platform P, class Policies, class Graph>
inline void RoundSession<P, Policies, Graph>::open_values() {
  const graph::GraphView view = graph_.view();
  if constexpr (Policies::Values::any) {
    static_assert(Update::highest >= UpdateLevel::host_input,
                  "rondo: the session's update strategy never refreshes values; choose update::HostInput or "
                  "update::Auto");
    const detail::Bases bases{view, layout_.offsets(), arena_base_, detail::base_of_ports(platform_, arena_base_)};
    typename Policies::Values::Store* shared = nullptr;
    if constexpr (requires { platform_.values(); }) {
      shared = static_cast<typename Policies::Values::Store*>(platform_.values());
    }
    values_.open(view, bases.sources.slice(), shared);
  } else {
    for (const graph::TensorRecord& tensor : view.tensors) {
      if (tensor.direction != Direction::session_value) continue;
      throw Error(Errc::unsupported, Error::Text("value '", view.name(tensor.name),
                                                 "' is for the session to write, but its policies say of no values; "
                                                 "choose `using Values = launch::RoundValues<>`"));
    }
  }
}

template <Platform P, class Policies, class Graph>
inline Status RoundSession<P, Policies, Graph>::move_arena(DeviceSpan<std::byte> memory) noexcept {
  static_assert(Update::highest >= UpdateLevel::feature_map_and_model_io,
                "rondo: the session's update strategy never changes the address of the arena; choose "
                "update::FeatureMapAndModelIo or update::Auto");
  if (!is_calm() && state_ != State::awaiting_uploads) return refusal();
  if (!memory.data()) return Status{Errc::null_memory};
  if (memory.size() < arena_.size().value) return Status{Errc::wrong_size};
  if (memory.data().address() % P::Arch::arena_alignment != 0) return Status{Errc::misaligned};
  const graph::GraphView view = graph_.view();
  for (std::size_t t = 0; t < view.tensors.size(); ++t) {
    if (view.tensors[t].fixed) return Status::of_tensor(Errc::fixed_address, static_cast<std::uint32_t>(t));
  }
  const auto before = ports_.view();
  for (std::size_t p = 0; p < before.size(); ++p) {
    const std::uint64_t address = before[p].device.address();
    if (refresher_.io(p) == address) {
      if (frozen_[p]) --frozen_count_;
      frozen_[p] = false;
      refresher_.set_io(p, address - arena_base_.address() + memory.data().address());
    }
  }
  if constexpr (requires { runner_.move_arena(arena_base_, arena_base_); }) {
    runner_.move_arena(arena_base_, memory.data());
  }
  arena_base_ = memory.data();
  refresher_.set_base(args::BaseLayout::first_feature_map, arena_base_.address());
  ports_.move(graph_, layout_, arena_base_);
  const std::uint32_t first_io = refresher_.table().bases().first_io;
  refresher_.look_at({first_io, first_io + static_cast<std::uint32_t>(before.size())});
  number_ = detail::next_session_number();
  rounds_when_lost_ = rounds_;
  refresh_due_ = true;
  tell_addresses();
  state_ = calm();
  await_uploads();
  return reset_workspace();
}

template <Platform P, class Policies, class Graph>
inline Status RoundSession<P, Policies, Graph>::reset_workspace() noexcept {
  const graph::GraphView view = graph_.view();
  std::uint64_t begin = ~std::uint64_t{0};
  std::uint64_t end = 0;
  for (std::size_t t = 0; t < view.tensors.size(); ++t) {
    if (view.tensors[t].zeroed != Zeroed::once || view.tensors[t].bytes == 0) continue;
    const std::uint64_t offset = layout_.offsets()[t];
    begin = offset < begin ? offset : begin;
    end = offset + view.tensors[t].bytes > end ? offset + view.tensors[t].bytes : end;
  }
  if (end == 0) return {};
  static constexpr std::uint64_t step = 4096;
  static constexpr std::byte zeros[step] = {};
  Status status;
  if constexpr (requires { platform_.fill_zeros(arena_base_, Bytes{}); }) {
    status = platform_.fill_zeros(arena_base_.offset(Bytes{begin}), Bytes{end - begin});
  } else {
    for (std::uint64_t at = begin; at < end && status.ok(); at += step) {
      status = platform_.copy_in(arena_base_.offset(Bytes{at}), zeros, Bytes{end - at < step ? end - at : step});
    }
  }
  if (const Status waited = platform_.wait(); status.ok()) status = waited;
  return status;
}

}  // namespace rondo
