// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The part of Ascend C that Rondo's own kernels use, for the host: local memory is host memory, copies are made at
// once, and an operation that the chip would refuse ends the program. The stand-in provides the index of the block.

#include "../control.hpp"  // scalar code reads and writes memory through the core's cache

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#define __global__
#define __aicore__
#define __gm__
using GM_ADDR = std::uint8_t*;
using event_t = int;

#define ASCEND_IS_AIC (rondo_stand_in_core_type() == 0)
#define KERNEL_TASK_TYPE_DEFAULT(type)
enum pipe_t { PIPE_ALL };

namespace AscendC {

enum class TPosition { VECCALC };
enum class HardEvent { MTE2_S, S_MTE2, S_MTE3, MTE3_S, MTE3_MTE2 };

inline void require(bool condition, const char* rule) {
  if (condition) return;
  std::fprintf(stderr, "Ascend C on the host: %s\n", rule);
  std::abort();
}

template <class T>
class LocalTensor {
 public:
  LocalTensor() = default;
  LocalTensor(T* begin, std::uint32_t count) : begin_{begin}, count_{count} {}
  [[nodiscard]] T GetValue(std::uint32_t i) const {
    require(i < count_, "a local tensor is read beyond its end");
    return begin_[i];
  }
  void SetValue(std::uint32_t i, T value) const {
    require(i < count_, "a local tensor is written beyond its end");
    begin_[i] = value;
  }
  [[nodiscard]] LocalTensor operator[](std::uint32_t i) const {
    require(i <= count_ && i * sizeof(T) % 32 == 0, "a part of a local tensor does not begin at a block of 32 bytes");
    return {begin_ + i, count_ - i};
  }
  [[nodiscard]] T* data() const { return begin_; }
  [[nodiscard]] std::uint32_t size() const { return count_; }

 private:
  T* begin_ = nullptr;
  std::uint32_t count_ = 0;
};

template <class T>
class GlobalTensor {
 public:
  void SetGlobalBuffer(T* at) { at_ = at; }
  [[nodiscard]] GlobalTensor operator[](std::uint64_t i) const {
    GlobalTensor part;
    part.at_ = at_ + i;
    return part;
  }
  [[nodiscard]] T* data() const { return at_; }
  [[nodiscard]] T GetValue(std::uint64_t i) const
    requires(sizeof(T) == 8)
  {
    return static_cast<T>(rondo_stand_in_core_load(at_ + i));
  }
  void SetValue(std::uint64_t i, T value)
    requires(sizeof(T) == 8)
  {
    rondo_stand_in_core_store(at_ + i, static_cast<std::uint64_t>(value));
  }

 private:
  T* at_ = nullptr;
};

enum class CacheLine { SINGLE_CACHE_LINE, ENTIRE_DATA_CACHE };
enum class DcciDst { CACHELINE_ALL, CACHELINE_UB, CACHELINE_OUT };
enum class MemDsbT { ALL };
template <class T, CacheLine lines, DcciDst>
void DataCacheCleanAndInvalid(const GlobalTensor<T>& at) {
  if (lines == CacheLine::SINGLE_CACHE_LINE) {
    rondo_stand_in_core_discard(at.data());
  } else {
    rondo_stand_in_core_discard_all();
  }
}
template <MemDsbT>
void DataSyncBarrier() {
  rondo_stand_in_core_barrier();
}
template <pipe_t>
void PipeBarrier() {
  rondo_stand_in_core_wait_for_copies();
}

template <TPosition position>
class TBuf {
 public:
  template <class T>
  [[nodiscard]] LocalTensor<T> Get() const {
    return {reinterpret_cast<T*>(memory_.get()), bytes_ / static_cast<std::uint32_t>(sizeof(T))};
  }

 private:
  friend class TPipe;
  std::unique_ptr<std::byte[]> memory_;
  std::uint32_t bytes_ = 0;
};

class TPipe {
 public:
  template <TPosition position>
  void InitBuffer(TBuf<position>& buffer, std::uint32_t bytes) {
    used_ += bytes;
    require(used_ <= 183 * 1024, "the local memory is full");
    buffer.memory_ = std::make_unique<std::byte[]>(bytes);
    buffer.bytes_ = bytes;
  }
  [[nodiscard]] int FetchEventID(HardEvent) const { return 0; }

 private:
  std::uint32_t used_ = 0;
};
inline TPipe* GetTPipePtr() {
  static TPipe pipe;
  return &pipe;
}

template <HardEvent event>
void SetFlag(event_t) {}
template <HardEvent event>
void WaitFlag(event_t) {}

template <class T>
void DataCopy(const LocalTensor<T>& to, const GlobalTensor<T>& from, std::uint32_t count) {
  require(count * sizeof(T) % 32 == 0, "a copy is not of whole blocks of 32 bytes");
  require(count <= to.size(), "a copy leaves its local tensor");
  std::memcpy(to.data(), static_cast<const void*>(from.data()), count * sizeof(T));
}
template <class T>
void DataCopy(const GlobalTensor<T>& to, const LocalTensor<T>& from, std::uint32_t count) {
  require(count * sizeof(T) % 32 == 0, "a copy is not of whole blocks of 32 bytes");
  require(count <= from.size(), "a copy leaves its local tensor");
  rondo_stand_in_core_copy(to.data(), from.data(), count * sizeof(T));
}

/// Blocks of any number of bytes; here, one block.
struct DataCopyExtParams {
  std::uint16_t blocks;
  std::uint32_t bytes;
  std::uint32_t source_gap;
  std::uint32_t target_gap;
  std::uint32_t reserved;
};
template <class T>
void DataCopyPad(const GlobalTensor<T>& to, const LocalTensor<T>& from, const DataCopyExtParams& params) {
  require(params.blocks == 1, "this Ascend C copies one block");
  require(params.bytes <= from.size() * sizeof(T), "a copy leaves its local tensor");
  rondo_stand_in_core_copy(to.data(), from.data(), params.bytes);
}

template <class T>
void Muls(const LocalTensor<T>& to, const LocalTensor<T>& from, T factor, std::int32_t count) {
  for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(count); ++i) to.SetValue(i, from.GetValue(i) * factor);
}
template <class T>
void Add(const LocalTensor<T>& to, const LocalTensor<T>& a, const LocalTensor<T>& b, std::int32_t count) {
  for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(count); ++i) to.SetValue(i, a.GetValue(i) + b.GetValue(i));
}

inline std::int64_t GetBlockIdx() { return rondo_stand_in_block_index(); }
inline std::int64_t GetBlockNum() { return rondo_stand_in_block_count(); }

}  // namespace AscendC
