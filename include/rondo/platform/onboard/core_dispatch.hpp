// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>
#include <rondo/platform/onboard/aicpu_memory.hpp>
#include <rondo/platform/onboard/device/mailbox.hpp>
#include <rondo/platform/sim/task_slot.hpp>
#include <rondo/platform/sim/task_stream.hpp>
#include <rondo/types.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rondo::platform::onboard {

/// The mailboxes of the cores that run tasks.
struct CorePlaces {
  std::uint64_t mailboxes = 0;  ///< the device address of all mailboxes
  std::uint32_t cube_cores = 0;
  std::uint32_t vector_cores = 0;
};

/// The AICPU's half of the mailboxes: hands out blocks of ready tasks to free cores of their type, and takes the
/// answers. See device/mailbox.hpp.
///
/// Lifetime: that of the session, on the device. Thread safety: the orchestrating thread only. Errors: a task whose
/// kernel reports a failure, or that gives no answer in time, fails the round and is named; a core that gave none is
/// not used again. Cost: no allocation after construction; for a block, its arguments and three lines of memory.
template <class Memory = AicpuMemory>
class CoreDispatch {
 public:
  CoreDispatch(const CorePlaces& places, sim::TaskStream& stream)
      : stream_{stream}, cores_(std::size_t{places.cube_cores} + places.vector_cores) {
    for (std::size_t c = 0; c < cores_.size(); ++c) {
      cores_[c].mailbox = places.mailboxes + mailbox::place_of(c);
      cores_[c].type = c < places.cube_cores ? CoreType::cube : CoreType::vector;
      cores_[c].index = static_cast<std::uint32_t>(c < places.cube_cores ? c : c - places.cube_cores);
      Memory::invalidate(answer(cores_[c]));  // the host has written it
    }
    for (auto& free : free_) free.reserve(cores_.size());
    busy_.reserve(cores_.size());
  }
  CoreDispatch(const CoreDispatch&) = delete;
  CoreDispatch& operator=(const CoreDispatch&) = delete;

  /// Returns this object in the form that TaskStream::use_cores takes.
  [[nodiscard]] sim::TaskCores cores() noexcept {
    return {this,
            [](void* self, sim::TaskSlot& task, std::uint32_t block) noexcept {
              return static_cast<CoreDispatch*>(self)->start(task, block);
            },
            [](void* self) noexcept { return static_cast<CoreDispatch*>(self)->take_ended(); }};
  }

  /// Begins a round, whose kernel was launched with the round's number. `limit_ms`: the time in milliseconds that a
  /// block of a task may run, and that cores may take to start and to end the kernel; 0: no limit.
  void begin_round(std::uint64_t round, std::uint32_t limit_ms) noexcept {
    round_ = round;
    limit_ns_ = std::uint64_t{limit_ms} * 1'000'000;
    for (auto& free : free_) free.clear();
    busy_.clear();
    absent_ = cores_.size();
    refused_ = nullptr;
    idle_since_ns_ = Memory::now_ns();
    for (Core& core : cores_) core.has_started = false;
  }

  /// Requests all cores to leave. Cores that start later find the request when they start.
  void dismiss() noexcept {
    for (Core& core : cores_) {
      if (core.is_lost) continue;
      send_request(core, mailbox::leave, round_);
    }
  }
  /// Ends a round: dismisses the cores, and waits for those that have started. @returns device_failed if one did not
  /// leave in an eighth of the limit
  Status end_round() noexcept {
    dismiss();
    const std::uint64_t begin = Memory::now_ns();
    Status status;
    for (Core& core : cores_) {
      if (!core.has_started || core.is_lost) continue;
      for (std::uint32_t times = 0; !has_answered(core); sim::TaskStream::back_off(times)) {
        if (limit_ns_ == 0 || Memory::now_ns() - begin < limit_ns_ / 8) continue;
        core.is_lost = true;
        status = Status{Errc::device_failed}.poisoning();
        stream_.fail(status, Error::Text{to_string(core.type), " core ", core.index, " did not end its kernel"});
        break;
      }
    }
    return status;
  }

  /// The number of cores that have started in this round.
  [[nodiscard]] std::size_t present() const noexcept { return cores_.size() - absent_; }
  /// Waits for all cores and exchanges `times` values with them in turn. @returns whether that succeeded; if not, `why`
  /// has the reason
  [[nodiscard]] bool exchange(std::uint32_t times, Error::Text& why) noexcept {
    std::uint32_t waits = 0;
    while (find_started(), absent_ != 0) {
      if (is_overdue(idle_since_ns_)) {
        why = Error::Text{"of ", cores_.size(), " cores, ", absent_, " were not seen to start"};
        return false;
      }
      sim::TaskStream::back_off(waits);
    }
    for (std::uint32_t i = 0; i < times; ++i) {
      Core& core = cores_[i % cores_.size()];
      const std::uint64_t value = (std::uint64_t{i} << 32) + 0x5A5A'5A5AU;
      write_word(core, 0, value);
      write_back_args(core, 1);
      send_request(core, mailbox::echo, 0, 1);
      const std::uint64_t begin = Memory::now_ns();
      for (waits = 0; !has_answered(core); sim::TaskStream::back_off(waits)) {
        if (!is_overdue(begin)) continue;
        why = Error::Text{to_string(core.type), " core ", core.index, " gave no answer to value ", i + 1};
        core.is_lost = true;
        return false;
      }
      if (Memory::load(answer(core) + code_at) == mailbox::echo_of(value)) continue;
      why = Error::Text{to_string(core.type), " core ", core.index, " gave a wrong answer to value ", i + 1};
      return false;
    }
    return true;
  }

 private:
  struct Core {
    std::uint64_t mailbox = 0;
    std::uint64_t number = 0;  ///< the number of the last request
    sim::TaskSlot* task = nullptr;
    std::uint64_t since_ns = 0;
    CoreType type = CoreType::cube;
    std::uint32_t index = 0;  ///< its index among the cores of its type
    bool has_started = false;
    bool is_lost = false;
  };
  static constexpr std::uint64_t answer_at = offsetof(mailbox::Mailbox, answer);
  static constexpr std::uint64_t args_at = offsetof(mailbox::Request, args);
  static constexpr std::uint64_t number_at = offsetof(mailbox::Answer, number);
  static constexpr std::uint64_t state_at = offsetof(mailbox::Answer, state);
  static constexpr std::uint64_t code_at = offsetof(mailbox::Answer, code);
  static constexpr std::uint32_t sweeps_per_look = 64;  ///< sweeps over the busy cores for each look at the clock

  [[nodiscard]] static std::uint64_t answer(const Core& core) noexcept { return core.mailbox + answer_at; }
  [[nodiscard]] bool is_overdue(std::uint64_t since_ns) const noexcept {
    return limit_ns_ != 0 && Memory::now_ns() - since_ns >= limit_ns_;
  }

  static void write_word(const Core& core, std::uint64_t word, std::uint64_t value) noexcept {
    Memory::store(core.mailbox + args_at + 8 * word, value);
  }
  /// Writes the arguments back; send_request() then orders the request after them.
  static void write_back_args(const Core& core, std::uint64_t words) noexcept {
    for (std::uint64_t byte = 0; byte < 8 * words; byte += mailbox::line_bytes) {
      Memory::clean(core.mailbox + args_at + byte);
    }
  }
  static void send_request(Core& core, mailbox::Command command, std::uint64_t kernel = 0,
                           std::uint64_t words = 0) noexcept {
    Memory::store(core.mailbox + offsetof(mailbox::Request, command), command);
    Memory::store(core.mailbox + offsetof(mailbox::Request, kernel), kernel);
    Memory::store(core.mailbox + offsetof(mailbox::Request, words), words);
    Memory::store_barrier();
    Memory::store(core.mailbox + offsetof(mailbox::Request, number), ++core.number);
    Memory::clean(core.mailbox);
    Memory::store_barrier();
  }
  /// Whether the core has done its last request; then the rest of its answer may be read.
  [[nodiscard]] static bool has_answered(const Core& core) noexcept {
    if (Memory::load(answer(core) + number_at) != core.number) return false;
    Memory::load_barrier();
    return true;
  }

  bool start(sim::TaskSlot& task, std::uint32_t block) noexcept {
    if (task.words > mailbox::most_words) [[unlikely]] {
      stream_.fail_task(task, Errc::kernel_failed,
                        Error::Text{"a block has ", task.words, " words of arguments; a core's mailbox holds ",
                                    mailbox::most_words, ", so pass some of them in a tensor"});
      return false;
    }
    auto& free = free_[static_cast<std::size_t>(task.core)];
    if (free.empty()) {
      if (absent_ != 0) find_started();
      if (free.empty()) {
        if (refused_ == nullptr && busy_.empty()) idle_since_ns_ = Memory::now_ns();
        refused_ = &task;
        return false;
      }
    }
    refused_ = nullptr;
    Core& core = *free.back();
    free.pop_back();
    const ArgWord* const words = task.args + std::size_t{block} * task.words;
    for (std::uint32_t w = 0; w < task.words; ++w) write_word(core, w, static_cast<std::uint64_t>(words[w]));
    write_back_args(core, task.words);
    core.task = &task;
    core.since_ns = Memory::now_ns();
    send_request(core, mailbox::run, mailbox::kernel_id(task.name, task.name_size), task.words);
    busy_.push_back(&core);
    return true;
  }

  sim::TaskSlot* take_ended() noexcept {
    for (std::size_t b = 0; b < busy_.size(); ++b) {
      Core& core = *busy_[b];
      if (!has_answered(core)) continue;
      if (const std::uint64_t code = Memory::load(answer(core) + code_at); code != 0) [[unlikely]]
        report(core, code);
      free_[static_cast<std::size_t>(core.type)].push_back(&core);
      return retire(b);
    }
    return ++sweeps_ % sweeps_per_look == 0 ? take_overdue() : nullptr;
  }
  /// Gives up a core that has not answered in time. Returns its task, as one that has ended; null if there is none.
  [[gnu::noinline]] sim::TaskSlot* take_overdue() noexcept {
    if (absent_ != 0) find_started();
    for (std::size_t b = 0; b < busy_.size(); ++b) {
      Core& core = *busy_[b];
      if (!is_overdue(core.since_ns)) continue;
      core.is_lost = true;
      Error::Text why{to_string(core.type), " core ", core.index, " gave no answer for ", limit_ns_ / 1'000'000, " ms"};
      if (busy_.size() > 1) why.append("; other blocks that were running: "), why.append(busy_.size() - 1);
      stream_.fail_task(*core.task, Errc::timed_out, why);
      return retire(b);
    }
    if (refused_ != nullptr && busy_.empty() && is_overdue(idle_since_ns_) && !stream_.failed()) {
      stream_.fail_task(*refused_, Errc::timed_out,
                        Error::Text{"no ", to_string(refused_->core), " core started within ", limit_ns_ / 1'000'000,
                                    " ms; other programs may hold them, or the device has fewer"});
    }
    return nullptr;
  }
  sim::TaskSlot* retire(std::size_t b) noexcept {
    sim::TaskSlot* const task = busy_[b]->task;
    busy_[b] = busy_.back();
    busy_.pop_back();
    if (busy_.empty()) idle_since_ns_ = Memory::now_ns();
    return task;
  }
  [[gnu::cold]] void report(const Core& core, std::uint64_t code) noexcept {
    if (code == mailbox::unknown_kernel) {
      stream_.fail_task(*core.task, Errc::kernel_failed,
                        Error::Text{"the cores' binary has no such kernel for ", to_string(core.type),
                                    " cores; add it to the Tasks of rondo_dispatch"});
    } else {
      stream_.fail_task(*core.task, Errc::kernel_failed,
                        Error::Text{"the kernel returned ", code, " on ", to_string(core.type), " core ", core.index});
    }
  }

  /// Finds cores that have started: their answer says so, with the number of this round's launch.
  void find_started() noexcept {
    for (Core& core : cores_) {
      if (core.has_started || core.is_lost || !has_answered(core)) continue;
      if (Memory::load(answer(core) + state_at) != mailbox::here) continue;
      if (Memory::load(answer(core) + code_at) != round_) continue;
      core.has_started = true;
      --absent_;
      free_[static_cast<std::size_t>(core.type)].push_back(&core);
    }
  }

  sim::TaskStream& stream_;
  std::uint64_t limit_ns_ = 0;
  std::uint64_t round_ = 0;
  std::vector<Core> cores_;
  std::vector<Core*> free_[core_type_count];
  std::vector<Core*> busy_;
  std::size_t absent_ = 0;
  const sim::TaskSlot* refused_ = nullptr;  ///< a task for which no core was free
  std::uint64_t idle_since_ns_ = 0;         ///< when a core was busy last, or the round began
  std::uint32_t sweeps_ = 0;
};

}  // namespace rondo::platform::onboard
