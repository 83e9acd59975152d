// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/platform/onboard/own_kernel.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

namespace rondo::platform::onboard {

/// Rondo's kernel that decides about loops on the device, device/decide.cpp, if it is among the session's kernels and
/// the runtime has conditional tasks. It is loaded with the first graph that has loops, and then makes each kind of
/// decision once, which detects a kernel that was built wrongly.
///
/// Lifetime: device and kernels outlive it; release() unloads. Thread safety: the session's. Errors: prepare() throws.
class DecideKernel {
 public:
  static constexpr const char* name = "rondo_decide";
  /// What the kernel writes to the word of a conditional task.
  enum class Step : std::uint64_t {
    when = 0,   ///< 1 if the condition holds, else 0
    begin = 1,  ///< the most repetitions
    repeat = 2  ///< 0 if the condition holds, else one less than before
  };

  DecideKernel(Device& device, const Options& options) : device_{device}, kernel_{device, options.kernels, name} {}
  DecideKernel(const DecideKernel&) = delete;
  DecideKernel& operator=(const DecideKernel&) = delete;
  ~DecideKernel() = default;

  /// Called when a graph with loops is loaded. @throws Error on errors of the runtime, and failures of the device
  void prepare() {
    if (is_tried_ || why_not()[0] != '\0') return;
    is_tried_ = true;
    try {
      kernel_.load();
      if (kernel_.is_loaded()) is_correct_ = decides_correctly();
    } catch (...) {
      (void)release();
      throw;
    }
  }

  /// Whether the device can decide, after prepare().
  [[nodiscard]] bool is_usable() const noexcept { return is_correct_; }
  /// The reason why it cannot, as a clause; empty if no reason is known.
  [[nodiscard]] const char* why_not() const noexcept {
    if (!device_.calls().captures_conditions()) return "the runtime has no conditional tasks";
    if (!kernel_.is_there()) return "there is no kernel rondo_decide";
    if (!is_tried_ || is_correct_) return "";
    return kernel_.is_loaded() ? "the kernel rondo_decide decides wrongly; build it again"
                               : "the kernel rondo_decide cannot be loaded; build it again";
  }

  /// Launches one step for the decision whose argument block on the device is `block`.
  [[nodiscard]] AclError launch(std::uint64_t block, std::uint64_t word, Step step, Stream stream) const noexcept {
    std::uint64_t words[] = {block, word, static_cast<std::uint64_t>(step)};
    return kernel_.launch(1, words, stream);
  }

  /// @returns the first failure
  AclError release() noexcept {
    is_tried_ = is_correct_ = false;
    return kernel_.release();
  }

 private:
  /// One decision that is tried. Each has 256 bytes of memory.
  struct Trial {
    static constexpr std::uint64_t stride = 256, block_at = 48, word_at = 200;
    Step step;
    std::uint64_t size;          ///< of the condition
    std::uint64_t condition_at;  ///< in the memory of the trial
    std::uint64_t condition;
    std::uint64_t before;
    std::uint64_t after;
  };

  [[nodiscard]] bool decides_correctly() {
    constexpr std::uint64_t most = 0x1'0000'0003;
    static constexpr Trial trials[] = {
        {Step::when, 1, 128, 1, 7, 1},          {Step::when, 1, 191, 0, 7, 0},
        {Step::when, 8, 184, 1ULL << 63, 0, 1}, {Step::when, 4, 132, 0, 9, 0},
        {Step::begin, 2, 130, 1, 0, most},      {Step::repeat, 2, 190, 0x100, 5, 0},
        {Step::repeat, 4, 188, 0, 5, 4},        {Step::repeat, 8, 128, 0, 1ULL << 32, 0xFFFF'FFFF},
    };
    std::vector<std::byte> image(std::size(trials) * Trial::stride, std::byte{0x5A});
    const auto put = [&](std::uint64_t at, const void* from, std::uint64_t size) {
      __builtin_memcpy(image.data() + at, from, size);
    };
    std::vector<std::byte> expected = image;
    const auto prepare = [&](DevicePtr<std::byte> copy) {
      std::uint64_t at = 0;
      for (const Trial& trial : trials) {
        const std::uint64_t block[] = {copy.address() + at + trial.condition_at, trial.size, most};
        put(at + Trial::block_at, block, sizeof(block));
        put(at + trial.condition_at, &trial.condition, trial.size);
        put(at + Trial::word_at, &trial.before, sizeof(trial.before));
        at += Trial::stride;
      }
      expected = image;
    };
    kernel_.try_out(image, prepare, [&](DevicePtr<std::byte> copy) {
      AclError code = code_ok;
      std::uint64_t at = copy.address();
      for (const Trial& trial : trials) {
        if (code == code_ok) code = launch(at + Trial::block_at, at + Trial::word_at, trial.step, device_.stream());
        at += Trial::stride;
      }
      return code;
    });
    std::uint64_t at = Trial::word_at;
    for (const Trial& trial : trials) {
      __builtin_memcpy(expected.data() + at, &trial.after, sizeof(trial.after));
      at += Trial::stride;
    }
    return image == expected;
  }

  Device& device_;
  OwnKernel kernel_;
  bool is_tried_ = false;
  bool is_correct_ = false;
};

}  // namespace rondo::platform::onboard
