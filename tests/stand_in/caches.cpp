// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include "caches.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

namespace stand_in {
namespace {

thread_local CoreCache* core_of_thread = nullptr;
thread_local int type_of_thread = 1;  ///< 0: cube, 1: vector

std::uintptr_t line_of(std::uintptr_t at) { return at / line_bytes * line_bytes; }
std::uint64_t word_of(const LineBytes& bytes, std::uintptr_t at) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes.data() + at % line_bytes, sizeof(word));
  return word;
}

/// The AICPU. It sees what cores write back, and what the host writes once it has invalidated its lines (on a5 at
/// once); until then it has an old copy of every line. A load may be made as early as the barrier before it,
/// unless the same word was loaded before.
class AicpuCache {
 public:
  std::uint64_t load(std::uintptr_t at) {
    Line& l = line(at);
    const bool is_again = l.last == at % line_bytes;
    l.last = at % line_bytes;
    return word_of(is_again ? l.visible : l.early, at);
  }
  void load_barrier() {
    for (auto& [at, l] : lines_) {
      l.early = l.visible;
      l.last = none;
    }
  }
  void store(std::uintptr_t at, std::uint64_t value) {
    Line& l = line(at);
    std::memcpy(l.visible.data() + at % line_bytes, &value, sizeof(value));
    std::memcpy(l.early.data() + at % line_bytes, &value, sizeof(value));
    l.is_dirty = true;
  }
  void clean(std::uintptr_t at) {
    Line& l = line(at);
    if (l.is_dirty) postings.post(line_of(at), l.visible);
    l.is_dirty = false;
  }
  void invalidate(std::uintptr_t at) {
    if (!sees_cores) return;
    clean(at);
    lines_.erase(line_of(at));
    invalidated_.insert(line_of(at));
  }
  void snoop(std::uintptr_t at, const LineBytes& bytes) {
    if (const auto found = lines_.find(at); found != lines_.end() && !found->second.is_dirty) {
      found->second.visible = bytes;
    }
  }
  /// Keeps the bytes of a line as they are now; for a line that it will not see change.
  void keep(std::uintptr_t at) { (void)line(at); }
  void snoop_host(std::uintptr_t at, const std::byte* bytes) {
    if (const auto found = lines_.find(at); found != lines_.end()) {
      std::memcpy(found->second.visible.data(), bytes, line_bytes);
    }
  }

  Postings postings;
  std::set<std::uintptr_t> discarded;
  std::set<std::uintptr_t> written_back;
  bool sees_cores = true;
  bool sees_host = false;
  bool is_seen = true;
  bool is_unheard = false;    ///< it has written back what the cores do not see
  std::uint64_t look_ns = 0;  ///< by how much its clock passes with each look, whatever the cores do
  bool is_slow = false;
  std::uint64_t now_ns = 0;  ///< its clock
  static constexpr std::uint64_t step_ns = 10'000'000;

 private:
  static constexpr std::size_t none = line_bytes;
  struct Line {
    LineBytes visible;        ///< the bytes of a load that is made now
    LineBytes early;          ///< the bytes of a load that was made at the last barrier
    std::size_t last = none;  ///< the word that was loaded last, if there was no barrier since
    bool is_dirty = false;
  };
  Line& line(std::uintptr_t at) {
    const auto [found, is_new] = lines_.try_emplace(line_of(at));
    if (is_new) {
      if (sees_host || !sees_cores || invalidated_.contains(line_of(at))) {
        std::memcpy(found->second.visible.data(), reinterpret_cast<const void*>(line_of(at)), line_bytes);
      } else {
        found->second.visible.fill(std::byte{0xEE});
      }
      found->second.early = found->second.visible;
    }
    return found->second;
  }
  std::unordered_map<std::uintptr_t, Line> lines_;
  std::set<std::uintptr_t> invalidated_;
};

/// The memory and the caches, which all threads share.
struct Bus {
  std::mutex mutex;
  AicpuCache aicpu;

  static Bus& instance() {
    static Bus& bus = *new Bus;
    return bus;
  }
  /// Makes the lines that were written back arrive in memory.
  void arrive(Postings& postings, bool is_of_core) {
    std::unique_lock lock{mutex};
    auto all = postings.take();
    for (std::size_t left = all.size(); left-- != 0;) {
      const auto& [at, bytes] = all[left];
      if (!is_of_core && !aicpu.is_seen) {
        aicpu.is_unheard = true;
        continue;
      }
      if (is_of_core && !aicpu.sees_cores) aicpu.keep(at);
      std::memcpy(reinterpret_cast<void*>(at), bytes.data(), line_bytes);
      if (is_of_core && aicpu.sees_cores) aicpu.snoop(at, bytes);
      if (!aicpu.is_slow || left + 1 != all.size() || left == 0) continue;
      lock.unlock();
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      lock.lock();
    }
  }
};

}  // namespace

const LineBytes* Postings::find(std::uintptr_t line) const {
  const auto found =
      std::find_if(posted_.rbegin(), posted_.rend(), [&](const auto& each) { return each.first == line; });
  return found == posted_.rend() ? nullptr : &found->second;
}

void CoreCache::check() const {
  if (is_ended_.load(std::memory_order_acquire)) throw Ended{};
}

CoreCache::Line& CoreCache::line(std::uintptr_t at) {
  const auto [found, is_new] = lines_.try_emplace(line_of(at));
  if (!is_new) return found->second;
  LineBytes& bytes = found->second.bytes;
  if (!has_discarded_all_ && !discarded_.contains(line_of(at))) {
    bytes.fill(std::byte{0xEE});
    return found->second;
  }
  if (const LineBytes* const posted = postings_.find(line_of(at)); posted != nullptr) {
    bytes = *posted;
  } else {
    const std::lock_guard lock{Bus::instance().mutex};
    std::memcpy(bytes.data(), reinterpret_cast<const void*>(line_of(at)), line_bytes);
  }
  const auto [last, is_first] = last_fills_.try_emplace(line_of(at), bytes);
  idle_ = !is_first && last->second == bytes ? idle_ + 1 : 0;
  last->second = bytes;
  return found->second;
}

std::uint64_t CoreCache::load(std::uintptr_t at) {
  check();
  return word_of(line(at).bytes, at);
}
void CoreCache::store(std::uintptr_t at, std::uint64_t value) {
  check();
  Line& l = line(at);
  std::memcpy(l.bytes.data() + at % line_bytes, &value, sizeof(value));
  l.is_dirty = true;
}
void CoreCache::discard(std::uintptr_t at) {
  check();
  if (idle_ > 8) std::this_thread::sleep_for(std::chrono::microseconds(20));
  if (!has_discarded_all_) discarded_.insert(line_of(at));
  const auto found = lines_.find(line_of(at));
  if (found == lines_.end()) return;
  if (found->second.is_dirty) postings_.post(found->first, found->second.bytes);
  lines_.erase(found);
}
void CoreCache::discard_all() {
  for (const auto& [at, l] : lines_) {
    if (l.is_dirty) postings_.post(at, l.bytes);
  }
  lines_.clear();
  has_discarded_all_ = true;
}
void CoreCache::barrier() { Bus::instance().arrive(postings_, true); }
void CoreCache::copy(std::byte* to, const std::byte* from, std::size_t size) {
  copies_.emplace_back(to, std::vector<std::byte>(from, from + size));
}
void CoreCache::wait_for_copies() {
  const std::lock_guard lock{Bus::instance().mutex};
  for (const auto& [to, bytes] : copies_) std::memcpy(to, bytes.data(), bytes.size());
  copies_.clear();
}

namespace {

/// The cores that kernels on cube and vector cores hold: for each block a cube core with its two vector cores.
class HeldCores {
 public:
  /// Waits until a core is free, and holds it. @returns false if the kernel must end first
  bool take(const std::atomic<bool>& is_ended) {
    std::unique_lock lock{mutex_};
    while (!is_ended.load(std::memory_order_acquire)) {
      if (held_ < cores_of_machine()) return ++held_, true;
      changed_.wait_until(lock, std::chrono::system_clock::now() + std::chrono::milliseconds(1));
    }
    return false;
  }
  void give_back() {
    const std::lock_guard lock{mutex_};
    --held_;
    changed_.notify_all();
  }

 private:
  static std::uint32_t cores_of_machine() {
    const std::lock_guard lock{Machine::instance().mutex};
    return Machine::instance().cores;
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint32_t held_ = 0;
};
HeldCores held_cores;

}  // namespace

int run_on_cores(const Op& op, std::string& text) {
  const auto* const args = op.bytes.empty() ? op.from : op.bytes.data();
  const std::shared_ptr<std::atomic<bool>> is_ended = op.is_ended;
  std::mutex mutex;
  std::condition_variable done;
  std::uint32_t left = 0;
  std::vector<std::atomic<int>> left_of_block(op.blocks);
  int code = ok;
  const auto work = [&](int type, std::uint32_t index) {
    const Inside inside;
    CoreCache cache(*is_ended);
    core_of_thread = &cache;
    type_of_thread = type;
    block_index = index;
    block_count = op.blocks;
    std::string failed;
    try {
      op.function->kernel(reinterpret_cast<std::int64_t*>(const_cast<std::byte*>(args)));
      cache.wait_for_copies();  // when a kernel has ended, all of its writes have arrived
      cache.discard_all();
      cache.barrier();
    } catch (const Ended&) {  // NOLINT(bugprone-empty-catch): the code that ended it gives the reason
    } catch (const std::exception& e) {
      failed = e.what();
    } catch (...) {
      failed = "an exception of unknown type";
    }
    const std::lock_guard lock{mutex};
    if (!failed.empty() && code == ok) {  // an exception of one core ends the kernel
      code = kernel_exception;
      text = failed;
      is_ended->store(true, std::memory_order_release);
    }
    if (--left_of_block[type == 0 ? index : index / 2] == 0) held_cores.give_back();
    --left;
    done.notify_all();
  };
  std::vector<std::thread> threads;
  for (std::uint32_t b = 0; b < op.blocks && held_cores.take(*is_ended); ++b) {
    left_of_block[b] = 3;
    {
      const std::lock_guard lock{mutex};
      left += 3;
    }
    threads.emplace_back(work, 0, b);
    threads.emplace_back(work, 1, 2 * b);
    threads.emplace_back(work, 1, 2 * b + 1);
  }
  {
    std::unique_lock lock{mutex};
    const auto is_over = [&] { return left == 0; };
    if (op.timeout_us == 0) {
      done.wait(lock, is_over);
    } else if (!done.wait_until(lock, std::chrono::system_clock::now() + std::chrono::microseconds(op.timeout_us),
                                is_over)) {
      code = kernel_timed_out;
      text = "the kernel ran longer than it may";
      is_ended->store(true, std::memory_order_release);
    }
  }
  for (std::thread& thread : threads) thread.join();
  return code;
}

void host_wrote(const std::byte* inside, const std::byte* at, std::size_t size) {
  const auto begin = reinterpret_cast<std::uintptr_t>(at);
  const std::lock_guard lock{Bus::instance().mutex};
  for (std::uintptr_t line = line_of(begin); line < begin + size; line += line_bytes) {
    Bus::instance().aicpu.snoop_host(line, inside + static_cast<std::ptrdiff_t>(line - begin));
  }
}

void set_cache_limit(const std::string& name, std::uint64_t value) {
  const std::lock_guard lock{Bus::instance().mutex};
  AicpuCache& aicpu = Bus::instance().aicpu;
  if (name == "aicpu_sees_cores") aicpu.sees_cores = value != 0;
  if (name == "aicpu_sees_host") aicpu.sees_host = value != 0;
  if (name == "cores_see_aicpu") {
    aicpu.is_seen = value != 0;
    aicpu.is_unheard = false;
  }
  if (name == "slow_writes") aicpu.is_slow = value != 0;
  if (name == "aicpu_look_ms") aicpu.look_ns = value * 1'000'000;
}
void reset_cache_limits() {
  {
    const std::lock_guard lock{Bus::instance().mutex};
    Bus::instance().aicpu.discarded.clear();
    Bus::instance().aicpu.written_back.clear();
  }
  for (const char* const name : {"aicpu_sees_cores", "cores_see_aicpu"}) set_cache_limit(name, 1);
  for (const char* const name : {"slow_writes", "aicpu_look_ms"}) set_cache_limit(name, 0);
}

}  // namespace stand_in

using stand_in::Bus;
using stand_in::core_of_thread;

namespace {
std::uintptr_t address(const void* p) { return reinterpret_cast<std::uintptr_t>(p); }
}  // namespace

std::uint64_t rondo_stand_in_core_load(const void* at) { return core_of_thread->load(address(at)); }
void rondo_stand_in_core_store(void* at, std::uint64_t value) { core_of_thread->store(address(at), value); }
void rondo_stand_in_core_discard(const void* at) { core_of_thread->discard(address(at)); }
void rondo_stand_in_core_discard_all() { core_of_thread->discard_all(); }
void rondo_stand_in_core_barrier() { core_of_thread->barrier(); }
void rondo_stand_in_core_copy(void* to, const void* from, std::size_t size) {
  if (core_of_thread == nullptr) {
    std::memcpy(to, from, size);
  } else {
    core_of_thread->copy(static_cast<std::byte*>(to), static_cast<const std::byte*>(from), size);
  }
}
void rondo_stand_in_core_wait_for_copies() { core_of_thread->wait_for_copies(); }
void rondo_stand_in_core_idle() {
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  {
    const std::lock_guard lock{Bus::instance().mutex};
    Bus::instance().aicpu.now_ns += stand_in::AicpuCache::step_ns;
  }
  core_of_thread->check();
}
int rondo_stand_in_core_type() { return stand_in::type_of_thread; }

std::uint64_t rondo_stand_in_aicpu_load(std::uint64_t at) {
  const std::lock_guard lock{Bus::instance().mutex};
  return Bus::instance().aicpu.load(at);
}
void rondo_stand_in_aicpu_store(std::uint64_t at, std::uint64_t value) {
  const std::lock_guard lock{Bus::instance().mutex};
  Bus::instance().aicpu.store(at, value);
}
void rondo_stand_in_aicpu_clean(std::uint64_t at) {
  const std::lock_guard lock{Bus::instance().mutex};
  Bus::instance().aicpu.written_back.insert(stand_in::line_of(at));
  Bus::instance().aicpu.clean(at);
}
void rondo_stand_in_aicpu_invalidate(std::uint64_t at) {
  const std::lock_guard lock{Bus::instance().mutex};
  Bus::instance().aicpu.discarded.insert(stand_in::line_of(at));
  Bus::instance().aicpu.invalidate(at);
}
namespace {
bool has_all(const std::set<std::uintptr_t>& lines, std::uint64_t at, std::size_t size) {
  const std::lock_guard lock{Bus::instance().mutex};
  for (std::uintptr_t line = stand_in::line_of(at); line < at + size; line += stand_in::line_bytes) {
    if (!lines.contains(line)) return false;
  }
  return true;
}
}  // namespace
bool rondo_stand_in_aicpu_has_discarded(std::uint64_t at, std::size_t size) {
  return has_all(Bus::instance().aicpu.discarded, at, size);
}
bool rondo_stand_in_aicpu_has_written_back(std::uint64_t at, std::size_t size) {
  return has_all(Bus::instance().aicpu.written_back, at, size);
}
void rondo_stand_in_aicpu_load_barrier() {
  const std::lock_guard lock{Bus::instance().mutex};
  Bus::instance().aicpu.load_barrier();
}
void rondo_stand_in_aicpu_store_barrier() { Bus::instance().arrive(Bus::instance().aicpu.postings, false); }
std::uint64_t rondo_stand_in_aicpu_ns() {
  bool may_answer = false;
  {
    stand_in::Machine& m = stand_in::Machine::instance();
    const std::lock_guard lock{m.mutex};
    may_answer = m.cores_have_kernel();
  }
  const std::lock_guard lock{Bus::instance().mutex};
  stand_in::AicpuCache& aicpu = Bus::instance().aicpu;
  aicpu.now_ns += aicpu.look_ns;
  // The cores' kernel is launched before the program of the AICPU. What is not there any more has ended.
  if (!aicpu.sees_cores || aicpu.is_unheard || !may_answer) aicpu.now_ns += stand_in::AicpuCache::step_ns;
  return aicpu.now_ns;
}
