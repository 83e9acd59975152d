// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/rondo.hpp>

/// Options under which a platform shows what it can do: a pool spreads even short tasks over three threads from the
/// first round on, where by default it would find out that one thread is faster.
template <class P>
typename P::Options busy_options() {
  typename P::Options options{};
  if constexpr (requires { options.engine.threads; }) {
    options.engine.threads = 3;
    options.engine.scheduling = rondo::platform::sim::Scheduling::uniform;
  }
  return options;
}
