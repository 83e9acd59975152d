// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// A session on a stream of PyTorch's, for in_torch.py: y += 0.5 x, twice.

#include "kernels.hpp"

#include <rondo/platform/cuda/cuda.hpp>
#include <rondo/rondo.hpp>

#include <cstdio>
#include <memory>

namespace {

using namespace rondo;

constexpr std::int64_t n = 1000;

struct Owned {
  explicit Owned(void* stream) : session{open<Cuda>(graph, options_on(stream))} {}
  static Cuda::Options options_on(void* stream) {
    Cuda::Options options;
    options.stream = stream;
    return options;
  }
  int told(Status status) const {
    if (!status.ok()) std::printf("%s\n", session.explain(status).c_str());
    return status.ok() ? 0 : 1;
  }
  TaskGraph graph;
  Input<float> x = graph.input<float>("x", {n});
  InputOutput<float> y = graph.inout<float>("y", {n});
  TaskId first = graph.add<on_gpu::Axpy>(x, y, 0.5F);
  TaskId second = graph.add<on_gpu::Axpy>(x, y, 0.5F);
  decltype(open<Cuda>(std::declval<TaskGraph&>(), Cuda::Options{})) session;
};

DeviceSpan<float> span(std::uint64_t address) { return {DevicePtr<float>{address}, static_cast<std::size_t>(n)}; }

}  // namespace

extern "C" {

void* rondo_open(void* stream) {
  try {
    return new Owned(stream);
  } catch (const Error& e) {
    std::printf("%s\n", e.what());
    return nullptr;
  }
}
int rondo_enqueue(void* owned, std::uint64_t x, std::uint64_t y) {
  auto& o = *static_cast<Owned*>(owned);
  return o.told(o.session.enqueue_round(bind(o.x, span(x)), bind(o.y, span(y))));
}
int rondo_refresh(void* owned, std::uint64_t x, std::uint64_t y) {
  auto& o = *static_cast<Owned*>(owned);
  return o.told(o.session.refresh_for_replay(bind(o.x, span(x)), bind(o.y, span(y))));
}
int rondo_close(void* owned) {
  const std::unique_ptr<Owned> o{static_cast<Owned*>(owned)};
  return o->told(o->session.close());
}
}
