// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/rondo.hpp>

/// Options under which a platform shows what it can do: a pool spreads even short tasks over three threads from the
/// first round on, where by default it would find out that one thread is faster.
template <class P>
typename P::Options busy_options() {
  typename P::Options options{};
  const auto make_busy = [](auto& engine) {
    if constexpr (requires { engine.threads; }) {
      engine.threads = 3;
      engine.scheduling = rondo::platform::sim::Scheduling::uniform;
    }
  };
  if constexpr (requires { options.engine.inner; }) {
    make_busy(options.engine.inner);
  } else if constexpr (requires { options.engine; }) {
    make_busy(options.engine);
  }
  return options;
}
