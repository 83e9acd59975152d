// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Rondo's refresh kernel for the device, in Ascend C, for vector cores of a2a3 and a5. Compile it with the vendor's
// compiler, like your own kernels, and list it among Options::kernels; docs/onboard.md shows how.
//
//   for each of `count` relocations:  table[relocation.at] = bases[relocation.base] + relocation.addend
//
// A relocation is 16 bytes: the addend, 8 bytes; where its slot begins in the table, 4 bytes; the number of its base in
// the low 31 bits of the last word, whose top bit says that the slot has 4 bytes instead of 8. Relocations stand in
// ascending order of their slots, which do not overlap. The table, the array of relocations and the destination
// of host inputs begin at multiples of 64 bytes; `relocations` may point to any element of that array. The memory that
// is read must be readable up to the next multiple of 64.
//
// Words between the slots do not change. Each block works on its own range of relocations, and no line of 64 bytes has
// slots of two blocks, since a core that writes to a line writes all of it.

#include "kernel_operator.h"

namespace rondo_refresh_detail {

using namespace AscendC;

constexpr uint32_t line = 64;
constexpr uint32_t tile_relocations = 512;  // 8 KiB
constexpr uint32_t window_bytes = 32768;    // of the table
constexpr uint32_t chunk_bases = 8192;      // 64 KiB; more bases take one pass over the relocations for each chunk

class Refresh {
 public:
  __aicore__ inline Refresh(GM_ADDR table, GM_ADDR relocations, uint64_t count, GM_ADDR bases, uint64_t base_count)
      : count_(count), base_count_(base_count) {
    // Copies from global memory begin at a multiple of 64; lead_ relocations lie between it and the first.
    lead_ = static_cast<uint32_t>((reinterpret_cast<uint64_t>(relocations) % line) / 16);
    table_.SetGlobalBuffer(reinterpret_cast<__gm__ uint32_t*>(table));
    relocations_.SetGlobalBuffer(reinterpret_cast<__gm__ uint32_t*>(relocations - 16 * lead_));
    bases_.SetGlobalBuffer(reinterpret_cast<__gm__ uint32_t*>(bases));
    pipe_.InitBuffer(tile_buffer_, tile_relocations * 16);
    pipe_.InitBuffer(window_buffer_, window_bytes);
    pipe_.InitBuffer(chunk_buffer_, chunk_bases * 8);
    tile_ = tile_buffer_.Get<uint32_t>();
    window_ = window_buffer_.Get<uint32_t>();
    chunk_ = chunk_buffer_.Get<uint32_t>();
  }

  __aicore__ inline void Run() {
    const uint64_t blocks = static_cast<uint64_t>(GetBlockNum());
    const uint64_t block = static_cast<uint64_t>(GetBlockIdx());
    const uint64_t begin = Boundary(count_ * block / blocks);
    const uint64_t end = Boundary(count_ * (block + 1) / blocks);
    if (begin == end) return;
    for (first_base_ = 0; first_base_ < base_count_; first_base_ += chunk_bases) {
      const uint64_t left = base_count_ - first_base_;
      Read(chunk_, bases_, 2 * first_base_, Words(8 * (left < chunk_bases ? left : chunk_bases)));
      for (uint64_t i = begin; i < end;) i = Patch(i, end);
    }
  }

  /// Copies host inputs, which travel with the launch, to their destination; one block does this.
  __aicore__ inline void CopyHostInputs(GM_ADDR to, GM_ADDR from, uint64_t bytes) {
    if (GetBlockIdx() != 0) return;
    GlobalTensor<uint32_t> source, target;
    source.SetGlobalBuffer(reinterpret_cast<__gm__ uint32_t*>(from));
    target.SetGlobalBuffer(reinterpret_cast<__gm__ uint32_t*>(to));
    for (uint64_t done = 0; done < bytes; done += window_bytes) {
      const uint64_t left = bytes - done;
      const uint32_t words = Words(left < window_bytes ? left : window_bytes);
      Read(window_, source, done / 4, words);
      Write(target, done / 4, words);
    }
  }

 private:
  // Copies are whole blocks of 32 bytes.
  __aicore__ inline static uint32_t Words(uint64_t bytes) { return static_cast<uint32_t>((bytes + 31) / 32 * 8); }

  __aicore__ inline uint32_t RelocationWord(uint64_t relocation, uint32_t word) {
    if (relocation < tile_begin_ || relocation >= tile_end_) Load(relocation);
    return tile_.GetValue(static_cast<uint32_t>(relocation + lead_ - tile_first_) * 4 + word);
  }
  __aicore__ inline uint32_t At(uint64_t relocation) { return RelocationWord(relocation, 2); }
  __aicore__ inline uint32_t End(uint64_t relocation) {
    return At(relocation) + ((RelocationWord(relocation, 3) >> 31) != 0 ? 4 : 8);
  }

  /// Loads the tile that begins with this relocation, or up to three relocations earlier.
  __aicore__ inline void Load(uint64_t relocation) {
    tile_first_ = (relocation + lead_) / 4 * 4;
    const uint64_t left = count_ + lead_ - tile_first_;
    const uint64_t brought = left < tile_relocations ? left : tile_relocations;
    Read(tile_, relocations_, 4 * tile_first_, Words(16 * brought));
    tile_begin_ = tile_first_ < lead_ ? 0 : tile_first_ - lead_;
    tile_end_ = tile_first_ + brought - lead_;
  }

  /// Returns the first relocation from `relocation` on whose slot shares no line with the slot before it.
  __aicore__ inline uint64_t Boundary(uint64_t relocation) {
    while (relocation != 0 && relocation < count_) {
      const uint32_t last = (End(relocation - 1) - 1) / line;
      if (At(relocation) / line > last) break;
      ++relocation;
    }
    return relocation;
  }

  /// Writes the slots from `begin` on, as far as tile and window reach. Returns the first relocation that remains.
  __aicore__ inline uint64_t Patch(uint64_t begin, uint64_t end) {
    const uint32_t at = At(begin) / line * line;
    const uint64_t limit = end < tile_end_ ? end : tile_end_;
    uint64_t stop = begin;
    uint32_t last = at;
    while (stop < limit && End(stop) - at <= window_bytes) last = End(stop++);
    const uint32_t words = (last - at + line - 1) / line * (line / 4);
    Read(window_, table_, at / 4, words);
    for (uint64_t relocation = begin; relocation < stop; ++relocation) Store(relocation, at);
    Write(table_, at / 4, words);
    return stop;
  }

  __aicore__ inline void Store(uint64_t relocation, uint32_t window_at) {
    const uint32_t last_word = RelocationWord(relocation, 3);
    const uint64_t base = last_word & 0x7FFFFFFF;
    if (base < first_base_ || base - first_base_ >= chunk_bases) return;
    const uint32_t i = static_cast<uint32_t>(base - first_base_) * 2;
    const uint64_t addend = static_cast<uint64_t>(RelocationWord(relocation, 1)) << 32 | RelocationWord(relocation, 0);
    const uint64_t address = (static_cast<uint64_t>(chunk_.GetValue(i + 1)) << 32 | chunk_.GetValue(i)) + addend;
    const uint32_t offset = At(relocation) - window_at;
    const bool is_narrow = (last_word >> 31) != 0;
    if (offset % 4 == 0) {
      window_.SetValue(offset / 4, static_cast<uint32_t>(address));
      if (!is_narrow) window_.SetValue(offset / 4 + 1, static_cast<uint32_t>(address >> 32));
      return;
    }
    for (uint32_t b = 0; b < (is_narrow ? 4U : 8U); ++b) {
      const uint32_t word = (offset + b) / 4;
      const uint32_t shift = (offset + b) % 4 * 8;
      const uint32_t byte = static_cast<uint32_t>(address >> (8 * b)) & 0xFF;
      window_.SetValue(word, (window_.GetValue(word) & ~(0xFFU << shift)) | (byte << shift));
    }
  }

  /// Copies to the core's memory, for scalar code to read; waits until earlier accesses to that memory are done.
  __aicore__ inline void Read(const LocalTensor<uint32_t>& to, GlobalTensor<uint32_t>& from, uint64_t word,
                              uint32_t words) {
    Wait<HardEvent::S_MTE2>();
    Wait<HardEvent::MTE3_MTE2>();
    DataCopy(to, from[word], words);
    Wait<HardEvent::MTE2_S>();
  }
  /// Copies the window back, once scalar code has written it.
  __aicore__ inline void Write(GlobalTensor<uint32_t>& to, uint64_t word, uint32_t words) {
    Wait<HardEvent::S_MTE3>();
    DataCopy(to[word], window_, words);
    Wait<HardEvent::MTE3_S>();
  }
  template <HardEvent event>
  __aicore__ inline void Wait() {
    const event_t id = static_cast<event_t>(GetTPipePtr()->FetchEventID(event));
    SetFlag<event>(id);
    WaitFlag<event>(id);
  }

  uint64_t count_;
  uint64_t base_count_;
  uint64_t first_base_ = 0;
  uint32_t lead_ = 0;
  uint64_t tile_first_ = 0;  // in relocations from the multiple of 64 on
  uint64_t tile_begin_ = 0;  // relocations in the tile
  uint64_t tile_end_ = 0;
  TPipe pipe_;
  GlobalTensor<uint32_t> table_, relocations_, bases_;
  TBuf<TPosition::VECCALC> tile_buffer_, window_buffer_, chunk_buffer_;
  LocalTensor<uint32_t> tile_, window_, chunk_;
};

}  // namespace rondo_refresh_detail

extern "C" __global__ __aicore__ void rondo_refresh(GM_ADDR table, GM_ADDR relocations, uint64_t count, GM_ADDR bases,
                                                    uint64_t base_count, GM_ADDR host_inputs, uint64_t host_input_bytes,
                                                    GM_ADDR host_inputs_to) {
  rondo_refresh_detail::Refresh refresh(table, relocations, count, bases, base_count);
  refresh.Run();
  refresh.CopyHostInputs(host_inputs_to, host_inputs, host_input_bytes);
}
