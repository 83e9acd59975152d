// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/binding/strided.hpp>
#include <rondo/session/instance.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

/// The bodies of Instance's members that are not inlined. Include instance.hpp instead.
namespace rondo::detail {

template <Platform P, class Policies, class Graph, class Layout>
Status Instance<P, Policies, Graph, Layout>::prepare(std::span<Binding> bindings, bool is_async) noexcept {
  if (is_blocked()) return refusal_;
  if (is_async_ && !is_async) return Status{Errc::mixed_modes};
  if (const Status s = sort(bindings); !s) return s;
  if (const Status s = rules_.check(*this, ports_.view(), bindings, Rules::Look::at_moved); !s) return s;
  if (const Status s = check_memory(bindings); !s) return s;
  is_async_ = is_async;
  take_addresses(bindings);
  readiness_ = readiness_between_rounds();
  return {};
}

template <Platform P, class Policies, class Graph, class Layout>
template <Refreshes when>
auto Instance<P, Policies, Graph, Layout>::work_of(std::span<const Binding> bindings) const noexcept {
  return make_work<when>(
      [this, bindings](const auto& move, [[maybe_unused]] const auto& move_on_device) {
        const auto ports = ports_.view();
        Status status;
        for (std::size_t p = 0; p < ports.size() && status.ok(); ++p) {
          const Binding& b = bindings[p];
          if (copies_in(ports[p].direction) && b.is_copied()) {
            status = move(ports[p].device, b.data, Bytes{b.bytes}, b.snapshot);
          } else if constexpr (HasDeviceCopy<P>) {
            if (copies_in(ports[p].direction) && is_copied_on_device(p, b)) [[unlikely]]
              status = copy_on_device(b, DevicePtr<std::byte>{address(p)}, true, move_on_device);
          }
        }
        return status;
      },
      [this, bindings](const auto& move, [[maybe_unused]] const auto& move_on_device) {
        const auto ports = ports_.view();
        Status status;
        for (std::size_t p = 0; p < ports.size() && status.ok(); ++p) {
          const Binding& b = bindings[p];
          if (copies_out(ports[p].direction) && b.is_copied()) {
            status = move(b.data, DevicePtr<const std::byte>{address(p)}, Bytes{b.bytes});
          } else if constexpr (HasDeviceCopy<P>) {
            if (copies_out(ports[p].direction) && is_copied_on_device(p, b)) [[unlikely]]
              status = copy_on_device(b, DevicePtr<std::byte>{address(p)}, false, move_on_device);
          }
        }
        return status;
      });
}

template <Platform P, class Policies, class Graph, class Layout>
Status Instance<P, Policies, Graph, Layout>::sort(std::span<Binding> bindings) noexcept {
  if (is_sorted(ports_.view(), bindings)) return {};
  const BindingFault fault = sort_bindings(ports_.view(), bindings);
  shared_.refusal_detail = fault.bytes_bound;
  return fault.status;
}

template <Platform P, class Policies, class Graph, class Layout>
void Instance<P, Policies, Graph, Layout>::set_constant(std::size_t position, const graph::ArgRecord& arg,
                                                        ArgWord bits) noexcept {
  refresher_.set_constant(graph_.view(), position, arg, bits);
  refresh_due_ = true;
  if (readiness_ == Readiness::ready) readiness_ = Readiness::moved;
}

template <Platform P, class Policies, class Graph, class Layout>
void Instance<P, Policies, Graph, Layout>::note_withdrawn() noexcept {
  refresher_.assume_device_unknown();
  refresh_due_ = true;
}

template <Platform P, class Policies, class Graph, class Layout>
Status Instance<P, Policies, Graph, Layout>::close() noexcept {
  if (!std::exchange(is_open_, false)) return {};
  const Status unloaded = runner_.unload();
  return first_failure(unloaded, refresher_.release());
}

template <Platform P, class Policies, class Graph, class Layout>
template <class R>
Status Instance<P, Policies, Graph, Layout>::resolve(std::span<Binding> bindings, R& resolved) noexcept {
  if (const Status s = sort(bindings); !s) return s;
  if (const Status s = rules_.check(*this, ports_.view(), bindings, Rules::Look::at_all); !s) return s;
  if (const Status s = check_memory(bindings); !s) return s;
  if constexpr (checks_memory<P, Policies>) resolved.made_at = memory::Registry::instance().now();
  const auto ports = ports_.view();
  resolved.has_all_checked = held_count_ == 0;
  resolved.copies = {ports, bindings};
  std::size_t host_input = 0;
  for (std::size_t p = 0; p < bindings.size(); ++p) {
    const Binding& b = bindings[p];
    resolved.bindings[p] = b;
    const bool rides = is_carried_in_args(ports[p].direction);
    if (rides) resolved.host_inputs[host_input++] = static_cast<std::uint32_t>(p);
    if (p + 1 < std::size(resolved.places)) {
      resolved.places[p] = rides ? address(p) : b.device != 0 ? b.device : arena_address(p);
    }
  }
  return {};
}

/// Checks the arena, and the memory that the bindings, in the order of the ports, or held ports name. `bound_at`: see
/// memory::Registry::check(). Errors: stale_memory, with its cause as the detail of the refusal.
template <Platform P, class Policies, class Graph, class Layout>
Status Instance<P, Policies, Graph, Layout>::find_stale_memory(std::span<const Binding> bindings,
                                                               std::uint64_t bound_at) noexcept {
  using memory::Staleness;
  memory::Registry& registry = memory::Registry::instance();
  const auto refuse = [&](Staleness staleness, std::uint32_t t) {
    shared_.refusal_detail = static_cast<std::uint64_t>(staleness);
    return Status::of_tensor(Errc::stale_memory, t);
  };
  const std::uint64_t arena = at_.arena.address();
  for (std::size_t p = 0; p < held_.size(); ++p) {
    if (is_held(p) && is_carried_in_args(record(p).direction)) continue;
    const std::uint64_t device = is_held(p) ? address(p) : bindings[p].device;
    const std::uint64_t since = is_held(p) ? registry.bound_now : bound_at;  // a held port ignores what is bound
    const auto host = reinterpret_cast<std::uintptr_t>(bindings[p].data);
    const Staleness found = device != 0 ? registry.check_bound(space_, arena, device, record(p).bytes, since)
                                        : registry.check(memory::Space::host, host, record(p).bytes, since);
    if (found != Staleness::none) return refuse(found, tensor(p));
  }
  const Staleness found = registry.check(space_, arena, layout_.arena_bytes().value);
  if (found == Staleness::none) return {};
  std::uint32_t first = 0;  // of the tensors in the arena
  while (is_carried_in_args(graph_.view().tensors[first].direction)) ++first;
  return refuse(found, first);
}

/// Applies checked bindings to this round: bases and host inputs. Marks those of held ports as not to be copied.
template <Platform P, class Policies, class Graph, class Layout>
void Instance<P, Policies, Graph, Layout>::take_addresses(std::span<Binding> bindings) noexcept {
  const auto ports = ports_.view();
  refresh_due_ = refresh_due_ || readiness_ != Readiness::ready || !update::is_idle_while_unbound<Update>;
  is_moved_ = uses_callers_memory_ = false;
  for (std::size_t p = 0; p < bindings.size(); ++p) {
    Binding& b = bindings[p];
    const Port& port = ports[p];
    const std::uint64_t in_arena = port.device.address();
    if (is_carried_in_args(port.direction)) {
      if (held_[p] == 0) take_bytes(port, b.data);
      refresh_due_ = true;
    } else if (held_[p] != 0) {
      b.bytes = 0;
      is_moved_ = is_moved_ || address(p) != in_arena;
    } else {
      const std::uint64_t place = b.device != 0 && !is_copied_to_arena(p, b) ? b.device : in_arena;
      is_moved_ = is_moved_ || place != in_arena;
      uses_callers_memory_ = uses_callers_memory_ || place != in_arena;
      refresher_.set_port_address(p, place);
    }
  }
  for (const PortView& view : rules_.views()) {
    if (view.source == PortView::in_the_arena) continue;
    refresher_.set_port_address(view.port, address(view.source) + view.offset);
    // A later round may write where the caller's memory is, so the output that shows it is delivered before.
    const bool is_callers = held_[view.source] == 0 && address(view.source) != arena_address(view.source);
    if (is_callers && bindings[view.port].is_copied()) shared_.limit_in_flight = 1;
  }
  if constexpr (Values::any) values_.update(refresher_);  // the readiness is general, so a refresh is due
  refresh_due_ = refresh_due_ || is_moved_;
  pass_addresses();
}

template <Platform P, class Policies, class Graph, class Layout>
void Instance<P, Policies, Graph, Layout>::pass_addresses() noexcept {
  if constexpr (Runner::has_tensor_places) {
    const graph::GraphView view = graph_.view();
    std::size_t port = 0;
    for (std::size_t t = 0; t < view.tensors.size(); ++t) {
      const Direction direction = view.tensors[t].direction;
      std::uint64_t place = at_.address_of(view, layout_.offsets(), t);
      if (is_bound_each_round(direction)) place = address(port++);
      if (is_carried_in_args(direction)) place = reinterpret_cast<std::uintptr_t>(refresher_.host_input(t));
      runner_.place_tensor(t, place);
    }
  }
}

template <Platform P, class Policies, class Graph, class Layout>
void Instance<P, Policies, Graph, Layout>::set_held(std::size_t p, bool is_held, Instance& last) noexcept {
  if ((held_[p] != 0) != is_held) is_held ? ++held_count_ : --held_count_;
  held_[p] = is_held;
  if (is_held && &last != this) {
    const std::uint32_t t = tensor(p);
    if (is_carried_in_args(record(p).direction)) {
      std::memcpy(refresher_.host_input(t), last.refresher_.host_input(t), record(p).bytes);
    } else {
      refresher_.set_port_address(p, last.address(p));
      is_moved_ = is_moved_ || address(p) != arena_address(p);
      // The addresses of its own last round were never checked together with this one.
      for (std::size_t q = 0; q < held_.size(); ++q) {
        const bool has_own = q != p && held_[q] == 0 && !is_carried_in_args(record(q).direction);
        if (has_own) refresher_.set_port_address(q, arena_address(q));
      }
    }
    pass_addresses();
  }
  if (!is_held) uses_callers_memory_ = is_moved_;  // a round that binds the input where it is moves nothing
  if (!is_blocked()) readiness_ = readiness_between_rounds();
}

template <Platform P, class Policies, class Graph, class Layout>
void Instance<P, Policies, Graph, Layout>::move(Placement at) noexcept {
  for (std::size_t p = 0; p < held_.size(); ++p) {
    if (address(p) != arena_address(p)) continue;
    const std::uint64_t offset = address(p) - at_.base_of(graph_.view(), tensor(p)).address();
    refresher_.set_port_address(p, at.base_of(graph_.view(), tensor(p)).address() + offset);
  }
  runner_.move_arena(at_.arena, at.arena);
  at_ = at;
  refresher_.set_base(args::BaseLayout::first_feature_map, at.arena.address());
  ports_.move(graph_, layout_, at);
  refresh_due_ = true;
  pass_addresses();
}

}  // namespace rondo::detail
