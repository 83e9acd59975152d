// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/arch/a5.hpp>
#include <rondo/args/args_table.hpp>
#include <rondo/error.hpp>
#include <rondo/graph/records.hpp>
#include <rondo/memory/concurrency.hpp>
#include <rondo/platform/check_platform.hpp>
#include <rondo/platform/concept.hpp>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <vector>

/// A platform written from scratch: a device that takes commands into a queue and executes them when the host waits for
/// it; a real device does so while the host continues. Its memory is host memory, and its kernels are the functions of
/// the graph. It is complete: the conformance tests run on it. docs/platforms.md explains it part by part.
namespace toy {

using rondo::Bytes;
using rondo::DevicePtr;
using rondo::Errc;
using rondo::Error;
using rondo::Status;

class ToyPlatform {
 public:
  // The chip whose limits and alignments apply, a name for messages, and the options.
  using Arch = rondo::arch::A5;
  static constexpr const char* name = "toy";
  struct Options {
    Bytes device_memory{std::uint64_t{1} << 30};
    std::size_t queue_length = 64;
  };
  /// @throws Error invalid_argument, std::bad_alloc
  explicit ToyPlatform(const Options& options) : free_{options.device_memory} {
    if (options.queue_length == 0)
      throw Error(Errc::invalid_argument, Error::Text("toy: Options::queue_length is 0; choose 1 or more"));
    queue_.reserve(options.queue_length);
  }

  // The order of tasks, by which tensors may share memory: one at a time, in the graph's order.
  static constexpr auto concurrency = rondo::memory::Concurrency::sequential;

  // --- memory: at set-up only, so it may throw and allocate

  /// @throws Error out_of_memory, with the bytes that were asked for and those that are free
  [[nodiscard]] DevicePtr<std::byte> allocate(Bytes size, Bytes alignment) {
    void* const memory =
        size > free_ ? nullptr : std::aligned_alloc(alignment.value, rondo::align_up(size.value, alignment.value));
    if (memory == nullptr) {
      throw Error(Errc::out_of_memory, Error::Text{"toy: ", size.value, " bytes of device memory were asked for, ",
                                                   free_.value, " are free; use smaller tensors"});
    }
    blocks_.push_back({std::unique_ptr<void, Free>(memory), size});
    free_.value -= size.value;
    return DevicePtr<std::byte>{reinterpret_cast<std::uintptr_t>(memory)};
  }
  Status release(DevicePtr<std::byte> block) noexcept {
    for (auto b = blocks_.begin(); b != blocks_.end(); ++b) {
      if (b->memory.get() != pointer(block)) continue;
      free_.value += b->size.value;
      blocks_.erase(b);
      return {};
    }
    return Status{Errc::invalid_argument};
  }

  // --- a graph becomes a program: at set-up, too

  /// One call: a kernel, and the address of its arguments.
  struct Call {
    rondo::KernelEntry entry;
    rondo::ArgWord* args;
    std::uint32_t task;  ///< for messages
  };
  using Program = std::vector<Call>;

  /// The tasks are in order, each after all tasks that it depends on. A task of n blocks becomes n calls.
  template <class Graph>
  [[nodiscard]] Program load(const Graph& graph, const rondo::args::ArgsTable& args) {
    Program program;
    const rondo::graph::GraphView view = graph.view();
    for (std::size_t t = 0; t < view.tasks.size(); ++t) {
      for (std::uint32_t block = 0; block < view.tasks[t].blocks; ++block) {
        program.push_back({view.tasks[t].entry, args.block(t, block), view.tasks[t].added_as});
      }
    }
    return program;
  }
  Status unload(Program& program) noexcept {
    const Status status = wait();
    program.clear();
    return status;
  }

  // --- a round: commands into the queue. Nothing here allocates, throws or takes a lock.

  Status copy_in(DevicePtr<std::byte> to, const void* from, Bytes size) noexcept {
    return enqueue({pointer(to), from, size, nullptr});
  }
  Status copy_out(void* to, DevicePtr<const std::byte> from, Bytes size) noexcept {
    return enqueue({to, pointer(from), size, nullptr});
  }
  Status launch(Program& program) noexcept { return enqueue({nullptr, nullptr, {}, &program}); }
  /// Executes the commands, in the order of the calls. If a kernel throws, the later commands are dropped, and the
  /// session is poisoned.
  Status wait() noexcept {
    Status status;
    for (const Command& command : queue_) {
      if (status.ok()) status = carry_out(command);
    }
    queue_.clear();
    return status;
  }

  // --- optional: a session uses the capabilities that are declared here

  static constexpr rondo::Capabilities capabilities{rondo::Capability::failure_text};

  /// The text that explain() adds after a failure.
  [[nodiscard]] const Error::Text& failure_text() const noexcept { return failure_; }
  /// The number of commands in the queue, for inspection.
  [[nodiscard]] std::size_t queued() const noexcept { return queue_.size(); }

 private:
  struct Command {
    void* to;
    const void* from;
    Bytes size;
    const Program* program;  ///< to run; null for a copy
  };
  struct Free {
    void operator()(void* memory) const noexcept { std::free(memory); }
  };
  struct Block {
    std::unique_ptr<void, Free> memory;
    Bytes size;
  };

  template <class T>
  static T* pointer(DevicePtr<T> p) noexcept {
    return reinterpret_cast<T*>(p.address());  // NOLINT: this device's memory is the host's
  }

  /// If the queue is full, executes its commands first, so that it never grows.
  Status enqueue(const Command& command) noexcept {
    if (queue_.size() == queue_.capacity()) {
      if (const Status status = wait(); !status) return status;
    }
    queue_.push_back(command);
    return {};
  }

  Status carry_out(const Command& command) noexcept {
    if (command.program == nullptr) {
      std::memcpy(command.to, command.from, command.size.value);
      return {};
    }
    const Call* call = command.program->data();
    try {
      for (const Call* const end = call + command.program->size(); call != end; ++call) call->entry(call->args);
    } catch (const std::exception& e) {
      failure_ = Error::Text(e.what());
      return Status::of_task(Errc::kernel_failed, call->task).poisoning();
    } catch (...) {
      failure_ = Error::Text("an exception that is no std::exception");
      return Status::of_task(Errc::kernel_failed, call->task).poisoning();
    }
    return {};
  }

  Bytes free_;
  std::vector<Block> blocks_;
  std::vector<Command> queue_;
  Error::Text failure_;
};

// Says in a sentence what is missing, where the concept alone would say "false".
static_assert(rondo::check_platform<ToyPlatform>());

}  // namespace toy
