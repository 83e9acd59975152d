// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/args/args_table_impl.hpp>
#include <rondo/slice.hpp>
#include <rondo/update/check_counts.hpp>
#include <rondo/update/deferred_refresher.hpp>

/// The set-up of DeferredRefresher, for whoever makes one; rounds do without.
namespace rondo::update {

template <class P, UpdateStrategy S, MechanismChoice C>
DeferredRefresher<P, S, C>::DeferredRefresher(P& platform, const graph::GraphView& view,
                                              Slice<const args::Source> sources, args::BaseLayout bases,
                                              Slice<const std::uint64_t> addresses, args::SystemProvider provider)
    : platform_{(check_counts(view, sources, bases, addresses), platform)},
      table_{view, sources, bases, provider},
      active_(bases.count),
      io_{active_.data() + bases.first_io},
      last_(bases.count),
      written_(in_place ? 0 : bases.count),
      pushed_(has_device_op ? bases.count : 0),
      model_io_{bases.first_io, bases.count},
      bases_at_{align_up(table_.shape().size(), 64)},
      lanes_at_{align_up(bases_at_ + (has_device_op ? 8 * std::uint64_t{bases.count} : 0), 64)},
      device_{platform,
              Bytes{in_place || table_.shape().size() == 0
                        ? 0
                        : lanes_at_ + (has_lanes ? sizeof(args::Lane) *
                                                       [this] {
                                                         std::uint64_t lanes = 0;
                                                         for (std::uint32_t b = 0; b < table_.bases().count; ++b)
                                                           lanes += table_.uses(b);
                                                         return lanes;
                                                       }()
                                                 : 0)},
              Bytes{P::Arch::arena_alignment}} {
  for (std::uint32_t id = BaseLayout::first_feature_map; id < bases.count; ++id) active_[id] = addresses[id];
  if (device_.base()) table_.show_at(device_.base());
  active_[BaseLayout::table] = table_.seen().address();

  std::uint64_t slots = 0;
  for (std::uint32_t id = BaseLayout::table; id < bases.count; ++id) {
    slots += table_.rewrite(id, active_[id]);
    last_[id] = active_[id];
  }
  done_ = {UpdateLevel::init, in_place ? Mechanism::in_place : Mechanism::suffix_copy, slots, 0};
  if (!device_.base()) return;

  const auto check = [](Status status) {
    if (!status) throw Error(status.code(), Error::Text("copying the args table to the device: ", status.message()));
  };
  if constexpr (!in_place) {
    for (std::uint32_t id = 0; id < bases.count; ++id) written_[id] = active_[id];
    detail::OwnedArray<args::Lane> lanes;  // stays alive until the copies are done
    check(copy(0, table_.bytes(), table_.shape().size()));
    if constexpr (has_lanes) {
      lanes = table_.lanes();
      lane_count_ = static_cast<std::uint32_t>(lanes.size());
      for (std::size_t p = 0; p < args::partition_count; ++p) {
        while (first_lane_[p] < lane_count_ && lanes[first_lane_[p]].at < table_.shape().begin[p]) ++first_lane_[p];
      }
      if (lane_count_ != 0) {
        check(platform.copy_in(device_.base().offset(Bytes{lanes_at_}), lanes.data(),
                               Bytes{sizeof(args::Lane) * lane_count_}));
      }
    }
    if constexpr (has_device_op) {
      for (std::uint32_t id = 0; id < bases.count; ++id) pushed_[id] = active_[id];
      check(platform.copy_in(device_.base().offset(Bytes{bases_at_}), active_.data(),
                             Bytes{8 * std::uint64_t{bases.count}}));
    }
    check(platform.wait());
    if constexpr (has_in_launch) {
      if (!C::allows(Mechanism::suffix_copy) && !C::allows(Mechanism::device_op) &&
          launch_bytes() > P::max_launch_bytes) {
        throw Error(Errc::limit_exceeded,
                    Error::Text("a launch that carries the base table takes ", launch_bytes(), " bytes, the most on ",
                                P::name, " is ", P::max_launch_bytes, "; choose another refresh mechanism"));
      }
    }
  }
}

}  // namespace rondo::update
