// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/args/args_table_impl.hpp>
#include <rondo/slice.hpp>
#include <rondo/update/check_counts.hpp>
#include <rondo/update/direct_refresher.hpp>

/// The set-up of DirectRefresher, for whoever makes one; rounds do without.
namespace rondo::update {

template <class P>
DirectRefresher<P>::DirectRefresher(P&, const graph::GraphView& view, Slice<const args::Source> sources,
                                    args::BaseLayout bases, Slice<const std::uint64_t> addresses,
                                    args::SystemProvider provider)
    : bases_((check_counts(view, sources, bases, addresses), bases.count)),
      io_{bases_.data() + bases.first_io},
      table_{view, sources, bases, provider} {
  std::uint64_t slots = 0;
  for (std::uint32_t id = args::BaseLayout::table; id < bases.count; ++id) {
    const std::uint64_t address = id == args::BaseLayout::table ? table_.seen().address() : addresses[id];
    slots += table_.rewrite(id, address);
    // What lies in the feature map goes the long way, which says so.
    bases_[id] = {address, id < bases.first_io ? nullptr : table_.only_slot(id)};
  }
  done_ = slots | constant_changed;
}

}  // namespace rondo::update
