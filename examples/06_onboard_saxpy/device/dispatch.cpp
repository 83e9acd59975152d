// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

//   AICPU: orchestrator.cpp ──▶ mailboxes ──▶ [ rondo_dispatch ] on each cube and vector core: saxpy, saxpy, …
//
// The kernel that runs the tasks of orchestrator.cpp on vector cores, in Ascend C. build_dispatch.sh in this folder
// builds it, with the vendor's compiler, for cores of both types.

#include "kernel_operator.h"

#include <rondo/platform/onboard/device/dispatch.hpp>

namespace {

using namespace AscendC;

/// y += a·x; the words are those of docs/onboard.md: x, y, the bits of a, the extents of x and y.
struct Saxpy {
  static constexpr std::uint64_t id = rondo::mailbox::kernel_id("saxpy");

  static __aicore__ inline std::uint64_t Run(__gm__ std::int64_t* args) {
    constexpr std::uint32_t tile = 2048;  // floats; a multiple of 8, since copies are whole blocks of 32 bytes
    const std::uint32_t bits = static_cast<std::uint32_t>(args[2]);
    const float a = *reinterpret_cast<const float*>(&bits);
    const std::uint64_t size = static_cast<std::uint64_t>(args[3]);
    GlobalTensor<float> x, y;
    x.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(args[0]));
    y.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(args[1]));

    TPipe pipe;
    TBuf<TPosition::VECCALC> xs, ys;
    pipe.InitBuffer(xs, tile * sizeof(float));
    pipe.InitBuffer(ys, tile * sizeof(float));
    LocalTensor<float> vx = xs.Get<float>();
    LocalTensor<float> vy = ys.Get<float>();
    for (std::uint64_t begin = 0; begin < size; begin += tile) {
      const std::uint32_t left = static_cast<std::uint32_t>(size - begin < tile ? size - begin : tile);
      const std::uint32_t count = (left + 7) / 8 * 8;  // a tensor's memory is a multiple of 32 bytes
      DataCopy(vx, x[begin], count);
      DataCopy(vy, y[begin], count);
      PipeBarrier<PIPE_ALL>();
      Muls(vx, vx, a, static_cast<std::int32_t>(count));
      PipeBarrier<PIPE_ALL>();
      Add(vy, vy, vx, static_cast<std::int32_t>(count));
      PipeBarrier<PIPE_ALL>();
      DataCopy(y[begin], vy, count);
      PipeBarrier<PIPE_ALL>();
    }
    return 0;
  }
};

using OnCubeCores = rondo::on_core::Tasks<>;
using OnVectorCores = rondo::on_core::Tasks<Saxpy>;

}  // namespace

extern "C" __global__ __aicore__ void rondo_dispatch(GM_ADDR mailboxes, std::uint64_t launch) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
  rondo::on_core::Serve<OnCubeCores, OnVectorCores>(mailboxes, launch);
}
