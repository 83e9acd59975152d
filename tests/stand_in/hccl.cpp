// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// A stand-in for the vendor's library of collectives, libhccl.so: it joins processes by shared memory, each with a
// stand-in of the runtime of its own. A collective is a kernel on the stream that it is given, so it is captured, waits
// for the other ranks on the device, and fails there if they do not come.

#include "hccl.hpp"

#include "control.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>

extern "C" {
int aclrtBinaryLoadFromData(const void* data, std::size_t size, const void* options, void** handle);
int aclrtBinaryUnLoad(void* handle);
int aclrtBinaryGetFunction(void* handle, const char* name, void** function);
int aclrtLaunchKernelWithHostArgs(void* function, std::uint32_t blocks, void* on, const void* config, void* args,
                                  std::size_t size, const void* placeholders, std::size_t count);
int aclmdlRICaptureGetInfo(void* on, int* status, void** instance);
}

namespace {

enum class Kind : std::int64_t { all_reduce, all_gather, reduce_scatter, broadcast, send, recv };

constexpr std::uint32_t most_ranks = 8;
constexpr std::size_t slot_bytes = 8192;
constexpr std::size_t root_info_bytes = 4108;
constexpr int parameter = 1, internal = 4, unsupported = 5, timeout = 9;

std::atomic<std::uint64_t> collectives{0};
std::atomic<std::uint64_t> patience_ms{rondo_stand_in_hccl_usual_patience};

/// The memory that the ranks of a communicator share.
struct Shared {
  std::atomic<std::uint32_t> joined;
  struct Rank {
    std::atomic<std::uint64_t> arrived;  ///< the number of barriers that it has reached
    std::int64_t kind, count, type;      ///< the collective that it is in
    std::int64_t is_captured;
    std::byte slot[slot_bytes];
  } ranks[most_ranks];
  struct Line {
    std::atomic<std::uint64_t> sent, taken;
    std::uint64_t bytes;
    std::int64_t is_captured;
    std::byte slot[slot_bytes];
  } lines[most_ranks][most_ranks];  ///< from, to
};

struct Comm {
  Shared* shared = nullptr;
  std::uint32_t rank = 0;
  std::uint32_t ranks = 0;
  void* binary = nullptr;
  void* function = nullptr;
  std::set<Kind> warm;  ///< the kinds that have run outside of a capture
  std::uint64_t barriers = 0;
};

void wait_until(const std::function<bool()>& holds) {
  const auto begin = std::chrono::steady_clock::now();
  while (!holds()) {
    if (std::chrono::steady_clock::now() - begin > std::chrono::milliseconds(patience_ms)) {
      throw std::runtime_error("a rank of the collective does not come");
    }
    std::this_thread::yield();
  }
}

void meet(Comm& c) {
  c.shared->ranks[c.rank].arrived.store(++c.barriers, std::memory_order_release);
  for (std::uint32_t r = 0; r < c.ranks; ++r) {
    wait_until([&] { return c.shared->ranks[r].arrived.load(std::memory_order_acquire) >= c.barriers; });
  }
}

std::size_t bytes_of(std::int64_t type) {
  constexpr std::size_t bytes[] = {1, 2, 4, 2, 4, 8, 8, 1, 2, 4, 8, 2};
  return bytes[type];
}
constexpr std::int64_t float16 = 3, bfloat16 = 11;
bool can_reduce(std::int64_t type) {
  return type == 2 || type == float16 || type == 4 || type == 5 || type == 10 || type == bfloat16;
}

/// The elements of 16 bits, in which a reduction rounds each step towards zero; small integers are exact.
template <int exponent_bits>
struct Half {
  static constexpr int fraction_bits = 15 - exponent_bits;
  static constexpr int bias = (1 << (exponent_bits - 1)) - 1;
  std::uint16_t bits = 0;

  Half() = default;
  explicit Half(float value) {
    int exponent = 0;
    const float fraction = std::frexp(std::fabs(value), &exponent);  // from 0.5 to 1
    if (fraction != 0) {
      const auto digits = static_cast<std::uint32_t>(std::ldexp(fraction, fraction_bits + 1));
      const auto biased = static_cast<std::uint32_t>(exponent - 1 + bias);
      bits = static_cast<std::uint16_t>((biased << fraction_bits) + (digits - (1U << fraction_bits)));
    }
    if (value < 0) bits |= 0x8000U;
  }
  operator float() const {  // NOLINT(google-explicit-constructor): it calculates as a float does
    const int exponent = (bits & 0x7FFFU) >> fraction_bits;
    const auto digits = static_cast<float>((bits & ((1U << fraction_bits) - 1)) + (1U << fraction_bits));
    const float value = exponent == 0 ? 0 : std::ldexp(digits, exponent - bias - fraction_bits);
    return (bits & 0x8000U) != 0 ? -value : value;
  }
};
using Float16 = Half<5>;
using BFloat16 = Half<8>;

template <class T>
void reduce_as(std::byte* to, const std::byte* from, std::size_t bytes, std::int64_t op) {
  for (std::size_t at = 0; at < bytes; at += sizeof(T)) {
    T a, b;
    std::memcpy(&a, to + at, sizeof(T));
    std::memcpy(&b, from + at, sizeof(T));
    a = op == 0 ? T(a + b) : op == 1 ? T(a * b) : op == 2 ? std::max(a, b) : std::min(a, b);
    std::memcpy(to + at, &a, sizeof(T));
  }
}
void reduce(std::byte* to, const std::byte* from, std::size_t bytes, std::int64_t type, std::int64_t op) {
  if (type == 2) reduce_as<std::int32_t>(to, from, bytes, op);
  if (type == float16) reduce_as<Float16>(to, from, bytes, op);
  if (type == bfloat16) reduce_as<BFloat16>(to, from, bytes, op);
  if (type == 4) reduce_as<float>(to, from, bytes, op);
  if (type == 5) reduce_as<std::int64_t>(to, from, bytes, op);
  if (type == 10) reduce_as<double>(to, from, bytes, op);
}

/// The words of a launch.
struct Words {
  std::int64_t comm, kind, from, to, count, type, op, other, is_captured;
};

/// On a device, ranks of which only some run a captured graph wait for each other forever.
void check_captures(std::int64_t one, std::int64_t other) {
  if (one != other) throw std::runtime_error("a captured collective meets one that is not captured");
}

void exchange(Comm& c, const Words& w, std::byte* from, std::byte* to, std::size_t bytes) {
  const bool sends = Kind{w.kind} == Kind::send;
  auto& line = c.shared->lines[sends ? c.rank : w.other][sends ? w.other : c.rank];
  for (std::size_t at = 0; at < bytes; at += slot_bytes) {
    const std::size_t n = std::min(slot_bytes, bytes - at);
    if (sends) {
      line.bytes = bytes;
      line.is_captured = w.is_captured;
      std::memcpy(line.slot, from + at, n);
      const std::uint64_t number = line.sent.fetch_add(1, std::memory_order_release) + 1;
      wait_until([&] { return line.taken.load(std::memory_order_acquire) >= number; });
    } else {
      const std::uint64_t number = line.taken.load(std::memory_order_relaxed) + 1;
      wait_until([&] { return line.sent.load(std::memory_order_acquire) >= number; });
      check_captures(line.is_captured, w.is_captured);
      if (line.bytes != bytes) throw std::runtime_error("a send and its recv differ in size");
      std::memcpy(to + at, line.slot, n);
      line.taken.store(number, std::memory_order_release);
    }
  }
}

void together(Comm& c, const Words& w, std::byte* from, std::byte* to, std::size_t bytes) {
  auto& own = c.shared->ranks[c.rank];
  own.kind = w.kind, own.count = w.count, own.type = w.type, own.is_captured = w.is_captured;
  meet(c);
  for (std::uint32_t r = 0; r < c.ranks; ++r) {
    const auto& other = c.shared->ranks[r];
    check_captures(other.is_captured, w.is_captured);
    if (other.kind != w.kind || other.count != w.count || other.type != w.type) {
      throw std::runtime_error("the ranks are at different collectives");
    }
  }
  const Kind kind{w.kind};
  const std::size_t whole = kind == Kind::reduce_scatter ? bytes * c.ranks : bytes;  // the elements of each rank
  for (std::size_t at = 0; at < whole; at += slot_bytes) {
    const std::size_t n = std::min(slot_bytes, whole - at);
    std::memcpy(own.slot, from + at, n);
    meet(c);
    const auto slot = [&](std::uint32_t r) { return c.shared->ranks[r].slot; };
    if (kind == Kind::all_reduce) {
      std::memcpy(to + at, slot(0), n);
      for (std::uint32_t r = 1; r < c.ranks; ++r) reduce(to + at, slot(r), n, w.type, w.op);
    } else if (kind == Kind::all_gather) {
      for (std::uint32_t r = 0; r < c.ranks; ++r) std::memcpy(to + r * bytes + at, slot(r), n);
    } else if (kind == Kind::broadcast) {
      std::memcpy(to + at, slot(static_cast<std::uint32_t>(w.other)), n);
    } else {  // the part of this rank that is in the slots
      const std::size_t begin = std::max(at, c.rank * bytes), end = std::min(at + n, (c.rank + 1) * bytes);
      for (std::uint32_t r = 0; r < c.ranks && begin < end; ++r) {
        std::byte* const part = to + (begin - c.rank * bytes);
        if (r == 0) std::memcpy(part, slot(r) + (begin - at), end - begin);
        if (r != 0) reduce(part, slot(r) + (begin - at), end - begin, w.type, w.op);
      }
    }
    meet(c);
  }
}

void run(std::int64_t* args) {
  Words w;
  std::memcpy(&w, args, sizeof(w));
  Comm& c = *reinterpret_cast<Comm*>(w.comm);
  auto* const from = reinterpret_cast<std::byte*>(w.from);
  auto* const to = reinterpret_cast<std::byte*>(w.to);
  const std::size_t bytes = static_cast<std::size_t>(w.count) * bytes_of(w.type);
  if (Kind{w.kind} == Kind::send || Kind{w.kind} == Kind::recv) {
    exchange(c, w, from, to, bytes);
  } else {
    together(c, w, from, to, bytes);
  }
}

int launch(Kind kind, void* from, void* to, std::uint64_t count, int type, int op, std::uint32_t other, void* comm,
           void* stream) {
  ++collectives;
  auto* const c = static_cast<Comm*>(comm);
  if (c == nullptr || count == 0 || type < 0 || type > 11 || other >= c->ranks) return parameter;
  if ((kind == Kind::all_reduce || kind == Kind::reduce_scatter) && !can_reduce(type)) return unsupported;
  int status = 0;
  void* graph = nullptr;
  if (aclmdlRICaptureGetInfo(stream, &status, &graph) != 0) return internal;
  if (status == 0) c->warm.insert(kind);
  if (!c->warm.contains(kind)) return internal;  // the first run connects and allocates, which a capture refuses
  Words w{reinterpret_cast<std::int64_t>(c),
          static_cast<std::int64_t>(kind),
          reinterpret_cast<std::int64_t>(from),
          reinterpret_cast<std::int64_t>(to),
          static_cast<std::int64_t>(count),
          type,
          op,
          other,
          status};
  return aclrtLaunchKernelWithHostArgs(c->function, 1, stream, nullptr, &w, sizeof(w), nullptr, 0) == 0 ? 0 : internal;
}

}  // namespace

extern "C" {

std::uint64_t rondo_stand_in_hccl_calls() { return collectives; }
void rondo_stand_in_hccl_patience(std::uint64_t ms) { patience_ms = ms; }

int HcclGetRootInfo(void* info) {
  static std::atomic<int> number{0};
  std::memset(info, 0, root_info_bytes);
  std::snprintf(static_cast<char*>(info), root_info_bytes, "/rondo_hccl_%d_%d", static_cast<int>(getpid()), ++number);
  return 0;
}

int HcclCommInitRootInfo(std::uint32_t ranks, const void* info, std::uint32_t rank, void** comm) {
  if (rank >= ranks || ranks > most_ranks) return parameter;
  const auto* const name = static_cast<const char*>(info);
  const int file = shm_open(name, O_RDWR | O_CREAT, 0600);
  if (file < 0 || ftruncate(file, sizeof(Shared)) != 0) return internal;
  void* const memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (memory == MAP_FAILED) return internal;
  auto* const c = new Comm;
  c->shared = static_cast<Shared*>(memory);
  c->rank = rank;
  c->ranks = ranks;
  c->shared->joined.fetch_add(1);
  try {
    wait_until([&] { return c->shared->joined.load() == ranks; });
  } catch (const std::exception&) {
    shm_unlink(name);
    munmap(memory, sizeof(Shared));
    delete c;
    return timeout;
  }
  if (rank == 0) shm_unlink(name);
  stand_in::Binary binary;
  binary.add("hccl", &run);
  const std::vector<std::byte> bytes = binary.bytes();
  if (aclrtBinaryLoadFromData(bytes.data(), bytes.size(), nullptr, &c->binary) != 0) return internal;
  if (aclrtBinaryGetFunction(c->binary, "hccl", &c->function) != 0) return internal;
  *comm = c;
  return 0;
}
int HcclCommDestroy(void* comm) {
  auto* const c = static_cast<Comm*>(comm);
  (void)aclrtBinaryUnLoad(c->binary);
  munmap(c->shared, sizeof(Shared));
  delete c;
  return 0;
}

int HcclAllReduce(void* from, void* to, std::uint64_t count, int type, int op, void* comm, void* stream) {
  return launch(Kind::all_reduce, from, to, count, type, op, 0, comm, stream);
}
int HcclAllGather(void* from, void* to, std::uint64_t count, int type, void* comm, void* stream) {
  return launch(Kind::all_gather, from, to, count, type, 0, 0, comm, stream);
}
int HcclReduceScatter(void* from, void* to, std::uint64_t count, int type, int op, void* comm, void* stream) {
  return launch(Kind::reduce_scatter, from, to, count, type, op, 0, comm, stream);
}
int HcclBroadcast(void* memory, std::uint64_t count, int type, std::uint32_t root, void* comm, void* stream) {
  return launch(Kind::broadcast, memory, memory, count, type, 0, root, comm, stream);
}
int HcclSend(void* memory, std::uint64_t count, int type, std::uint32_t to, void* comm, void* stream) {
  return launch(Kind::send, memory, memory, count, type, 0, to, comm, stream);
}
int HcclRecv(void* memory, std::uint64_t count, int type, std::uint32_t from, void* comm, void* stream) {
  return launch(Kind::recv, memory, memory, count, type, 0, from, comm, stream);
}
const char* HcclGetErrorString(int code) {
  switch (code) {
    case 0: return "no error";
    case parameter: return "parameter error";
    case internal: return "internal error";
    case unsupported: return "feature not supported";
    case timeout: return "connect timeout";
    default: return "unknown error";
  }
}
}
