// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace digits {

/// The number with separators: 1,234,567.
inline std::string with_commas(std::uint64_t n) {
  std::string text = std::to_string(n);
  for (std::size_t i = text.size(); i > 3;) text.insert(i -= 3, 1, ',');
  return text;
}

/// The number and the noun, in the plural unless n is 1: "1 round", "10,000 rounds".
inline std::string counted(std::uint64_t n, const char* what) {
  return with_commas(n) + ' ' + what + (n == 1 ? "" : "s");
}

/// Shows the progress of a training run: a bar on a terminal, otherwise ten lines.
class Progress {
 public:
  explicit Progress(std::uint64_t rounds) : rounds_{rounds} {}

  /// Call it after each round. It reads the clock only after every 32nd.
  void update(std::uint64_t done, float loss) {
    smooth_ = done == 1 ? loss : smooth_ + (loss - smooth_) * std::max(0.01F, 1.0F / static_cast<float>(done));
    if (is_terminal_) {
      if (done % 32 != 0 && done != rounds_) return;
      const auto now = Clock::now();
      if (now - drawn_ < std::chrono::milliseconds{40} && done != rounds_) return;
      drawn_ = now;
      draw_bar(done);
    } else if (done * 10 / rounds_ != (done - 1) * 10 / rounds_) {
      std::printf("round %*s of %s  %9s rounds/s  loss %.4f\n", static_cast<int>(with_commas(rounds_).size()),
                  with_commas(done).c_str(), with_commas(rounds_).c_str(), per_second(done).c_str(),
                  static_cast<double>(smooth_));
      std::fflush(stdout);
    }
  }

  [[nodiscard]] double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::uint64_t width = 28;

  static bool stdout_is_terminal() {
    const char* term = std::getenv("TERM");
    return isatty(STDOUT_FILENO) != 0 && term != nullptr && std::string_view{term} != "dumb";
  }

  [[nodiscard]] std::string per_second(std::uint64_t done) const {
    return with_commas(static_cast<std::uint64_t>(static_cast<double>(done) / std::max(seconds(), 1e-9)));
  }

  void draw_bar(std::uint64_t done) const {
    static constexpr const char* eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    const std::uint64_t filled = done * width * 8 / rounds_;
    std::string bar;
    for (std::uint64_t i = 0; i < filled / 8; ++i) bar += "█";
    bar += eighths[filled % 8];
    const std::uint64_t cells = (filled + 7) / 8;
    std::printf("\r\x1b[K%3llu %% \x1b[34m%s\x1b[2m%s\x1b[0m %s rounds/s  loss %.4f",
                static_cast<unsigned long long>(done * 100 / rounds_), bar.c_str(),
                std::string(width - cells, '.').c_str(), per_second(done).c_str(), static_cast<double>(smooth_));
    if (done == rounds_) std::printf("\n");
    std::fflush(stdout);
  }

  std::uint64_t rounds_;
  bool is_terminal_ = stdout_is_terminal();
  Clock::time_point start_ = Clock::now();
  Clock::time_point drawn_ = start_;
  float smooth_ = 0.0F;  ///< a running mean over about 100 rounds
};

}  // namespace digits
