// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/args/args_table_impl.hpp>
#include <rondo/detail/compiled.hpp>
#include <rondo/error.hpp>
#include <rondo/update/refresher.hpp>

#include <algorithm>

#if RONDO_HAS_BODIES
/// The part of the refreshers' set-up that is the same for all platforms. Out of line but not `cold`: GCC treats a
/// function that always makes a cold call as cold itself, including the caller that goes on to run rounds.
namespace rondo::update {

namespace detail {

/// Checks that there is an address for each base, a source for each tensor, and a base for each source.
/// @throws Error invalid_argument, with the number that is missing, or the tensor without one
[[gnu::noinline]] inline const args::Bases& checked(const graph::GraphView& graph, const args::Bases& bases) {
  const std::uint32_t count = bases.layout.count;
  if (bases.addresses.size() < count || bases.sources.size() < graph.tensors.size()) {
    throw Error(Errc::invalid_argument,
                Error::Text{"the args table has ", count, " bases and ", graph.tensors.size(), " tensors, but ",
                            bases.addresses.size(), " addresses and ", bases.sources.size(), " sources were given"});
  }
  for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
    if (bases.sources[t].base < count || is_carried_in_args(graph.tensors[t].direction)) continue;
    throw Error(Errc::invalid_argument, Error::Text{"tensor '", graph.name(graph.tensors[t].name), "' lies in base ",
                                                    bases.sources[t].base, ", of which there are ", count});
  }
  return bases;
}

[[gnu::noinline]] RONDO_INLINE DeferredBases::DeferredBases(const graph::GraphView& graph, const args::Bases& bases,
                                                            args::SystemProvider provider, DeviceParts parts)
    : table_{graph, checked(graph, bases), provider},
      now_(bases.layout.count),
      ports_{now_.data() + bases.layout.first_io},
      in_table_(bases.layout.count),
      in_image_(parts.table ? bases.layout.count : 0),
      on_device_(parts.bases ? bases.layout.count : 0),
      has_relocations_{parts.relocations} {
  for (std::uint32_t id = BaseLayout::first_feature_map; id < bases.layout.count; ++id) now_[id] = bases.addresses[id];
  bases_at_ = align_up(table_.shape().size(), 64);
  relocations_at_ = align_up(bases_at_ + sizeof(std::uint64_t) * on_device_.size(), 64);
  if (!parts.table || table_.shape().size() == 0) return;
  std::uint64_t relocations = 0;
  for (std::uint32_t id = 0; parts.relocations && id < bases.layout.count; ++id) relocations += table_.uses(id);
  wanted_bytes_ = relocations_at_ + align_up(sizeof(args::Relocation) * relocations, 64);
}

[[gnu::noinline]] RONDO_INLINE std::vector<args::Relocation> DeferredBases::write_table(DevicePtr<std::byte> device) {
  if (device) table_.show_at(device);
  now_[BaseLayout::table] = table_.seen().address();
  std::uint64_t slots = 0;
  for (std::uint32_t id = BaseLayout::table; id < table_.bases().count; ++id) {
    slots += table_.rewrite(id, now_[id]);
    in_table_[id] = now_[id];
  }
  refreshed_ = {UpdateLevel::init, in_image_.empty() ? Mechanism::in_place : Mechanism::segment_copy, slots, 0};
  if (!device) return {};
  in_image_ = now_;
  if (!on_device_.empty()) on_device_ = now_;
  if (!has_relocations_) return {};
  const auto sorted = table_.relocations();
  relocation_count_ = static_cast<std::uint32_t>(sorted.size());
  for (std::size_t p = 0; p < args::partition_count; ++p) {
    while (first_relocation_[p] < relocation_count_ && sorted[first_relocation_[p]].at < table_.shape().begin[p])
      ++first_relocation_[p];
  }
  return {sorted.begin(), sorted.end()};
}

[[gnu::noinline]] RONDO_INLINE void DeferredBases::divide(const RefreshCosts& costs, std::uint64_t least) {
  worth_ = std::max(least, costs.copy / std::max<std::uint64_t>(costs.copied_byte, 1));
  first_segment_.push_back(0);
  for (std::uint32_t id = 0; id < table_.bases().count; ++id) {
    for (const args::Relocation& slot : table_.slots_of(id)) {
      const Segment own{slot.at, slot.at + (slot.narrow != 0 ? 4U : 8U)};
      if (segments_.size() == first_segment_[id] || own.begin > segments_.back().end + worth_) segments_.push_back(own);
      segments_.back().end = own.end;
    }
    first_segment_.push_back(static_cast<std::uint32_t>(segments_.size()));
  }
}

[[gnu::cold]] RONDO_INLINE void DeferredBases::assume_device_unknown() noexcept {
  host_inputs_changed_ = true;
  constants_changed_ = true;
  raise(UpdateLevel::init);
  for (std::uint64_t& address : on_device_) address = nowhere;
  stale_on_device_ = {0, table_.bases().count};
}

}  // namespace detail

[[gnu::noinline]] RONDO_INLINE DirectRefresher::DirectRefresher(const graph::GraphView& graph, const args::Bases& bases,
                                                                args::SystemProvider provider)
    : bases_(detail::checked(graph, bases).layout.count),
      ports_{bases_.data() + bases.layout.first_io},
      table_{graph, bases, provider} {
  std::uint64_t slots = 0;
  for (std::uint32_t id = args::BaseLayout::table; id < bases.layout.count; ++id) {
    const std::uint64_t address = id == args::BaseLayout::table ? table_.seen().address() : bases.addresses[id];
    slots += table_.rewrite(id, address);
    // Bases of the feature map have no word of their own here, which lets rewrite() recognise them.
    bases_[id] = {address, id < bases.layout.first_io ? nullptr : table_.only_slot(id)};
  }
  refreshed_ = slots | constant_changed;
}

}  // namespace rondo::update
#endif
