// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/memory/problem.hpp>
#include <rondo/memory/report.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <locale>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace rondo::search {

using memory::Buffer;
using memory::Plan;
using memory::Problem;
using memory::Span;

namespace detail {

/// Escapes text for an XML element or attribute.
[[nodiscard]] inline std::string xml_text(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      default: result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return result;
}

}  // namespace detail

/// Draws a plan as SVG: time to the right, offsets upwards, a rectangle for each stretch in which a buffer is in use.
/// The tooltip of a rectangle shows the buffer's name (`names`, one per buffer; if empty, its number), lifetime, size
/// and offset. Buffers with a fixed offset have a dark edge; the dashed line is the lower bound. Buffers without bytes
/// or lifetime are left out. The locale of the stream has no effect.
inline void write_svg(std::ostream& file, const Problem& problem, const Plan& plan,
                      const std::vector<std::string>& names = {}) {
  std::ostringstream out;
  out.imbue(std::locale::classic());
  constexpr double width = 1200;
  constexpr double height = 600;
  constexpr double margin = 40;
  std::int64_t from = std::numeric_limits<std::int64_t>::max();
  std::int64_t until = std::numeric_limits<std::int64_t>::min();
  for (const Buffer& b : problem.buffers) {
    if (!b.occupies()) continue;
    from = std::min(from, b.lower);
    until = std::max(until, b.upper);
  }
  const double time = until > from ? static_cast<double>(until) - static_cast<double>(from) : 1.0;
  const double bytes = plan.arena > 0 ? static_cast<double>(plan.arena) : 1.0;
  const auto x = [&](std::int64_t t) {
    return margin + width * (static_cast<double>(t) - static_cast<double>(from)) / time;
  };
  const auto y = [&](std::int64_t o) { return margin + height * (1.0 - static_cast<double>(o) / bytes); };

  out << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " << width + 2 * margin << ' ' << height + 2 * margin
      << "\" font-family=\"sans-serif\" font-size=\"14\">\n"
      << "<title>" << plan.arena << " bytes, lower bound " << plan.lower_bound << "</title>\n"
      << "<rect x=\"" << margin << "\" y=\"" << margin << "\" width=\"" << width << "\" height=\"" << height
      << "\" fill=\"#f4f4f4\"/>\n";
  for (std::size_t i = 0; i < problem.size(); ++i) {
    const Buffer& b = problem.buffers[i];
    if (!b.occupies()) continue;
    const std::string name = i < names.size() ? detail::xml_text(names[i]) : std::to_string(i);
    for_each_use(b, [&](Span use) {
      const double top = y(plan.offsets[i] + b.size);
      out << "<rect x=\"" << x(use.lower) << "\" y=\"" << top << "\" width=\"" << x(use.upper) - x(use.lower)
          << "\" height=\"" << y(plan.offsets[i]) - top << "\" fill=\"hsl(" << i * 137 % 360 << ",60%,70%)\" stroke=\""
          << (b.is_fixed() ? "black" : "white") << "\" stroke-width=\"0.5\"><title>" << name << ": [" << b.lower << ", "
          << b.upper << "), " << b.size << " bytes at " << plan.offsets[i] << "</title></rect>\n";
    });
  }
  out << "<line x1=\"" << margin << "\" x2=\"" << margin + width << "\" y1=\"" << y(plan.lower_bound) << "\" y2=\""
      << y(plan.lower_bound) << "\" stroke=\"black\" stroke-dasharray=\"4 3\"/>\n"
      << "<text x=\"" << margin << "\" y=\"" << margin - 12 << "\">" << plan.arena << " bytes (lower bound "
      << plan.lower_bound << "), " << detail::xml_text(plan.planner) << "</text>\n"
      << "<text x=\"" << margin << "\" y=\"" << height + margin + 24 << "\">time ▸</text>\n</svg>\n";
  file << out.str();
}

/// Draws the arena as SVG: time to the right, offsets upwards, a rectangle for each stretch in which memory is in use,
/// with the names of its tensors.
inline void write_memory_map(std::ostream& out, const memory::Report& report) {
  std::vector<std::string> names(report.problem.size());
  for (const memory::Report::Tensor& tensor : report.tensors) {
    if (tensor.buffer == memory::Lifetimes::no_buffer) continue;
    std::string& name = names[tensor.buffer];
    name += name.empty() ? tensor.name : ", " + tensor.name;
  }
  Plan plan = report.plan;
  plan.planner = "";
  write_svg(out, report.problem, plan, names);
}

}  // namespace rondo::search
