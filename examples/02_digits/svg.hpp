// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iomanip>
#include <ios>
#include <locale>
#include <sstream>
#include <string>
#include <string_view>

namespace digits {

struct Point {
  double x, y;
};

/// The style of a text; `anchor` is start, middle or end.
struct Type {
  int size = 13;
  const char* colour = "#52606d";
  const char* anchor = "start";
  int weight = 400;
};

/// Writes SVG elements. Lengths are in user units, one pixel at the picture's own size; `style` holds further
/// attributes.
class Svg {
 public:
  Svg(int width, int height, std::string_view title, std::string_view description) {
    out_.imbue(std::locale::classic());
    out_ << std::fixed << std::setprecision(2);
    out_ << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " << width << ' ' << height << "\" width=\""
         << width << "\" height=\"" << height << "\" role=\"img\" font-family=\"Inter, 'Helvetica Neue', 'Segoe UI', "
         << "'Noto Sans', 'DejaVu Sans', sans-serif\">\n<title>" << title << "</title>\n<desc>" << description
         << "</desc>\n";
  }

  void rect(double x, double y, double width, double height, std::string_view style) {
    out_ << "<rect x=\"" << x << "\" y=\"" << y << "\" width=\"" << width << "\" height=\"" << height << "\" " << style
         << "/>\n";
  }
  void line(Point from, Point to, std::string_view style) {
    out_ << "<line x1=\"" << from.x << "\" y1=\"" << from.y << "\" x2=\"" << to.x << "\" y2=\"" << to.y << "\" "
         << style << "/>\n";
  }
  /// `data`: as made by path_data().
  void path(std::string_view data, std::string_view style) { out_ << "<path d=\"" << data << "\" " << style << "/>\n"; }
  void circle(Point centre, double radius, std::string_view style) {
    out_ << "<circle cx=\"" << centre.x << "\" cy=\"" << centre.y << "\" r=\"" << radius << "\" " << style << "/>\n";
  }
  /// `content` may hold markup such as <tspan>; it is written as it is.
  void text(Point at, std::string_view content, const Type& type, std::string_view style = {}) {
    out_ << "<text x=\"" << at.x << "\" y=\"" << at.y << "\" font-size=\"" << type.size << "\" fill=\"" << type.colour
         << '"';
    if (std::string_view{type.anchor} != "start") out_ << " text-anchor=\"" << type.anchor << '"';
    if (type.weight != 400) out_ << " font-weight=\"" << type.weight << '"';
    if (!style.empty()) out_ << ' ' << style;
    out_ << '>' << content << "</text>\n";
  }
  void open_group(std::string_view style) { out_ << "<g " << style << ">\n"; }
  void close_group() { out_ << "</g>\n"; }

  [[nodiscard]] std::string finish() {
    out_ << "</svg>\n";
    return out_.str();
  }

 private:
  std::ostringstream out_;
};

/// `digits` places after the point, whatever the locale.
inline std::string number(double value, int places) {
  std::ostringstream out;
  out.imbue(std::locale::classic());
  out << std::fixed << std::setprecision(places) << value;
  return out.str();
}

/// A path through the points; through all of `back` in reverse too, and closed, if there are any.
template <class Points>
[[nodiscard]] std::string path_data(const Points& points, const Points& back = {}) {
  std::string data;
  const auto go = [&data](const Point& p) {
    data += data.empty() ? 'M' : 'L';
    data += number(p.x, 2) + ' ' + number(p.y, 2);
  };
  for (const Point& p : points) go(p);
  for (auto p = back.rbegin(); p != back.rend(); ++p) go(*p);
  if (!back.empty()) data += 'Z';
  return data;
}

}  // namespace digits
