// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "machine.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

/// The device's memory as cores and the AICPU see it: each has its own cached lines, which writes of the others reach
/// only after both sides have made the cache operations that the device's documentation requires.
namespace stand_in {

inline constexpr std::size_t line_bytes = 64;
using LineBytes = std::array<std::byte, line_bytes>;

/// Thrown in a core's thread when its kernel is ended.
struct Ended {};

/// Lines that were written back and have not arrived yet. None arrives before the next barrier, and then the line that
/// was written last arrives first.
class Postings {
 public:
  void post(std::uintptr_t line, const LineBytes& bytes) { posted_.emplace_back(line, bytes); }
  [[nodiscard]] const LineBytes* find(std::uintptr_t line) const;
  [[nodiscard]] std::vector<std::pair<std::uintptr_t, LineBytes>> take() { return std::exchange(posted_, {}); }

 private:
  std::vector<std::pair<std::uintptr_t, LineBytes>> posted_;
};

/// A cube or vector core that runs a kernel: a cache of lines that stay as they were until they are discarded. When the
/// kernel starts, the cache has an old copy of every line.
class CoreCache {
 public:
  explicit CoreCache(const std::atomic<bool>& is_ended) : is_ended_{is_ended} {}
  [[nodiscard]] std::uint64_t load(std::uintptr_t at);
  void store(std::uintptr_t at, std::uint64_t value);
  void discard(std::uintptr_t at);
  void discard_all();
  void barrier();
  /// Makes a copy, which arrives when the core waits for it.
  void copy(std::byte* to, const std::byte* from, std::size_t size);
  void wait_for_copies();
  void check() const;

 private:
  struct Line {
    LineBytes bytes;
    bool is_dirty = false;
  };
  Line& line(std::uintptr_t at);

  const std::atomic<bool>& is_ended_;
  std::unordered_map<std::uintptr_t, Line> lines_;
  std::set<std::uintptr_t> discarded_;
  bool has_discarded_all_ = false;
  Postings postings_;
  std::vector<std::pair<std::byte*, std::vector<std::byte>>> copies_;
  std::unordered_map<std::uintptr_t, LineBytes> last_fills_;
  int idle_ = 0;  ///< lines that were read again and had not changed
};

/// Runs a kernel on blocks of one cube and two vector cores, each a thread. @returns a code
int run_on_cores(const Op& op, std::string& text);
/// Notes that the host wrote device memory at `at`, which the AICPU sees on a5; `inside` holds the new bytes.
void host_wrote(const std::byte* inside, const std::byte* at, std::size_t size);
/// Sets a limit of the caches: "aicpu_sees_cores", "cores_see_aicpu", "slow_writes".
void set_cache_limit(const std::string& name, std::uint64_t value);
void reset_cache_limits();

}  // namespace stand_in
