// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/measure/result.hpp>

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The messages between a runner and its worker processes, which belong to one program on one machine.
namespace rondo::measure::detail {

/// Writes a message: its length in eight bytes, then its fields.
class Writer {
 public:
  void put(std::uint64_t n) { bytes_.append(reinterpret_cast<const char*>(&n), sizeof n); }
  void put(double x) { bytes_.append(reinterpret_cast<const char*>(&x), sizeof x); }
  void put(std::string_view text) {
    put(std::uint64_t{text.size()});
    bytes_.append(text);
  }
  void put(const std::vector<double>& numbers) {
    put(std::uint64_t{numbers.size()});
    for (const double x : numbers) put(x);
  }
  /// The message, with its length filled in.
  [[nodiscard]] const std::string& message() {
    const std::uint64_t size = bytes_.size() - sizeof size;
    std::memcpy(bytes_.data(), &size, sizeof size);
    return bytes_;
  }

 private:
  std::string bytes_ = std::string(sizeof(std::uint64_t), '\0');
};

/// Reads fields, but never beyond the end of the bytes. ok() returns whether the message was complete.
class Reader {
 public:
  explicit Reader(std::string_view bytes) noexcept : rest_{bytes} {}

  [[nodiscard]] std::uint64_t number() noexcept { return take<std::uint64_t>(); }
  [[nodiscard]] double real() noexcept { return take<double>(); }
  [[nodiscard]] std::string text() {
    const std::uint64_t size = number();
    if (size > rest_.size()) return fail(), std::string{};
    std::string text{rest_.substr(0, size)};
    rest_.remove_prefix(size);
    return text;
  }
  [[nodiscard]] std::vector<double> reals() {
    const std::uint64_t size = number();
    if (size > rest_.size() / sizeof(double)) return fail(), std::vector<double>{};
    std::vector<double> numbers(size);
    for (double& x : numbers) x = real();
    return numbers;
  }
  [[nodiscard]] bool has_more() const noexcept { return !rest_.empty(); }
  /// Whether all fields were present, and nothing else.
  [[nodiscard]] bool ok() const noexcept { return ok_ && rest_.empty(); }

 private:
  template <class T>
  [[nodiscard]] T take() noexcept {
    T value{};
    if (rest_.size() < sizeof value) return fail(), T{};
    std::memcpy(&value, rest_.data(),
                sizeof value);  // NOLINT(bugprone-suspicious-stringview-data-usage): these are bytes
    rest_.remove_prefix(sizeof value);
    return value;
  }
  void fail() noexcept {
    ok_ = false;
    rest_ = {};
  }

  std::string_view rest_;
  bool ok_ = true;
};

inline constexpr std::uint64_t longest_message = 64U << 20;
/// Whether the bytes of a message, with its length before it, are more than the other end accepts.
[[nodiscard]] inline bool is_too_long(const std::string& message) noexcept {
  return message.size() - sizeof(std::uint64_t) > longest_message;
}

/// Removes the first message from the bytes that have arrived. Returns nothing if it is incomplete. `is_garbage`: no
/// message can begin with these bytes.
[[nodiscard]] inline std::optional<std::string> cut_message(std::string& arrived, bool& is_garbage) {
  std::uint64_t size = 0;
  if (arrived.size() < sizeof size) return std::nullopt;
  std::memcpy(&size, arrived.data(), sizeof size);
  is_garbage = size > longest_message;
  if (is_garbage || arrived.size() - sizeof size < size) return std::nullopt;
  std::string body = arrived.substr(sizeof size, size);
  arrived.erase(0, sizeof size + size);
  return body;
}

/// `is_last`: the worker is to be replaced.
[[nodiscard]] inline std::string encode(const Measured& m, bool is_last = false) {
  Writer writer;
  writer.put(static_cast<std::uint64_t>(m.fault));
  writer.put(m.text);
  writer.put(m.seconds);
  writer.put(m.device_seconds);
  writer.put(std::uint64_t{is_last});
  return writer.message();
}
[[nodiscard]] inline std::optional<Measured> decode(std::string_view body, bool& is_last) {
  Reader reader{body};
  Measured m;
  const std::uint64_t fault = reader.number();
  m.fault = static_cast<Fault>(fault);
  m.text = reader.text();
  m.seconds = reader.reals();
  m.device_seconds = reader.reals();
  is_last = reader.number() != 0;
  if (!reader.ok() || fault >= fault_count) return std::nullopt;
  return m;
}

}  // namespace rondo::measure::detail
