// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dataset.hpp"
#include "progress.hpp"
#include "svg.hpp"

#include <range/v3/algorithm/count_if.hpp>
#include <range/v3/algorithm/max_element.hpp>
#include <range/v3/algorithm/minmax.hpp>
#include <range/v3/numeric/accumulate.hpp>
#include <range/v3/range/conversion.hpp>
#include <range/v3/view/chunk.hpp>
#include <range/v3/view/concat.hpp>
#include <range/v3/view/filter.hpp>
#include <range/v3/view/iota.hpp>
#include <range/v3/view/remove_if.hpp>
#include <range/v3/view/slice.hpp>
#include <range/v3/view/take.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/// A picture of a training run: loss curve, confusion matrix, and twelve test digits.
namespace digits {

/// The network's answers for the test digits.
class Verdicts {
 public:
  /// `probabilities`: digits.size() × 10. `digits` must outlive this.
  Verdicts(const Digits& digits, std::vector<float> probabilities)
      : digits_{digits}, probabilities_{std::move(probabilities)} {
    for (const auto row : probabilities_ | ranges::views::chunk(classes)) {
      guesses_.push_back(static_cast<std::size_t>(ranges::max_element(row) - row.begin()));
      ++counts_[truth(guesses_.size() - 1)][guesses_.back()];
    }
    for (std::size_t digit = 0; digit < classes; ++digit) right_ += counts_[digit][digit];
  }
  [[nodiscard]] const Digits& digits() const noexcept { return digits_; }
  [[nodiscard]] std::size_t size() const noexcept { return guesses_.size(); }
  [[nodiscard]] std::size_t truth(std::size_t i) const { return static_cast<std::size_t>(digits_.labels[i]); }
  [[nodiscard]] std::size_t guess(std::size_t i) const { return guesses_[i]; }
  [[nodiscard]] bool is_right(std::size_t i) const { return guesses_[i] == truth(i); }
  /// The probability of the network's answer, 0 to 1.
  [[nodiscard]] double confidence(std::size_t i) const {
    return static_cast<double>(probabilities_[i * classes + guesses_[i]]);
  }
  /// The number of answers by class, for digits of class `truth`.
  [[nodiscard]] const std::array<std::size_t, classes>& counts(std::size_t truth) const { return counts_[truth]; }
  [[nodiscard]] std::size_t right() const noexcept { return right_; }
  [[nodiscard]] double accuracy() const { return static_cast<double>(right_) / static_cast<double>(size()); }

 private:
  const Digits& digits_;
  std::vector<float> probabilities_;
  std::vector<std::size_t> guesses_;
  std::array<std::array<std::size_t, classes>, classes> counts_{};
  std::size_t right_ = 0;
};

struct Report {
  std::string platform;
  std::size_t rounds, batch, train_size;
  std::uint64_t seed;
  const std::vector<float>& losses;  ///< one for each round
  const Verdicts& verdicts;
};

namespace picture {

// Okabe and Ito's blue and vermilion, which colour-blind readers can tell apart, on greys.
inline constexpr const char* blue = "#0072b2";
inline constexpr const char* red = "#c84e00";
inline constexpr const char* ink = "#1f2933";
inline constexpr const char* grey = "#52606d";
inline constexpr const char* faint = "#9aa5b1";

struct Box {
  double x, y, width, height;
};

/// Draws a white card with a heading and a text under it; returns the free area of the card.
inline Box card(Svg& svg, const Box& box, const std::string& heading, const std::string& caption) {
  svg.rect(box.x, box.y, box.width, box.height, "rx=\"10\" fill=\"#ffffff\" stroke=\"#e1e5ea\"");
  svg.text({box.x + 24, box.y + 34}, heading, {.size = 16, .colour = ink, .weight = 600});
  svg.text({box.x + 24, box.y + 54}, caption, {.size = 12});
  return {box.x + 24, box.y + 72, box.width - 48, box.height - 96};
}

/// The colour between `from` (share 0) and `to` (share 1), as #rrggbb.
inline std::string mix(const std::array<int, 3>& from, const std::array<int, 3>& to, double share) {
  std::string colour = "#";
  for (std::size_t i = 0; i < 3; ++i) {
    const int level = static_cast<int>(std::lround(from[i] + (to[i] - from[i]) * std::clamp(share, 0.0, 1.0)));
    for (const int digit : {level / 16, level % 16}) colour += "0123456789abcdef"[digit];
  }
  return colour;
}

/// The transformation that turns a text at {0, 0} so that it reads upwards at `at`.
inline std::string upright(Point at) {
  return "transform=\"translate(" + number(at.x, 1) + ' ' + number(at.y, 1) + ") rotate(-90)\"";
}

/// A round distance between ticks, such that there are at most `most` of them.
inline std::size_t tick_step(std::size_t range, std::size_t most) {
  for (std::size_t decade = 1;; decade *= 10) {
    for (const std::size_t factor : {1U, 2U, 5U}) {
      if (range / (decade * factor) <= most) return decade * factor;
    }
  }
}

/// The rounds in a few hundred groups, each with its least, mean and greatest loss.
struct Curve {
  std::vector<double> round, least, mean, greatest;
};

inline Curve condense(const std::vector<float>& losses, std::size_t groups) {
  Curve curve;
  groups = std::min(groups, losses.size());
  for (std::size_t g = 0; g < groups; ++g) {
    const std::size_t begin = losses.size() * g / groups;
    const std::size_t end = losses.size() * (g + 1) / groups;
    const auto group = losses | ranges::views::slice(begin, end);
    const double mean = ranges::accumulate(group, 0.0) / static_cast<double>(end - begin);
    if (!std::isfinite(mean)) continue;  // a training that diverged
    const auto [least, greatest] = ranges::minmax(group);
    curve.round.push_back(static_cast<double>(begin + end + 1) / 2);
    curve.least.push_back(static_cast<double>(least));
    curve.mean.push_back(mean);
    curve.greatest.push_back(static_cast<double>(greatest));
  }
  return curve;
}

inline void draw_loss(Svg& svg, const Box& box, const Report& report) {
  const Box inner = card(svg, box, "Loss", "Cross-entropy of each round’s batch on a logarithmic axis: mean and range");
  const Box plot{inner.x + 56, inner.y + 8, inner.width - 62, inner.height - 36};
  const Curve curve = condense(report.losses, 240);

  // The axis spans whole decades of the means, and ends a little above the loss of guessing, ln 10.
  const double guessing = std::log(10.0);
  double low = 0.1;
  double high = 4.0;
  for (const double mean : curve.mean) {
    while (low > mean && low > 1e-4) low /= 10;
    while (high < mean && high < 1e6) high *= 10;
  }
  const auto x = [&](double round) { return plot.x + plot.width * round / static_cast<double>(report.rounds); };
  const auto y = [&](double loss) {
    return plot.y + plot.height * std::log(high / std::clamp(loss, low, high)) / std::log(high / low);
  };

  for (double decade = low; decade < high; decade *= 10) {
    for (int i = 1; i < 10 && decade * i <= high; ++i) {
      svg.line({plot.x, y(decade * i)}, {plot.x + plot.width, y(decade * i)},
               i == 1 ? "stroke=\"#d5dbe1\"" : "stroke=\"#f0f2f5\"");
    }
    const int places = std::max(0, -static_cast<int>(std::floor(std::log10(decade) + 0.5)));
    svg.text({plot.x - 10, y(decade) + 4}, number(decade, places), {.size = 12, .anchor = "end"});
  }
  const std::size_t step = tick_step(report.rounds, 6);
  for (std::size_t round = 0; round <= report.rounds; round += step) {
    const double at = x(static_cast<double>(round));
    svg.line({at, plot.y + plot.height}, {at, plot.y + plot.height + 5}, "stroke=\"#9aa5b1\"");
    svg.text({at, plot.y + plot.height + 20}, with_commas(round), {.size = 12, .anchor = "middle"});
  }
  svg.line({plot.x, plot.y + plot.height}, {plot.x + plot.width, plot.y + plot.height}, "stroke=\"#9aa5b1\"");
  svg.text(
      {plot.x + plot.width / 2, plot.y + plot.height + 44},
      "training round (" + with_commas(report.train_size / report.batch) + " to a pass through the training digits)",
      {.size = 12, .anchor = "middle"});
  svg.text({0, 0}, "loss in nats", {.size = 12, .anchor = "middle"}, upright({inner.x + 2, plot.y + plot.height / 2}));

  svg.line({plot.x, y(guessing)}, {plot.x + plot.width, y(guessing)},
           "stroke=\"#52606d\" stroke-dasharray=\"2 4\" stroke-linecap=\"round\"");
  svg.text({plot.x + plot.width, y(guessing) - 7}, "guessing: ln 10 = 2.30", {.size = 12, .anchor = "end"});

  if (curve.mean.empty()) return;
  std::vector<Point> lower, middle, upper;
  for (std::size_t i = 0; i < curve.mean.size(); ++i) {
    lower.push_back({x(curve.round[i]), y(curve.least[i])});
    middle.push_back({x(curve.round[i]), y(curve.mean[i])});
    upper.push_back({x(curve.round[i]), y(curve.greatest[i])});
  }
  if (curve.mean.size() > 1) {
    svg.path(path_data(upper, lower), "fill=\"#0072b2\" fill-opacity=\"0.16\"");
    svg.path(path_data(middle), "fill=\"none\" stroke=\"#0072b2\" stroke-width=\"2\" stroke-linejoin=\"round\"");
  }
  svg.circle(middle.back(), 4, "fill=\"#0072b2\" stroke=\"#ffffff\" stroke-width=\"1.5\"");
  const double last = curve.mean.back();
  const int places = last > 0 ? std::clamp(1 - static_cast<int>(std::floor(std::log10(last))), 2, 8) : 2;
  svg.text({middle.back().x, middle.back().y - 15}, number(last, places),
           {.size = 13, .colour = blue, .anchor = "end", .weight = 700},
           "paint-order=\"stroke\" stroke=\"#ffffff\" stroke-width=\"4\" stroke-linejoin=\"round\"");
}

inline void draw_confusion(Svg& svg, const Box& box, const Report& report) {
  const Verdicts& verdicts = report.verdicts;
  const Box inner = card(svg, box, "Confusion", "How many test digits of each kind were taken for what");
  const double cell = 31;
  const double left = inner.x + 44;
  const double top = inner.y + 28;
  const double side = cell * classes;
  const auto middle = [cell](double from, std::size_t i) { return from + cell * (static_cast<double>(i) + 0.5); };

  for (std::size_t truth = 0; truth < classes; ++truth) {
    const std::size_t all = ranges::accumulate(verdicts.counts(truth), std::size_t{0});
    for (std::size_t guess = 0; guess < classes; ++guess) {
      const std::size_t count = verdicts.counts(truth)[guess];
      const double share = static_cast<double>(count) / static_cast<double>(std::max<std::size_t>(all, 1));
      // A single mistake is a small share and must still be seen, so mistakes are scaled to a tenth of the row.
      const std::string fill = count == 0       ? "#f4f6f8"
                               : truth == guess ? mix({222, 236, 245}, {0, 114, 178}, share)
                                                : mix({253, 226, 208}, {200, 78, 0}, share / 0.1 - 0.2);
      svg.rect(left + cell * static_cast<double>(guess) + 1, top + cell * static_cast<double>(truth) + 1, cell - 2,
               cell - 2, "rx=\"3\" fill=\"" + fill + '"');
      if (count == 0) continue;
      const bool is_dark = truth == guess ? share > 0.5 : share > 0.08;
      svg.text({middle(left, guess), middle(top, truth) + 4.5}, std::to_string(count),
               {.size = 13, .colour = is_dark ? "#ffffff" : ink, .anchor = "middle", .weight = 600});
    }
    const double at = middle(top, truth) + 4.5;
    svg.text({left - 12, at}, std::to_string(truth), {.size = 13, .colour = ink, .anchor = "middle", .weight = 600});
    const std::string share =
        all == 0
            ? "–"
            : number(100.0 * static_cast<double>(verdicts.counts(truth)[truth]) / static_cast<double>(all), 0) + " %";
    svg.text({left + side + 48, at}, share, {.size = 12, .anchor = "end"});
    svg.text({middle(left, truth), top - 9}, std::to_string(truth),
             {.size = 13, .colour = ink, .anchor = "middle", .weight = 600});
  }
  svg.text({left + side + 48, top - 9}, "right", {.size = 12, .anchor = "end"});
  svg.text({left + side / 2, top + side + 20}, "digit that the network read", {.size = 12, .anchor = "middle"});
  svg.text({0, 0}, "digit in the picture", {.size = 12, .anchor = "middle"}, upright({inner.x + 10, top + side / 2}));
}

/// Selects up to six mistakes, then correct answers, each in the order of the test set.
inline std::vector<std::size_t> twelve(const Verdicts& verdicts) {
  namespace views = ranges::views;
  const auto is_right = [&](std::size_t i) { return verdicts.is_right(i); };
  const auto all = views::iota(std::size_t{0}, verdicts.size());
  const std::size_t right = std::min<std::size_t>(verdicts.right(), 12);
  const std::size_t wrong = std::min(verdicts.size() - verdicts.right(), std::max<std::size_t>(6, 12 - right));
  return views::concat(all | views::remove_if(is_right) | views::take(wrong),
                       all | views::filter(is_right) | views::take(12 - wrong)) |
         ranges::to<std::vector>;
}

inline void draw_digit(Svg& svg, Point at, double side, const Verdicts& verdicts, std::size_t i) {
  const bool right = verdicts.is_right(i);
  const char* const colour = right ? blue : red;
  const double pixel = side / image_side;
  svg.open_group("shape-rendering=\"crispEdges\"");
  svg.rect(at.x, at.y, side, side, "fill=\"#f4f6f8\"");
  const auto image = verdicts.digits().image(i);
  for (std::size_t p = 0; p < image.size(); ++p) {
    if (image[p] == 0.0F) continue;
    svg.rect(at.x + pixel * static_cast<double>(p % image_side), at.y + pixel * static_cast<double>(p / image_side),
             pixel, pixel, "fill=\"" + mix({244, 246, 248}, {31, 41, 51}, static_cast<double>(image[p])) + '"');
  }
  svg.close_group();
  svg.rect(
      at.x - 2, at.y - 2, side + 4, side + 4,
      std::string{"rx=\"3\" fill=\"none\" stroke-width=\""} + (right ? "1.5" : "3") + "\" stroke=\"" + colour + '"');

  const double centre = at.x + side / 2;
  const double base = at.y + side + 30;
  svg.text({centre - 3, base}, std::to_string(verdicts.guess(i)),
           {.size = 22, .colour = colour, .anchor = "end", .weight = 700});
  const double m = centre + 5;
  const std::vector<Point> tick{{m, base - 8}, {m + 4, base - 3}, {m + 12, base - 14}};
  const std::string mark = right ? path_data(tick)
                                 : path_data(std::vector<Point>{{m, base - 14}, {m + 11, base - 3}}) +
                                       path_data(std::vector<Point>{{m, base - 3}, {m + 11, base - 14}});
  svg.path(mark, std::string{"fill=\"none\" stroke-width=\"2.5\" stroke-linecap=\"round\" stroke-linejoin=\"round\" "} +
                     "stroke=\"" + colour + '"');
  svg.text({centre, base + 20}, number(100 * verdicts.confidence(i), 0) + " % sure", {.size = 12, .anchor = "middle"});
  if (!right) {
    svg.text({centre, base + 38}, "it is a " + std::to_string(verdicts.truth(i)),
             {.size = 12, .colour = red, .anchor = "middle", .weight = 600});
  }
}

inline void draw_digits(Svg& svg, const Box& box, const Report& report) {
  const std::vector<std::size_t> shown = twelve(report.verdicts);
  const auto is_right = [&](std::size_t i) { return report.verdicts.is_right(i); };
  const auto wrong = shown.size() - static_cast<std::size_t>(ranges::count_if(shown, is_right));
  const std::size_t mistakes = report.verdicts.size() - report.verdicts.right();
  std::string caption = "What the network read, and how sure it was: ";
  if (wrong > 0) caption += std::to_string(wrong) + " of its " + std::to_string(mistakes) + " mistakes, then ";
  caption +=
      std::to_string(shown.size() - wrong) + " of the " + std::to_string(report.verdicts.right()) + " it got right";
  const Box inner = card(svg, box, "Test digits", caption);
  const double side = 72;
  const double gap = std::floor((inner.width - 4 - side * 12) / 11);  // whole pixels keep the edges crisp
  const double left = inner.x + std::floor((inner.width - side * 12 - gap * 11) / 2);
  for (std::size_t i = 0; i < shown.size(); ++i) {
    draw_digit(svg, {left + (side + gap) * static_cast<double>(i), inner.y + 6}, side, report.verdicts, shown[i]);
  }
}

}  // namespace picture

/// The whole picture as SVG. The same training gives the same text.
[[nodiscard]] inline std::string draw(const Report& report) {
  using namespace picture;
  const std::string percent = number(100 * report.verdicts.accuracy(), 1);
  const std::string of = with_commas(report.verdicts.right()) + " of " + with_commas(report.verdicts.size());
  Svg svg(1200, 850, "Hand-written digits, learned round after round",
          "Loss curve, confusion matrix and twelve test digits; test accuracy " + percent + " %");
  svg.rect(0, 0, 1200, 850, "fill=\"#f7f8fa\"");
  svg.text({36, 62}, "Hand-written digits, learned round after round", {.size = 27, .colour = ink, .weight = 700});
  svg.text({36, 90},
           "A 64-32-10 network on " + report.platform + ": " + counted(report.rounds, "round") + " of " +
               counted(report.batch, "digit") + ", seed " + std::to_string(report.seed),
           {.size = 15});
  svg.text({1164, 68}, percent + " %", {.size = 42, .colour = blue, .anchor = "end", .weight = 700});
  svg.text({1164, 90}, of + " held-out digits read right", {.size = 13, .anchor = "end"});

  draw_loss(svg, {36, 116, 672, 446}, report);
  draw_confusion(svg, {724, 116, 440, 446}, report);
  draw_digits(svg, {36, 578, 1128, 236}, report);
  svg.text({36, 836}, "Data: Optical Recognition of Handwritten Digits, E. Alpaydin and C. Kaynak, UCI, CC BY 4.0",
           {.size = 11, .colour = faint});
  return svg.finish();
}

}  // namespace digits
