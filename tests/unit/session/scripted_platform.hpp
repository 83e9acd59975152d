// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/args/args_table.hpp>
#include <rondo/platform/check_platform.hpp>
#include <rondo/platform/concept.hpp>
#include <rondo/platform/select.hpp>

#include <string>
#include <utility>
#include <vector>

namespace rondo::test {

/// The calls that a ScriptedPlatform received, and the call that is to fail.
struct Script {
  std::vector<std::string> calls;
  std::string fail_on;  ///< the first word of a call, for example "copy_in"
  Status failure;
  Status found_by_wait;  ///< what the first wait after that call returns
  bool load_throws = false;
  bool rounds_end = false;  ///< whether rounds in flight are over before they are waited for

  /// The calls since this function was last called, as one text.
  [[nodiscard]] std::string take() {
    std::string text;
    for (const std::string& call : calls) text += (text.empty() ? "" : " ") + call;
    calls.clear();
    return text;
  }
};

/// A simulated chip that records each call and fails at the call that its script names.
class ScriptedPlatform {
 public:
  using Arch = arch::A5;
  static constexpr const char* name = "scripted";
  static constexpr Capabilities capabilities{Capability::args_in_host_memory};
  struct Options {
    Script* script = nullptr;
  };

  explicit ScriptedPlatform(const Options& options) : script_{options.script}, device_{{}} {}

  [[nodiscard]] DevicePtr<std::byte> allocate(Bytes size, Bytes alignment) {
    (void)step("allocate");
    return device_.allocate(size, alignment);
  }
  Status release(DevicePtr<std::byte> block) noexcept {
    const Status released = device_.release(block);
    const Status status = step("release");
    return status.ok() ? released : status;
  }
  Status copy_in(DevicePtr<std::byte> to, const void* from, Bytes size) noexcept {
    if (const Status s = step("copy_in", size); !s) return s;
    return device_.copy_in(to, from, size);
  }
  Status copy_out(void* to, DevicePtr<const std::byte> from, Bytes size) noexcept {
    if (const Status s = step("copy_out", size); !s) return s;
    return device_.copy_out(to, from, size);
  }
  Status wait() noexcept {
    const bool is_after_failure = std::exchange(has_failed_, false);
    return first_failure(step("wait"), is_after_failure ? script_->found_by_wait : Status{});
  }

  template <class Graph>
  [[nodiscard]] auto load(const Graph& graph, args::ArgsTable& args) {
    (void)step("load");
    if (script_->load_throws) throw Error(Errc::out_of_resources, Error::Text("no queue left"));
    return device_.load(graph, args);
  }
  template <class Program>
  Status launch(Program& program) noexcept {
    if (const Status s = step("launch"); !s) return s;
    return device_.launch(program);
  }
  template <class Program>
  Status unload(Program& program) noexcept {
    const Status unloaded = device_.unload(program);
    const Status status = step("unload");
    return status.ok() ? unloaded : status;
  }

 protected:
  Status step(const char* call, Bytes size = {}) noexcept {
    script_->calls.push_back(size.value == 0 ? call : call + (":" + std::to_string(size.value)));
    if (script_->fail_on != call) return {};
    has_failed_ = true;
    return script_->failure;
  }

  Script* script_;
  A5Sim device_;
  bool has_failed_ = false;
};
static_assert(check_platform<ScriptedPlatform>());

/// A ScriptedPlatform that has rounds in flight, each of which runs when it is delivered.
class QueuedPlatform : public ScriptedPlatform {
 public:
  static constexpr Capabilities capabilities{Capability::args_in_host_memory, Capability::queue,
                                             Capability::device_copy};
  using ScriptedPlatform::ScriptedPlatform;

  Status copy_on_device(const DeviceCopy& copy) noexcept {
    if (const Status s = step("copy_on_device"); !s) return s;
    return device_.copy_on_device(copy);
  }

  class Queue {
   public:
    Queue(QueuedPlatform& platform, std::size_t slots) : platform_{platform}, slots_(slots) {}

    static void reserve(Bytes) {}
    Status copy_in(std::uint32_t, DevicePtr<std::byte> to, const void* from, Bytes size) noexcept {
      return platform_.copy_in(to, from, size);
    }
    template <class Program>
    Status launch(std::uint32_t slot, Program& program) noexcept {
      slots_[slot].program = &program;
      slots_[slot].run = [](QueuedPlatform& platform, void* its) noexcept {
        const Status launched = platform.device_.launch(*static_cast<Program*>(its));
        const Status waited = platform.device_.wait();
        return launched.ok() ? waited : launched;
      };
      return platform_.step("launch");
    }
    Status copy_out(std::uint32_t slot, void* to, DevicePtr<const std::byte> from, Bytes size) noexcept {
      slots_[slot].outputs.push_back({to, from, size});
      return platform_.step("copy_out", size);
    }
    Status copy_on_device(std::uint32_t, const DeviceCopy& copy) noexcept { return platform_.copy_on_device(copy); }
    Status commit(std::uint32_t) noexcept { return platform_.step("commit"); }
    [[nodiscard]] bool is_done(std::uint32_t) noexcept { return platform_.script_->rounds_end; }
    void await(std::uint32_t) noexcept { (void)platform_.step("await"); }
    Status deliver(std::uint32_t slot) noexcept {
      Slot round = std::exchange(slots_[slot], {});
      if (is_broken_) return Status{Errc::poisoned}.poisoning();
      Status status = platform_.step("deliver");
      if (status.ok()) status = round.run(platform_, round.program);
      is_broken_ = !status.ok();
      for (const Output& o : round.outputs) {
        if (status.ok()) status = platform_.device_.copy_out(o.to, o.from, o.size);
      }
      return status;
    }
    void cancel(std::uint32_t slot) noexcept {
      slots_[slot] = {};
      (void)platform_.step("cancel");
    }
    Status close() noexcept { return {}; }

   private:
    struct Output {
      void* to;
      DevicePtr<const std::byte> from;
      Bytes size;
    };
    struct Slot {
      void* program = nullptr;
      Status (*run)(QueuedPlatform&, void*) noexcept = nullptr;
      std::vector<Output> outputs{};
    };
    QueuedPlatform& platform_;
    std::vector<Slot> slots_;
    bool is_broken_ = false;
  };
  [[nodiscard]] Queue open_queue(std::size_t slots, std::size_t, Bytes) { return {*this, slots}; }
};
static_assert(check_platform<QueuedPlatform>());

}  // namespace rondo::test
