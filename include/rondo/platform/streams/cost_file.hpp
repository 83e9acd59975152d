// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/arch/costs.hpp>
#include <rondo/args/refresh_op.hpp>
#include <rondo/detail/fixed_text.hpp>
#include <rondo/error.hpp>
#include <rondo/platform/file.hpp>
#include <rondo/platform/saved_file.hpp>

#include <unistd.h>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

/// Files of measured costs, as tools/calibrate writes them: one JSON object of names, with texts and numbers.
namespace rondo {

using args::RefreshCosts;

/// A file of costs that a session uses: `Options{.cost_file = "costs.json"}`. If no file is named, it is the one that
/// the environment variable RONDO_COSTS names; if that cannot be used, the session's log says why.
struct CostFile {
  constexpr CostFile() noexcept = default;
  /// A path, and optionally what happens if the file cannot be used.
  constexpr CostFile(const char* file, IfUnusable otherwise = IfUnusable::refuse) noexcept  // NOLINT: reads as a path
      : path{file}, if_unusable{otherwise} {}

  const char* path = nullptr;                   ///< null: no file
  IfUnusable if_unusable = IfUnusable::refuse;  ///< if the file is missing, damaged, or of another machine
};

/// The costs of a platform on a machine, in picoseconds.
struct MeasuredCosts {
  detail::FixedText<48> platform{};  ///< its name
  detail::FixedText<192> machine{};  ///< the processors of the host, their number, and the device
  RefreshCosts refresh{};            ///< by which rounds choose how addresses reach the device
  std::uint64_t launch = 0;          ///< a launch of a small kernel, until the call returns; 0: not measured
  std::uint64_t wait = 0;            ///< a wait for a small copy that was just submitted; 0: not measured

  friend bool operator==(const MeasuredCosts&, const MeasuredCosts&) noexcept = default;
};

namespace detail {

struct NamedCost {
  const char* name;
  std::uint64_t RefreshCosts::* value;
};
inline constexpr NamedCost named_costs[] = {{"copy", &RefreshCosts::copy},
                                            {"copied_byte", &RefreshCosts::copied_byte},
                                            {"host_slot", &RefreshCosts::host_slot},
                                            {"device_op", &RefreshCosts::device_op},
                                            {"device_slot", &RefreshCosts::device_slot},
                                            {"launched_byte", &RefreshCosts::launched_byte}};

/// Returns a text that names the processors of this host and the device, without characters that JSON would escape.
[[nodiscard]] inline FixedText<192> machine_of(const char* device) {
  char line[256] = {};
  const char* processor = "unknown processor";
  if (const File file{std::fopen("/proc/cpuinfo", "r")}; file != nullptr) {
    while (std::fgets(line, sizeof(line), file.get()) != nullptr) {
      char* const colon = std::strchr(line, ':');
      // On Arm there is no name; the number of the part says which core it is.
      if (colon == nullptr || (std::strncmp(line, "model name", 10) != 0 && std::strncmp(line, "CPU part", 8) != 0)) {
        continue;
      }
      processor = colon + 1 + std::strspn(colon + 1, " ");
      break;
    }
  }
  FixedText<192> text;
  const auto append = [&text](const char* from) {
    for (; *from != 0; ++from) {
      if (static_cast<unsigned char>(*from) >= ' ' && *from != '"' && *from != '\\') text.append(*from);
    }
  };
  append(processor);
  text.append({" x ", ::sysconf(_SC_NPROCESSORS_CONF), ", "});
  append(device);
  return text;
}

/// Reads a JSON object whose values are texts without escapes and whole numbers.
class FlatJson {
 public:
  explicit FlatJson(std::string_view text) noexcept : left_{text} {}
  /// Calls `take(name, text, number)`, of which `text` is empty for a number. Returns whether this is such an object
  /// and `take` returned true each time.
  template <class Take>
  [[nodiscard]] bool read(const Take& take) {
    if (!skip('{')) return false;
    do {
      std::string_view name, text;
      std::uint64_t number = 0;
      if (!read_text(name) || !skip(':')) return false;
      if (!read_text(text) && !read_number(number)) return false;
      if (!take(name, text, number)) return false;
    } while (skip(','));
    return skip('}') && (skip_space(), left_.empty());
  }

 private:
  void skip_space() noexcept { left_.remove_prefix(std::min(left_.find_first_not_of(" \t\r\n"), left_.size())); }
  [[nodiscard]] bool skip(char c) noexcept {
    skip_space();
    if (left_.empty() || left_.front() != c) return false;
    left_.remove_prefix(1);
    return true;
  }
  [[nodiscard]] bool read_text(std::string_view& text) noexcept {
    if (!skip('"')) return false;
    const std::size_t end = left_.find_first_of("\"\\\n");
    if (end == std::string_view::npos || left_[end] != '"') return false;
    text = left_.substr(0, end);
    left_.remove_prefix(end + 1);
    return true;
  }
  [[nodiscard]] bool read_number(std::uint64_t& number) noexcept {
    skip_space();
    const std::size_t digits = std::min(left_.find_first_not_of("0123456789"), left_.size());
    if (digits == 0 || digits > 18) return false;
    for (const char c : left_.substr(0, digits)) number = 10 * number + static_cast<std::uint64_t>(c - '0');
    left_.remove_prefix(digits);
    return true;
  }

  std::string_view left_;
};

}  // namespace detail

/// Writes costs to a file, as a whole. @throws Error invalid_argument if there can be no such file, out_of_resources if
/// the disk is full
inline void write_costs(const char* path, const MeasuredCosts& costs) {
  std::string text = "{\n  \"rondo_costs\": 1,\n  \"platform\": \"";
  text.append(costs.platform.c_str()).append("\",\n  \"machine\": \"").append(costs.machine.c_str()).append("\"");
  const auto add = [&](const char* name, std::uint64_t value) {
    text.append(",\n  \"").append(name).append("\": ").append(std::to_string(value));
  };
  for (const detail::NamedCost& cost : detail::named_costs) add(cost.name, costs.refresh.*cost.value);
  add("launch", costs.launch);
  add("wait", costs.wait);
  text += "\n}\n";
  detail::write_file(path, "the costs cannot be written there", text);
}

/// Reads a file of costs. A cost that the file omits keeps its default. @throws Error invalid_argument if there is no
/// such file, or it is no file of costs; out_of_resources if it cannot be read
[[nodiscard]] inline MeasuredCosts read_costs(const char* path) {
  const std::string text = detail::read_file(path, "the file of costs cannot be read; tools/calibrate writes it");
  MeasuredCosts costs;
  std::uint64_t format = 0;
  const bool is_good =
      detail::FlatJson(text).read([&](std::string_view name, std::string_view word, std::uint64_t number) {
        if (name == "platform") return costs.platform = decltype(costs.platform)(word), !word.empty();
        if (name == "machine") return costs.machine = decltype(costs.machine)(word), !word.empty();
        const auto* const known = std::find_if(std::begin(detail::named_costs), std::end(detail::named_costs),
                                               [&](const detail::NamedCost& c) { return name == c.name; });
        std::uint64_t* const to = known != std::end(detail::named_costs) ? &(costs.refresh.*known->value)
                                  : name == "launch"                     ? &costs.launch
                                  : name == "wait"                       ? &costs.wait
                                  : name == "rondo_costs"                ? &format
                                                                         : nullptr;
        if (to == nullptr || !word.empty()) return false;
        *to = number;
        return true;
      });
  if (is_good && format == 1) return costs;
  throw Error(
      Errc::invalid_argument,
      Error::Text{path,
                  ": this is not a file of costs, or it is of another version; write it again with tools/calibrate"});
}

/// The measured costs as predictions take them (`Model::Options::costs`): the launch, and the latency and bandwidth of
/// copies, which are taken to be the same in both directions. The latency is the measured wait for a small copy. All
/// other costs, and those that were not measured, are left as not given, so the chip's are used.
[[nodiscard]] inline arch::Costs chip_costs(const MeasuredCosts& measured) noexcept {
  const auto ns = [](std::uint64_t ps) { return ps == 0 ? arch::Costs::not_given : static_cast<double>(ps) / 1000; };
  arch::Costs costs;
  costs.launch_ns = ns(measured.launch);
  costs.copy_in_latency_ns = costs.copy_out_latency_ns = ns(measured.wait);
  if (const std::uint64_t ps = measured.refresh.copied_byte; ps != 0) {
    costs.copy_in_gbps = costs.copy_out_gbps = 1000 / static_cast<double>(ps);
  }
  return costs;
}

namespace detail {

/// The costs of refreshing in the file that the options of a platform name, or else the environment. Returns none, and
/// `remark` says why, if the file cannot be used and need not be. @throws Error invalid_argument if it must be used
template <class Device>
[[nodiscard]] std::optional<RefreshCosts> load_costs(const CostFile& named, const char* platform, const Device& device,
                                                     Error::Text& remark) {
  const CostFile file = named.path != nullptr ? named : CostFile{std::getenv("RONDO_COSTS"), IfUnusable::ignore};
  if (file.path == nullptr || *file.path == 0) return std::nullopt;
  try {
    const MeasuredCosts costs = read_costs(file.path);
    const FixedText<192> here = device.machine();
    if (std::string_view{costs.platform} == platform && costs.machine == here) return costs.refresh;
    throw Error(Errc::invalid_argument,
                Error::Text{file.path, ": it was measured for ", costs.platform, " on ", costs.machine,
                            ", and this is ", platform, " on ", here, "; run tools/calibrate here"});
  } catch (const Error& error) {
    if (file.if_unusable == IfUnusable::refuse) throw;
    remark = Error::Text{"costs are not taken from ", error.what()};
  }
  return std::nullopt;
}

}  // namespace detail

}  // namespace rondo
