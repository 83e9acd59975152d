// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

#include "ranks.hpp"

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
#include <stdexcept>
#include <string>
#include <thread>

namespace stand_in::ranks {
namespace {

constexpr std::size_t slot_bytes = 8192;

}  // namespace

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

namespace {

std::atomic<std::uint64_t> collectives{0};
std::atomic<std::uint64_t> patience_ms{rondo_stand_in_usual_patience};

void wait_until(Comm& comm, const std::function<bool()>& holds) {
  const auto begin = std::chrono::steady_clock::now();
  while (!holds()) {
    if (comm.is_aborted) throw std::runtime_error("the communicator was aborted");
    if (std::chrono::steady_clock::now() - begin > std::chrono::milliseconds(patience_ms)) {
      comm.has_failed = true;
      throw std::runtime_error("a rank of the collective does not come");
    }
    std::this_thread::yield();
  }
}

void meet(Comm& c) {
  c.shared->ranks[c.rank].arrived.store(++c.barriers, std::memory_order_release);
  for (std::uint32_t r = 0; r < c.ranks; ++r) {
    wait_until(c, [&] { return c.shared->ranks[r].arrived.load(std::memory_order_acquire) >= c.barriers; });
  }
}

std::size_t bytes_of(std::int64_t type) {
  constexpr std::size_t bytes[] = {1, 2, 4, 2, 4, 8, 8, 1, 2, 4, 8, 2};
  return bytes[type];
}
constexpr std::int64_t float16 = 3, bfloat16 = 11;
constexpr std::int64_t mean = 4;
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
    a = op == 0 || op == mean ? T(a + b) : op == 1 ? T(a * b) : op == 2 ? std::max(a, b) : std::min(a, b);
    std::memcpy(to + at, &a, sizeof(T));
  }
}
/// Divides the sum, for the mean.
template <class T>
void divide_as(std::byte* at, std::size_t bytes, std::uint32_t ranks) {
  for (std::byte* const end = at + bytes; at != end; at += sizeof(T)) {
    T a;
    std::memcpy(&a, at, sizeof(T));
    a = T(a / static_cast<T>(ranks));
    std::memcpy(at, &a, sizeof(T));
  }
}
void divide(std::byte* at, std::size_t bytes, std::int64_t type, std::uint32_t ranks) {
  if (type == 4) divide_as<float>(at, bytes, ranks);
  if (type == 10) divide_as<double>(at, bytes, ranks);
}
void reduce(std::byte* to, const std::byte* from, std::size_t bytes, std::int64_t type, std::int64_t op) {
  if (type == 2) reduce_as<std::int32_t>(to, from, bytes, op);
  if (type == float16) reduce_as<Float16>(to, from, bytes, op);
  if (type == bfloat16) reduce_as<BFloat16>(to, from, bytes, op);
  if (type == 4) reduce_as<float>(to, from, bytes, op);
  if (type == 5) reduce_as<std::int64_t>(to, from, bytes, op);
  if (type == 10) reduce_as<double>(to, from, bytes, op);
}

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
      wait_until(c, [&] { return line.taken.load(std::memory_order_acquire) >= number; });
    } else {
      const std::uint64_t number = line.taken.load(std::memory_order_relaxed) + 1;
      wait_until(c, [&] { return line.sent.load(std::memory_order_acquire) >= number; });
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
      if (w.op == mean) divide(to + at, n, w.type, c.ranks);
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
        if (r == c.ranks - 1 && w.op == mean) divide(part, end - begin, w.type, c.ranks);
      }
    }
    meet(c);
  }
}

}  // namespace

void run(std::int64_t* args) {
  Words w;
  std::memcpy(&w, args, sizeof(w));
  Comm& c = *reinterpret_cast<Comm*>(w.comm);
  auto* const from = reinterpret_cast<std::byte*>(w.from);
  auto* const to = reinterpret_cast<std::byte*>(w.to);
  const std::size_t bytes = static_cast<std::size_t>(w.count) * bytes_of(w.type);
  struct Running {
    explicit Running(Comm& comm) : comm_{comm} { ++comm_.running; }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;
    ~Running() { --comm_.running; }
    Comm& comm_;
  } const running(c);
  if (Kind{w.kind} == Kind::send || Kind{w.kind} == Kind::recv) {
    exchange(c, w, from, to, bytes);
  } else {
    together(c, w, from, to, bytes);
  }
}

Refusal prepare(Words& words, Kind kind, const void* from, void* to, std::uint64_t count, int type, int op,
                std::uint32_t other, Comm* comm, bool is_captured) {
  ++collectives;
  if (comm == nullptr || count == 0 || type < 0 || type > 11 || other >= comm->ranks) return Refusal::parameter;
  if ((kind == Kind::all_reduce || kind == Kind::reduce_scatter) && !can_reduce(type)) return Refusal::unsupported;
  if (!is_captured) comm->warm.insert(kind);
  if (!comm->warm.contains(kind)) return Refusal::not_warm;  // the first run allocates, which a capture refuses
  words = {reinterpret_cast<std::int64_t>(comm),
           static_cast<std::int64_t>(kind),
           reinterpret_cast<std::int64_t>(from),
           reinterpret_cast<std::int64_t>(to),
           static_cast<std::int64_t>(count),
           type,
           op,
           other,
           is_captured ? 1 : 0};
  return Refusal::none;
}

void make_id(void* id, std::size_t size) {
  static std::atomic<int> number{0};
  std::memset(id, 0, size);
  std::snprintf(static_cast<char*>(id), size, "/rondo_ranks_%d_%d", static_cast<int>(getpid()), ++number);
}

std::unique_ptr<Comm> join(const void* id, std::uint32_t ranks, std::uint32_t rank, bool& is_too_late) {
  const auto* const name = static_cast<const char*>(id);
  const int file = shm_open(name, O_RDWR | O_CREAT, 0600);
  if (file < 0 || ftruncate(file, sizeof(Shared)) != 0) return nullptr;
  void* const memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (memory == MAP_FAILED) return nullptr;
  auto comm = std::make_unique<Comm>();
  comm->shared = static_cast<Shared*>(memory);
  comm->rank = rank;
  comm->ranks = ranks;
  comm->shared->joined.fetch_add(1);
  try {
    wait_until(*comm, [&] { return comm->shared->joined.load() == ranks; });
  } catch (const std::exception&) {
    is_too_late = true;
    shm_unlink(name);
    munmap(memory, sizeof(Shared));
    return nullptr;
  }
  if (rank == 0) shm_unlink(name);
  return comm;
}
void abort(Comm& comm) {
  comm.is_aborted = true;
  while (comm.running != 0) std::this_thread::yield();
}
void leave(Comm& comm) { munmap(comm.shared, sizeof(Shared)); }

}  // namespace stand_in::ranks

extern "C" {
std::uint64_t rondo_stand_in_collectives() { return stand_in::ranks::collectives; }
void rondo_stand_in_patience(std::uint64_t ms) { stand_in::ranks::patience_ms = ms; }
}
