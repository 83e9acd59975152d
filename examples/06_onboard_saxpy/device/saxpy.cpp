// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// The kernel for the device, in Ascend C; built by build.sh in this folder, with the vendor's compiler.
//
// Its parameters are the words of one argument block, in the order of docs/onboard.md: the tensors' addresses and the
// scalars as run() names them, each 8 bytes wide, then the extents of the tensors.

#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void saxpy(GM_ADDR x, GM_ADDR y, uint64_t a_bits, uint64_t x_size, uint64_t y_size) {
  constexpr uint32_t tile = 2048;  // floats; a multiple of 8, since copies are whole blocks of 32 bytes
  const uint32_t low = static_cast<uint32_t>(a_bits);
  const float a = *reinterpret_cast<const float*>(&low);

  GlobalTensor<float> from, to;
  from.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x), x_size);
  to.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y), y_size);

  TPipe pipe;
  TQue<QuePosition::VECIN, 1> xs, ys;
  TQue<QuePosition::VECOUT, 1> results;
  pipe.InitBuffer(xs, 1, tile * sizeof(float));
  pipe.InitBuffer(ys, 1, tile * sizeof(float));
  pipe.InitBuffer(results, 1, tile * sizeof(float));

  for (uint64_t begin = 0; begin < x_size; begin += tile) {
    const uint32_t count = static_cast<uint32_t>(x_size - begin < tile ? x_size - begin : tile);
    LocalTensor<float> vx = xs.AllocTensor<float>();
    LocalTensor<float> vy = ys.AllocTensor<float>();
    DataCopy(vx, from[begin], count);
    DataCopy(vy, to[begin], count);
    xs.EnQue(vx);
    ys.EnQue(vy);
    vx = xs.DeQue<float>();
    vy = ys.DeQue<float>();
    LocalTensor<float> result = results.AllocTensor<float>();
    Muls(result, vx, a, count);
    Add(result, result, vy, count);
    results.EnQue(result);
    xs.FreeTensor(vx);
    ys.FreeTensor(vy);
    result = results.DeQue<float>();
    DataCopy(to[begin], result, count);
    results.FreeTensor(result);
  }
}
