// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace digits {

inline constexpr std::size_t image_side = 8;
inline constexpr std::size_t pixels_per_digit = image_side * image_side;
inline constexpr std::size_t classes = 10;

/// SplitMix64. The distributions of the standard library give other numbers on other systems; these are the same
/// everywhere.
class Random {
 public:
  explicit Random(std::uint64_t seed) noexcept : state_{seed} {}

  std::uint64_t next() noexcept {
    std::uint64_t z = state_ += 0x9E37'79B9'7F4A'7C15U;
    z = (z ^ (z >> 30)) * 0xBF58'476D'1CE4'E5B9U;
    z = (z ^ (z >> 27)) * 0x94D0'49BB'1331'11EBU;
    return z ^ (z >> 31);
  }
  /// A random number in [-limit, limit).
  float uniform(float limit) noexcept { return limit * (static_cast<float>(next() >> 40) * 0x1p-23F - 1.0F); }
  /// A random number in [0, n), without bias.
  std::size_t below(std::size_t n) noexcept {
    const std::uint64_t rejected = (std::numeric_limits<std::uint64_t>::max() % n + 1) % n;  // 2^64 mod n
    std::uint64_t draw = next();
    while (draw < rejected) draw = next();
    return static_cast<std::size_t>(draw % n);
  }
  template <class T>
  void shuffle(std::vector<T>& items) noexcept {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

 private:
  std::uint64_t state_;
};

/// Images of 64 pixels, each from 0 (paper) to 1 (ink), and the digit that each image shows.
struct Digits {
  std::vector<float> pixels;
  std::vector<std::int32_t> labels;

  [[nodiscard]] std::size_t size() const noexcept { return labels.size(); }
  [[nodiscard]] std::span<const float> image(std::size_t i) const {
    return std::span{pixels}.subspan(i * pixels_per_digit, pixels_per_digit);
  }
  void add(std::span<const float> image, std::int32_t label) {
    pixels.insert(pixels.end(), image.begin(), image.end());
    labels.push_back(label);
  }
};

/// Reads lines of 64 grey values of 0 to 16 and a label. @throws std::runtime_error that names the line
inline Digits read_digits(const std::string& path) {
  std::ifstream file{path};
  if (!file) throw std::runtime_error("cannot open " + path);
  Digits all;
  std::string line;
  for (std::size_t number = 1; std::getline(file, line); ++number) {
    const auto fail = [&](const std::string& what) {
      throw std::runtime_error(path + ", line " + std::to_string(number) + ": " + what);
    };
    float image[pixels_per_digit];
    int value = 0;
    std::string_view rest = line;
    if (!rest.empty() && rest.back() == '\r') rest.remove_suffix(1);
    for (std::size_t field = 0; field <= pixels_per_digit; ++field) {
      const bool is_label = field == pixels_per_digit;
      const int most = is_label ? static_cast<int>(classes) - 1 : 16;
      const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
      if (error != std::errc{} || value < 0 || value > most) {
        fail("field " + std::to_string(field + 1) + " is not a number of 0 to " + std::to_string(most));
      }
      rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
      if (is_label ? !rest.empty() : !rest.starts_with(',')) fail("it needs 65 numbers, separated by commas");
      if (is_label) break;
      rest.remove_prefix(1);
      image[field] = static_cast<float>(value) / 16.0F;
    }
    all.add(image, value);
  }
  if (file.bad()) throw std::runtime_error("cannot read " + path);
  if (all.size() < 10) throw std::runtime_error(path + " holds fewer than 10 digits");
  return all;
}

struct Split {
  Digits train;
  Digits test;  ///< a fifth of all, held out
};

inline Split split(const Digits& all, Random random) {
  std::vector<std::size_t> order(all.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  random.shuffle(order);
  Split parts;
  for (std::size_t i = 0; i < order.size(); ++i) {
    Digits& part = i < order.size() / 5 ? parts.test : parts.train;
    part.add(all.image(order[i]), all.labels[order[i]]);
  }
  return parts;
}

/// Returns one batch after another: the digits in a random order, and in a new order when less than a batch is left.
class Batches {
 public:
  Batches(const Digits& digits, std::size_t batch, Random random)
      : digits_{digits}, pixels_(batch * pixels_per_digit), labels_(batch), order_(digits.size()), random_{random} {
    for (std::size_t i = 0; i < order_.size(); ++i) order_[i] = i;
    used_ = order_.size();
  }

  void next() {
    if (order_.size() - used_ < labels_.size()) {
      random_.shuffle(order_);
      used_ = 0;
    }
    for (std::size_t row = 0; row < labels_.size(); ++row) {
      const std::size_t i = order_[used_++];
      const auto image = digits_.image(i);
      std::copy(image.begin(), image.end(), pixels_.begin() + static_cast<std::ptrdiff_t>(row * pixels_per_digit));
      labels_[row] = digits_.labels[i];
    }
  }
  /// The memory of the batch, which next() refills; its address does not change.
  [[nodiscard]] const std::vector<float>& pixels() const noexcept { return pixels_; }
  [[nodiscard]] const std::vector<std::int32_t>& labels() const noexcept { return labels_; }

 private:
  const Digits& digits_;
  std::vector<float> pixels_;
  std::vector<std::int32_t> labels_;
  std::vector<std::size_t> order_;
  std::size_t used_;
  Random random_;
};

}  // namespace digits
