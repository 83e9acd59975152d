// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Rondo's kernel that decides about a loop on the device. tools/embed_cuda_kernel makes decide_ptx.hpp of it with
// clang; the driver resolves the call when it compiles the PTX.
//
// A conditional node of a CUDA graph runs its body if, or while, a value is not 0. This kernel sets that value:
//
//   step 0, before an `if`:              value = the condition holds
//   step 1, before a loop:               left = the most repetitions, value = 1
//   step 2, at the end of a repetition:  left = left - 1, value = the condition does not hold and left is not 0
//
// `block` is the argument block of the decision: the address of the condition, its size in bytes, and the most
// repetitions. The condition holds if one of its bytes is not 0. One thread does this.

using u8 = unsigned char;
using u32 = unsigned int;
using u64 = unsigned long long;

extern "C" __attribute__((device)) void cudaGraphSetConditional(u64 handle, u32 value);

extern "C" __attribute__((global)) void rondo_decide(const u64* block, u64* left, u64 handle, u32 step) {
  const u8* const condition = reinterpret_cast<const u8*>(block[0]);
  u8 any = 0;
#pragma clang loop unroll(disable)
  for (u64 i = 0; i < block[1]; ++i) any |= condition[i];
  u32 value = any != 0;
  if (step == 1) {
    *left = block[2];
    value = 1;
  } else if (step == 2) {
    *left -= 1;
    value = any == 0 && *left != 0;
  }
  cudaGraphSetConditional(handle, value);
}
