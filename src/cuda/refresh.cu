// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Rondo's kernels that compute args on the device: one reads the base table from memory, one from its parameters.
// tools/embed_cuda_kernel makes refresh_ptx.hpp of them with clang, for sm_70 and later; no CUDA toolkit is needed.
//
//   for each of `count` relocations:  table[relocation.at] = bases[relocation.base] + relocation.addend
//
// A relocation is laid out as args::Relocation. The slots of relocations do not overlap, so every thread writes
// relocations of its own.

using u8 = unsigned char;
using u32 = unsigned int;
using u64 = unsigned long long;

struct Relocation {
  u64 addend;
  u32 at;
  u32 base;  // the top bit: the slot has 4 bytes instead of 8
};
static_assert(sizeof(Relocation) == 16);

// The parameters of a launch that carries the bases and host inputs; 4096 bytes, which every driver takes.
struct Carried {
  u8* table;
  const Relocation* relocations;
  u64 count;
  u64 base_count;
  u8* host_inputs_to;
  u64 host_input_bytes;
  u64 words[506];  // the bases, then the bytes of host inputs
};
static_assert(sizeof(Carried) == 4096);

#define RONDO_KERNEL extern "C" __attribute__((global)) void
#define RONDO_DEVICE static inline __attribute__((device))

RONDO_DEVICE u64 first() {
  return u64{static_cast<u32>(__nvvm_read_ptx_sreg_ctaid_x())} * static_cast<u32>(__nvvm_read_ptx_sreg_ntid_x()) +
         static_cast<u32>(__nvvm_read_ptx_sreg_tid_x());
}
RONDO_DEVICE u64 step() {
  return u64{static_cast<u32>(__nvvm_read_ptx_sreg_nctaid_x())} * static_cast<u32>(__nvvm_read_ptx_sreg_ntid_x());
}

RONDO_DEVICE void store(u8* at, u64 value, u32 bytes) {
  const u64 address = reinterpret_cast<u64>(at);
  if (bytes == 8 && address % 8 == 0) {
    *reinterpret_cast<u64*>(at) = value;
  } else if (address % 4 == 0) {
    reinterpret_cast<u32*>(at)[0] = static_cast<u32>(value);
    if (bytes == 8) reinterpret_cast<u32*>(at)[1] = static_cast<u32>(value >> 32);
  } else {
    for (u32 i = 0; i < bytes; ++i) at[i] = static_cast<u8>(value >> (8 * i));
  }
}

RONDO_DEVICE void refresh(u8* table, const Relocation* relocations, u64 count, const u64* bases) {
  for (u64 i = first(); i < count; i += step()) {
    const Relocation relocation = relocations[i];
    store(table + relocation.at, bases[relocation.base & 0x7FFF'FFFFU] + relocation.addend,
          relocation.base >> 31 != 0 ? 4 : 8);
  }
}

RONDO_KERNEL rondo_refresh(u8* table, const Relocation* relocations, u64 count, const u64* bases) {
  refresh(table, relocations, count, bases);
}

RONDO_KERNEL rondo_refresh_carried(const Carried carried) {
  refresh(carried.table, carried.relocations, carried.count, carried.words);
  const u8* const bytes = reinterpret_cast<const u8*>(carried.words + carried.base_count);
  for (u64 i = first(); i < carried.host_input_bytes; i += step()) carried.host_inputs_to[i] = bytes[i];
}
