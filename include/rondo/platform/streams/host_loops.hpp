// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/args/args_table.hpp>
#include <rondo/error.hpp>
#include <rondo/graph/loop_calls.hpp>
#include <rondo/graph/loops.hpp>
#include <rondo/graph/outline.hpp>
#include <rondo/platform/streams/api.hpp>
#include <rondo/types.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace rondo::platform::streams {

/// What the loops of a platform's programs share: whether to stop, where the host accesses mapped host memory, and how
/// much memory they have.
/// Lifetime: the memory outlives it. Thread safety: any thread may make the stop request; otherwise that of the
/// session.
class LoopHost {
 public:
  template <class Memory>
  explicit LoopHost(const Memory& memory) noexcept
      : memory_{&memory}, find_{[](const void* of, std::uint64_t address) noexcept -> const void* {
          return static_cast<const Memory*>(of)->host_address(address);
        }} {}

  std::atomic<bool> stop{false};  ///< whether a thread has requested to stop the session
  Bytes pinned{}, on_device{};    ///< the memory of the loops of all loaded programs, besides the arena
  /// Returns the host address of mapped host memory; null for device memory.
  [[nodiscard]] const void* host_address(std::uint64_t address) const noexcept { return find_(memory_, address); }

 private:
  const void* memory_;
  const void* (*find_)(const void* memory, std::uint64_t address) noexcept;
};

/// The loops of a loaded graph on a device with streams, where the host decides. The graph is cut into sections at the
/// boundaries of its loops. A round submits one section after the other. At each decision of a loop, the host copies
/// the condition to pinned memory, waits for the stream, and reads the condition. It copies no condition that is in
/// mapped host memory.
///
/// Lifetime: device, host, graph and args table outlive it; release() or the destructor frees the pinned memory. Thread
/// safety: the session's; the stop request may come from any thread. Errors: the constructor throws. Cost on the hot
/// path: for each decision one copy and one wait; one more copy and wait for each round if rounds bind a condition,
/// since its address may then be another one in each round.
template <class Device>
class HostLoops {
  using Api = typename Device::Api;

 public:
  /// Launches that follow each other without a decision in between: [first, last) of the program's launches.
  struct Section {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
  };
  /// A step of a round. A `skip` jumps to the step after `target` unless the condition holds; a `repeat` jumps back to
  /// it unless the condition holds. The target of a `begin` is its `repeat`.
  struct Step {
    enum class Kind : std::uint8_t { section, begin, skip, repeat };
    Kind kind = Kind::section;
    std::uint32_t of = 0;  ///< the section, or the loop
    std::size_t target = 0;
  };

  HostLoops(Device& device, LoopHost& host) noexcept : device_{device}, host_{host} {}
  HostLoops(const HostLoops&) = delete;
  HostLoops& operator=(const HostLoops&) = delete;
  ~HostLoops() { (void)release(); }

  /// Whether the task at a position is the decision of a loop, which is no launch.
  [[nodiscard]] static bool is_decision(const graph::GraphView& view, std::uint32_t position) noexcept {
    const std::uint32_t loop = view.tasks[position].loop;
    return loop != none && view.loops[loop].decision == position;
  }

  /// Cuts a graph with loops. `launches`: those of the program, in the order of their positions.
  /// @throws Error out_of_memory
  template <class Launch>
  void cut(const graph::GraphView& view, args::ArgsTable& args, const std::vector<Launch>& launches) {
    if (view.loops.empty()) return;
    loops_.resize(view.loops.size());
    void* memory = nullptr;
    device_.must(Api::malloc_host, device_.calls().malloc_host(&memory, sizeof(Seen) * view.loops.size()));
    seen_ = static_cast<Seen*>(memory);
    host_.pinned.value += sizeof(Seen) * loops_.size();
    for (std::uint32_t l = 0; l < view.loops.size(); ++l) {
      const graph::LoopRecord& record = view.loops[l];
      Loop& loop = loops_[l];
      if (!record.has_work()) continue;
      const ArgWord* const block = args.block(record.decision, 0);
      const std::ptrdiff_t at = (block - args.words()) * std::ptrdiff_t{sizeof(ArgWord)};
      __builtin_memcpy(loop.block, args.bytes() + at, sizeof(loop.block));  // the image is no array of words everywhere
      loop.address = static_cast<std::uint64_t>(loop.block[0]);
      loop.name = view.name(view.tasks[record.decision].name);
      const std::uint32_t root = graph::root_of(view.tensors, record.condition);
      loop.is_in_arena = !view.tensors[root].is_outside_arena();
      loop.block_at = reinterpret_cast<std::uintptr_t>(block);
      loop.is_bound = is_bound_each_round(view.tensors[root].direction);
    }
    add_steps(view, none, launches);
  }
  [[nodiscard]] bool empty() const noexcept { return loops_.empty(); }
  [[nodiscard]] const std::vector<Section>& sections() const noexcept { return sections_; }
  [[nodiscard]] const std::vector<Step>& steps() const noexcept { return steps_; }
  /// The address on the device of the argument block of a loop's decision; see graph::Decision.
  [[nodiscard]] std::uint64_t block_of(std::uint32_t loop) const noexcept { return loops_[loop].block_at; }

  /// Called when the arena has moved by this distance, modulo 2^64.
  void move_arena(std::uint64_t distance) noexcept {
    for (Loop& loop : loops_) loop.address += loop.is_in_arena ? distance : 0;
  }
  /// While it is set, rounds submit each section once and read no condition, as in the first run over memory of zeros.
  void run_each_section_once(bool is_wanted) noexcept { decides_ = !is_wanted; }

  /// Runs one round. `submit(number)` submits the section of that number, and `wait()` waits for the stream; both
  /// return codes. @returns the first failure, or loop_stopped; `call` then names the call, or the reason
  template <class Submit, class Wait>
  [[nodiscard, gnu::noinline]] Code run(const char*& call, Stream stream, Submit submit, Wait wait) noexcept {
    Code code = decides_ ? find_conditions(call, stream, wait) : code_ok;
    for (std::size_t s = 0; s < steps_.size() && code == code_ok; ++s) {
      const Step& step = steps_[s];
      if (step.kind == Step::Kind::section) {
        code = submit(step.of);
        continue;
      }
      Loop& loop = loops_[step.of];
      if (step.kind == Step::Kind::begin) {
        loop.repetitions = 0;
        continue;
      }
      // The last repetition needs no decision.
      const bool is_last = step.kind == Step::Kind::repeat && ++loop.repetitions == graph::Decision{loop.block}.most();
      if (!decides_ || is_last) continue;
      code = look(call, stream, step.of, wait);
      if (code == code_ok && !graph::Decision{loop.block}.holds()) s = step.target;
    }
    return code;
  }

  /// Frees the pinned memory. The stream is idle. @returns the first failure
  Code release() noexcept {
    if (seen_ != nullptr) host_.pinned.value -= sizeof(Seen) * loops_.size();
    loops_ = {};
    steps_ = {};
    sections_ = {};
    return seen_ == nullptr ? code_ok : device_.calls().free_host(std::exchange(seen_, nullptr));
  }

 private:
  static constexpr std::uint32_t none = graph::TaskRecord::no_loop;

  struct Loop {
    ArgWord block[3] = {};  ///< the words of the decision's block, with the address of the pinned copy
    std::uint64_t address = 0;
    std::uint64_t block_at = 0;  ///< on the device; its first word is the address
    std::uint64_t repetitions = 0;
    bool is_in_arena = true;
    bool is_bound = false;  ///< whether rounds bind the condition
    std::string_view name;
  };
  /// The copied data: the line of 64 bytes in which a word lies, since copies begin at multiples of 64.
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  struct Seen {
    Line condition;
    Line address;
  };

  template <class Launch>
  void add_steps(const graph::GraphView& view, std::uint32_t scope, const std::vector<Launch>& launches) {
    using Kind = typename Step::Kind;
    bool is_in_section = false;
    const graph::Outline outline(view, scope);
    for (const graph::Outline::Item& item : outline.items()) {
      if (item.loop == none) {
        const auto at = std::ranges::lower_bound(launches, item.first, {}, &Launch::position);
        if (at == launches.end() || at->position != item.first) continue;  // the fill, or a decision
        const auto launch = static_cast<std::uint32_t>(at - launches.begin());
        if (!is_in_section) {
          steps_.push_back({Kind::section, static_cast<std::uint32_t>(sections_.size())});
          sections_.push_back({launch, launch});
        }
        sections_.back().last = launch + 1;
        is_in_section = true;
        continue;
      }
      is_in_section = false;
      const bool may_skip = view.loops[item.loop].kind == graph::LoopRecord::Kind::when;
      const std::size_t begin = steps_.size();
      steps_.push_back({may_skip ? Kind::skip : Kind::begin, item.loop});
      add_steps(view, item.loop, launches);
      if (may_skip) {
        steps_[begin].target = steps_.size() - 1;
      } else {
        steps_[begin].target = steps_.size();
        steps_.push_back({Kind::repeat, item.loop, begin});
      }
    }
  }

  template <class Wait>
  [[nodiscard]] Code find_conditions(const char*& call, Stream stream, Wait wait) noexcept {
    Code code = code_ok;
    bool waits = false;
    for (std::size_t l = 0; l < loops_.size() && code == code_ok; ++l) {
      if (!loops_[l].is_bound) continue;
      waits = true;
      (void)copy(call, code, stream, seen_[l].address, loops_[l].block_at, sizeof(std::uint64_t));
    }
    if (code != code_ok || !waits) return code;
    call = Api::synchronize;
    code = wait();
    for (std::size_t l = 0; l < loops_.size() && code == code_ok; ++l) {
      const std::byte* const word = &seen_[l].address.bytes[loops_[l].block_at % sizeof(Line)];
      if (loops_[l].is_bound) __builtin_memcpy(&loops_[l].address, word, sizeof(std::uint64_t));
    }
    return code;
  }
  /// Waits until the host can read the loop's condition.
  template <class Wait>
  [[nodiscard]] Code look(const char*& call, Stream stream, std::uint32_t number, Wait wait) noexcept {
    Loop& loop = loops_[number];
    Code code = code_ok;
    const auto size = static_cast<std::uint64_t>(loop.block[1]);
    const void* at = host_.host_address(loop.address);
    if (at == nullptr) at = copy(call, code, stream, seen_[number].condition, loop.address, size);
    loop.block[0] = static_cast<ArgWord>(reinterpret_cast<std::uintptr_t>(at));
    if (code != code_ok) return code;
    call = Api::synchronize;
    code = wait();
    if (code != code_ok || !host_.stop.load(std::memory_order_relaxed)) return code;
    text_ = Error::Text{"a stop request ended the round at loop '", loop.name, "'"};
    call = text_.c_str();
    return loop_stopped;
  }
  /// Copies a word that does not cross a line. @returns the host address at which it will be
  const std::byte* copy(const char*& call, Code& code, Stream stream, Line& to, std::uint64_t address,
                        std::uint64_t size) noexcept {
    const std::uint64_t before = address % sizeof(Line);
    const auto* const line = reinterpret_cast<const void*>(address - before);  // NOLINT: an address for the runtime
    call = Api::copy_async;
    code = device_.calls().copy_async(&to, before + size, line, before + size, device_to_host, stream);
    return &to.bytes[before];
  }

  Device& device_;
  LoopHost& host_;
  std::vector<Loop> loops_;  ///< by loop of the graph
  std::vector<Step> steps_;
  std::vector<Section> sections_;
  Seen* seen_ = nullptr;  ///< by loop; pinned
  bool decides_ = true;
  Error::Text text_;  ///< describes the end of a round that was stopped
};

}  // namespace rondo::platform::streams
