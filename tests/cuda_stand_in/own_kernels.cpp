// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Rondo's kernels, from their sources for the device, compiled for the host and run thread by thread.

#include "own_kernels.hpp"

namespace {
thread_local int thread_index = 0, block_index = 0, thread_count = 1, block_count = 1;
int __nvvm_read_ptx_sreg_tid_x() { return thread_index; }
int __nvvm_read_ptx_sreg_ctaid_x() { return block_index; }
int __nvvm_read_ptx_sreg_ntid_x() { return thread_count; }
int __nvvm_read_ptx_sreg_nctaid_x() { return block_count; }
}  // namespace

#include "../../src/cuda/decide.cu"
#include "../../src/cuda/refresh.cu"

extern "C" void cudaGraphSetConditional(u64 handle, u32 value) { cuda_stand_in::set_condition(handle, value); }

namespace cuda_stand_in {

namespace {
template <class Run>
void each_thread(std::uint32_t blocks, std::uint32_t threads, Run run) {
  thread_count = static_cast<int>(threads);
  block_count = static_cast<int>(blocks);
  for (block_index = 0; block_index < block_count; ++block_index) {
    for (thread_index = 0; thread_index < thread_count; ++thread_index) run();
  }
}
}  // namespace

void run_refresh(std::uint32_t blocks, std::uint32_t threads, const std::uint64_t* p) {
  each_thread(blocks, threads, [&] {
    rondo_refresh(reinterpret_cast<u8*>(p[0]), reinterpret_cast<const Relocation*>(p[1]), p[2],
                  reinterpret_cast<const u64*>(p[3]));
  });
}
void run_refresh_carried(std::uint32_t blocks, std::uint32_t threads, const std::uint64_t* p) {
  each_thread(blocks, threads, [&] { rondo_refresh_carried(*reinterpret_cast<const Carried*>(p)); });
}

void run_decide(std::uint32_t blocks, std::uint32_t threads, const std::uint64_t* p) {
  each_thread(blocks, threads, [&] {
    rondo_decide(reinterpret_cast<const u64*>(p[0]), reinterpret_cast<u64*>(p[1]), p[2],
                 *reinterpret_cast<const u32*>(&p[3]));  // the last parameter has 4 bytes
  });
}

}  // namespace cuda_stand_in
