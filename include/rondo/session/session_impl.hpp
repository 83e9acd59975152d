// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/compiled.hpp>
#include <rondo/graph/limits.hpp>
#include <rondo/platform/prepare_graph.hpp>
#include <rondo/session/session.hpp>
#if RONDO_HAS_BODIES
#include <rondo/memory/lay_out.hpp>
#include <rondo/update/refresher_impl.hpp>
#endif

/// The bodies of Session's members that are not part of a round. Include session.hpp instead.
namespace rondo::detail {

template <class Derived, Platform P, class Policies, class Graph, std::size_t Slots>
Session<Derived, P, Policies, Graph, Slots>::Session(Graph graph, const Options& options)
    : Session(prepare_opening(std::move(graph), options), options) {}

/// The options, with the costs that the file holds.
template <class Options>
[[nodiscard]] decltype(auto) with_costs_of([[maybe_unused]] const std::optional<SavedState>& saved,
                                           const Options& options) {
  if constexpr (TakesRefreshCosts<Options>) {
    Options result = options;
    if (saved && saved->costs && !result.refresh_costs) result.refresh_costs = saved->costs;
    return result;
  } else {
    return (options);
  }
}

template <class Derived, Platform P, class Policies, class Graph, std::size_t Slots>
Session<Derived, P, Policies, Graph, Slots>::Session(Opening&& opening, const Options& options)
    : Root{with_costs_of(opening.saved, options), opening.graph.view()},
      graph_{std::move(opening.graph)},
      layout_{make_layout(graph_, opening)},
      memory_{graph_.view(), layout_.offsets(), layout_.arena_bytes(), overlaps()},
      others_{platform_, graph_.view(), Slots, overlaps()},
      arena_{platform_, memory_.whole(layout_.arena_bytes(), Slots), Bytes{P::Arch::arena_alignment}},
      arena_base_{arena_.base()},
      instances_{platform_, graph_, layout_, [this](std::size_t slot) { return placement(slot); }, shared_, options} {
  require_ok(zero_workspace(platform_, graph_.view(), layout_.offsets(), arena_base_), "setting workspaces to zero");
  unblock();
  if (!arena_watch_.enter(platform_, arena_base_, arena_.size(), true)) throw std::bad_alloc();
  for (Instance& instance : instances_) round_observer().refreshed(instance.refresher());
  if constexpr (NamesSavedFile<Options>) restore_learned(opening, options);
  log_opened<P, Policies>(platform_, graph_.view(), arena_.size(), Bytes{args().image().size()}, Slots, is_restored_);
  if constexpr (has_log<Policies>) {
    if (!opening.reason.empty()) Policies::log(LogEvent::fallback, Error::Text{P::name, ": ", opening.reason}.c_str());
  }
  log_remarks<Policies>(platform_, Moment::opening);
}

template <class Derived, Platform P, class Policies, class Graph, std::size_t Slots>
Session<Derived, P, Policies, Graph, Slots>::~Session() = default;

template <class Derived, Platform P, class Policies, class Graph, std::size_t Slots>
[[gnu::noinline]] Error::Text Session<Derived, P, Policies, Graph, Slots>::explain(Status status) const noexcept {
  const std::uint64_t detail = shared_.refusal_detail;
  return this->with_cause(explain_status(graph_.view(), status, detail, instances_.failure_text(platform_)), status);
}

template <class Derived, Platform P, class Policies, class Graph, std::size_t Slots>
Graph Session<Derived, P, Policies, Graph, Slots>::prepared(Graph graph, [[maybe_unused]] const Options& options) {
  if constexpr (Graph::is_static) {
    static_assert((graph::check_limits(Graph::view(), arch::limits_of<typename P::Arch>), true));
    static_assert((check_memory_kinds(Graph::view(), P::name, memory_kinds_of<P>()), true));
    return graph;
  } else {
    check_memory_kinds(graph.view(), P::name, memory_kinds_of<P>());
    return platform::prepare_graph<P>(std::move(graph), options);
  }
}

template <class Derived, Platform P, class Policies, class Graph, std::size_t Slots>
auto Session<Derived, P, Policies, Graph, Slots>::prepare_opening(Graph graph, const Options& options) -> Opening {
  Opening opening{.graph = prepared(std::move(graph), options)};
  if constexpr (NamesSavedFile<Options>) {
    options.saved.load(saved_origin(opening.graph.view()), opening.saved, opening.reason);
  }
  return opening;
}

template <class Derived, Platform P, class Policies, class Graph, std::size_t Slots>
auto Session<Derived, P, Policies, Graph, Slots>::make_layout(const Graph& graph, [[maybe_unused]] Opening& opening)
    -> Layout {
  if constexpr (NamesSavedFile<Options> && !Graph::is_static) {
    if (opening.saved) return Layout(std::move(opening.saved->offsets), Bytes{opening.saved->arena_bytes});
  }
  return Layout(graph);
}

template <class Derived, Platform P, class Policies, class Graph, std::size_t Slots>
SavedOrigin Session<Derived, P, Policies, Graph, Slots>::saved_origin(const graph::GraphView& view) {
  constexpr memory::detail::PlannerCall planner = memory::detail::call_of<Plan>;
  return {P::name,
          view,
          arch::limits_of<typename P::Arch>,
          {planner_name<typename Policies::Plan>(), static_cast<std::uint64_t>(concurrency<P, Graph>), Slots,
           planner.ports_last, planner.residents_first}};
}

template <class Derived, Platform P, class Policies, class Graph, std::size_t Slots>
void Session<Derived, P, Policies, Graph, Slots>::restore_learned(Opening& opening, const Options& options) {
  is_restored_ = opening.saved.has_value();
  if constexpr (runtime::RunnerLearns<typename Instance::Runner>) {
    try {
      for (std::size_t s = 0; is_restored_ && s < Slots && s < opening.saved->learned.size(); ++s) {
        instances_[s].runner().restore(opening.saved->learned[s]);
      }
    } catch (const Error& error) {
      const Error::Text reason{options.saved.path(), ": ", error.what()};
      if (options.saved.if_unusable() == IfUnusable::refuse) throw Error(error.code(), reason);
      opening.reason = reason;
    }
  }
}

template <class Derived, Platform P, class Policies, class Graph, std::size_t Slots>
void Session<Derived, P, Policies, Graph, Slots>::save(const char* path) {
  static_assert(
      NamesSavedFile<Options>,
      "rondo: the platform's options name no file to open from; give them a member `rondo::SavedFile saved{};`");
  require_ok(wait_until_idle(), "the session cannot be saved");
  SavedState state{.arena_bytes = layout_.arena_bytes().value,
                   .offsets = {layout_.offsets().begin(), layout_.offsets().end()}};
  if constexpr (AnswersForRefresh<P>) {
    if (const args::RefreshCosts* const costs = platform_.refresh_costs(); costs != nullptr) state.costs = *costs;
  }
  if constexpr (runtime::RunnerLearns<typename Instance::Runner>) {
    for (Instance& instance : instances_) state.learned.push_back(instance.runner().learned());
  }
  write_saved_file(path, encode_saved(make_saved_key(saved_origin(graph_.view())), state));
}

template <class Derived, Platform P, class Policies, class Graph, std::size_t Slots>
Status Session<Derived, P, Policies, Graph, Slots>::move_arena(DeviceSpan<std::byte> memory) noexcept {
  static_assert(Update::highest >= UpdateLevel::feature_map_and_model_io,
                "rondo: the session's update strategy never changes the address of the arena; choose "
                "update::FeatureMapAndModelIo or update::Auto");
  if (const Status status = wait_until_idle(); !status) return status;
  if (!memory.data()) return Status{Errc::null_memory};
  if (memory.size() < arena_.size().value) return Status{Errc::wrong_size};
  if (memory.data().address() % P::Arch::arena_alignment != 0) return Status{Errc::misaligned};
  if constexpr (HasCallersStream<P>) {  // the copies of a recorded round go to where the tensors are
    if (platform_.callers_stream().has_recorded()) return Status{Errc::fixed_address};
  }
  const graph::GraphView view = graph_.view();
  for (std::size_t t = 0; t < view.tensors.size(); ++t) {
    if (view.tensors[t].fixed) return Status::of_tensor(Errc::fixed_address, static_cast<std::uint32_t>(t));
  }
  if (!arena_watch_.may_enter(platform_, memory.data(), arena_.size())) {
    return refuse_stale(0, memory::Staleness::of_another_session);
  }
  // While nothing has changed. Also ends copies of a checkpoint from memory that the caller may release afterwards.
  const Status zeroed = zero_workspace(platform_, view, layout_.offsets(), memory.data());
  if (const Status status = first_failure(zeroed, wait_for_device()); !status) return note_failure(status);
  if (!arena_watch_.enter(platform_, memory.data(), arena_.size(), false)) return Status{Errc::out_of_memory};
  // All slots hold an input at its address in the last round, which is part of only one slot.
  for (std::size_t p = 0; p < instances_[0].port_count(); ++p) {
    const std::uint64_t offset = instances_[0].address(p) - arena_base_.address();
    if (!instances_[0].is_held(p) || offset >= arena_.size().value) continue;
    if (is_carried_in_args(instances_[0].record(p).direction)) continue;
    for (Instance& instance : instances_) instance.set_held(p, false, instance);
  }
  arena_base_ = memory.data();
  instances_.move([this](std::size_t slot) { return placement(slot); });
  number_ = (number_ + 1) % session_numbers != 0 ? number_ + 1 : next_session_number();
  rounds_when_lost_ = derived().rounds();
  this->forget_uploads_in_arena();
  unblock();
  return {};
}

template <class Derived, Platform P, class Policies, class Graph, std::size_t Slots>
Status Session<Derived, P, Policies, Graph, Slots>::set_held(TensorKey key, bool is_held) noexcept {
  if (const Status status = wait_until_idle(); !status) return status;
  Instance& last = instances_[derived().last_slot()];
  const std::size_t p = last.port_of(key);
  if (p == last.port_count() || copies_out(last.record(p).direction)) return Status{Errc::wrong_tensor};
  if (is_held && derived().rounds() == rounds_when_lost_) {
    return Status::of_tensor(Errc::unbound_tensor, index(key.tensor()));
  }
  if (is_held && Slots != 1) {  // the other slots' tasks must read it at its address, or take over a host input's bytes
    const bool is_host_input = is_carried_in_args(record(key).direction);
    if (record(key).fixed && !is_host_input) return Status::of_tensor(Errc::fixed_address, index(key.tensor()));
    if (Root::highest_update < (is_host_input ? UpdateLevel::host_input : UpdateLevel::model_io)) {
      return Status::of_tensor(Errc::unsupported, index(key.tensor()));
    }
  }
  if (is_held && !last.may_hold(p)) return Status::of_tensor(Errc::shared_memory, index(key.tensor()));
  for (Instance& instance : instances_) instance.set_held(p, is_held, last);
  return this->blocks_ == nullptr ? Status{} : this->blocks_->set_held([&](const memory::detail::Block& block) {
    bool is_read = false;
    for (std::size_t port = 0; port < last.port_count(); ++port) {
      const std::uint64_t offset = last.address(port) - block.at.address();
      is_read = is_read || (last.is_held(port) && offset < block.bytes.value);
    }
    return is_read;
  });
}

template <class Derived, Platform P, class Policies, class Graph, std::size_t Slots>
Status Session<Derived, P, Policies, Graph, Slots>::set_scalar_bits(TaskId task, std::size_t n, ArgWord bits) noexcept {
  if (const Status status = wait_until_idle(); !status) return status;
  const graph::GraphView view = graph_.view();
  for (std::size_t position = 0; position < view.tasks.size(); ++position) {
    if (view.tasks[position].added_as != index(task)) continue;
    for (const graph::ArgRecord& arg : view.args_of(view.tasks[position])) {
      if (arg.kind != graph::ArgRecord::Kind::scalar || n-- != 0) continue;
      for (Instance& instance : instances_) instance.set_constant(position, arg, bits);
      return {};
    }
  }
  return Status::of_task(Errc::invalid_argument, index(task));
}

template <class Derived, Platform P, class Policies, class Graph, std::size_t Slots>
Status Session<Derived, P, Policies, Graph, Slots>::note_failure(Status status) noexcept {
  rounds_when_lost_ = derived().rounds();
  if (!status.poisoned())  // no work of the round may remain
    status = instances_[derived().next_slot()].runner().outcome(first_failure(status, platform_.wait()));
  if (!status.poisoned()) return status;
  this->poison(explain(status));
  instances_.block(this->unusable());
  return status;
}

}  // namespace rondo::detail
