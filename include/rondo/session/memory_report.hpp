// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/memory/report.hpp>
#include <rondo/session/round_session.hpp>

/// The body of RoundSession::memory_report(); include it where that is called.
namespace rondo {

template <Platform P, class Policies, class Graph>
inline memory::Report RoundSession<P, Policies, Graph>::memory_report() const {
  constexpr memory::Concurrency order = std::is_same_v<typename Policies::Plan, memory::Disjoint>
                                            ? memory::Concurrency::unordered
                                            : detail::concurrency<P, Graph>;
  memory::Report report = memory::make_report<typename P::Arch>(graph_.view(), order, layout_.offsets());
  report.holdings.push_back({memory::MemoryKind::hbm, "tensors", arena_.size()});
  report.holdings.push_back({memory::MemoryKind::hbm, "args", refresher_.device_bytes()});
  report.holdings.push_back({memory::MemoryKind::host, "args image", Bytes{refresher_.table().image().size()}});
  return report;
}

}  // namespace rondo
