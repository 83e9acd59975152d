// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Rondo's kernel that decides about loops on the device, in Ascend C, for vector cores of a2a3 and a5. Compile it with
// the vendor's compiler, like your own kernels, and list it among Options::kernels; docs/loops.md shows how.
//
// A conditional task of a captured graph runs its body while a word is not 0. This kernel writes that word:
//
//   step 0, before an `if`:              word = the condition holds ? 1 : 0
//   step 1, before a loop:               word = the most repetitions
//   step 2, at the end of a repetition:  word = the condition holds ? 0 : word - 1
//
// `block` is the argument block of the decision: the address of the condition, its size in bytes, and the most
// repetitions, 8 bytes each. The condition holds if one of its bytes is not 0; it does not cross a multiple of 64.
// Block and word begin at multiples of 8. Memory is read in lines of 64 bytes, and only the word is written.

#include "kernel_operator.h"

namespace rondo_decide_detail {

using namespace AscendC;

constexpr uint32_t line = 64;

class Decide {
 public:
  __aicore__ inline Decide(GM_ADDR block, GM_ADDR word) : word_at_(word) {
    pipe_.InitBuffer(buffer_, 2 * line);
    local_ = buffer_.Get<uint32_t>();
    for (uint32_t i = 0; i < 3; ++i) block_[i] = Word(block + 8 * i);
  }

  __aicore__ inline void Run(uint64_t step) {
    uint64_t word = 0;
    if (step == 0) word = Holds() ? 1 : 0;
    if (step == 1) word = block_[2];
    if (step == 2) word = Holds() ? 0 : Word(word_at_) - 1;
    Write(word);
  }

 private:
  __aicore__ inline bool Holds() {
    const uint64_t address = block_[0];
    Read(reinterpret_cast<GM_ADDR>(address - address % line));
    uint32_t any = 0;
    for (uint32_t i = 0; i < static_cast<uint32_t>(block_[1]); ++i) {
      const uint32_t at = static_cast<uint32_t>(address % line) + i;
      any |= local_.GetValue(at / 4) >> (at % 4 * 8) & 0xFF;
    }
    return any != 0;
  }
  __aicore__ inline uint64_t Word(GM_ADDR at) {
    const uint64_t address = reinterpret_cast<uint64_t>(at);
    Read(reinterpret_cast<GM_ADDR>(address - address % line));
    const uint32_t i = static_cast<uint32_t>(address % line) / 4;
    return static_cast<uint64_t>(local_.GetValue(i + 1)) << 32 | local_.GetValue(i);
  }

  /// Copies a line to the core's memory, for scalar code to read, when that has read the line before.
  __aicore__ inline void Read(GM_ADDR from) {
    GlobalTensor<uint32_t> source;
    source.SetGlobalBuffer(reinterpret_cast<__gm__ uint32_t*>(from));
    Wait<HardEvent::S_MTE2>();
    DataCopy(local_, source, line / 4);
    Wait<HardEvent::MTE2_S>();
  }
  __aicore__ inline void Write(uint64_t word) {
    const LocalTensor<uint32_t> from = buffer_.Get<uint32_t>()[line / 4];
    from.SetValue(0, static_cast<uint32_t>(word));
    from.SetValue(1, static_cast<uint32_t>(word >> 32));
    GlobalTensor<uint32_t> target;
    target.SetGlobalBuffer(reinterpret_cast<__gm__ uint32_t*>(word_at_));
    Wait<HardEvent::S_MTE3>();
    DataCopyPad(target, from, DataCopyExtParams{1, 8, 0, 0, 0});
  }
  template <HardEvent event>
  __aicore__ inline void Wait() {
    const event_t id = static_cast<event_t>(GetTPipePtr()->FetchEventID(event));
    SetFlag<event>(id);
    WaitFlag<event>(id);
  }

  GM_ADDR word_at_;
  uint64_t block_[3];
  TPipe pipe_;
  TBuf<TPosition::VECCALC> buffer_;
  LocalTensor<uint32_t> local_;
};

}  // namespace rondo_decide_detail

extern "C" __global__ __aicore__ void rondo_decide(GM_ADDR block, GM_ADDR word, uint64_t step) {
  rondo_decide_detail::Decide decide(block, word);
  decide.Run(step);
}
