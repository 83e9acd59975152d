// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Colours of the charts, light and dark. The series' colours are Okabe and Ito's, which people with any colour vision
// can tell apart, made darker for a light ground and lighter for a dark one; shapes say the same once more.

const light = {
  dark: false,
  text: "#1d2430",
  quiet: "#5d6675",
  line: "#d5dae2",
  faint: "#eef0f4",
  ground: "#ffffff",
  tip: "#ffffff",
  series: ["#0072b2", "#d55e00", "#009e73", "#b0569a", "#b8860b", "#3aa0d8", "#6b6f76", "#7a4fbf"],
  fills: ["#7fb8dc", "#f0a878", "#80cdb6", "#dcabce", "#e6cf8a", "#a9d8f2", "#c3c7ce", "#bfa9e4"],
};
const dark = {
  dark: true,
  text: "#e6e9ef",
  quiet: "#9aa4b5",
  line: "#363d4a",
  faint: "#232935",
  ground: "#191e27",
  tip: "#222936",
  series: ["#56b4e9", "#f0803c", "#2fc89c", "#e08fc8", "#e6c35c", "#9cc7ff", "#b4bac6", "#b79cf2"],
  fills: ["#2f6f99", "#a35a30", "#2b7f68", "#8c5580", "#86722f", "#4b6f99", "#5a6270", "#6a579c"],
};

const query = window.matchMedia("(prefers-color-scheme: dark)");

export const theme = () => (query.matches ? dark : light);
export const onThemeChange = (call) => query.addEventListener("change", call);
export const shapes = ["circle", "rect", "triangle", "diamond", "path://M0,0L10,0L5,10Z"];
export const cycle = (list, at) => list[at % list.length];

/** The settings of all charts. */
export function baseOption(colours) {
  return {
    backgroundColor: "transparent",
    animation: false,
    textStyle: { fontFamily: "system-ui, sans-serif", color: colours.text },
    legend: {
      top: 0,
      left: 0,
      textStyle: { color: colours.text },
      inactiveColor: colours.quiet,
      itemHeight: 10,
      itemWidth: 14,
    },
    tooltip: {
      backgroundColor: colours.tip,
      borderColor: colours.line,
      textStyle: { color: colours.text, fontSize: 12 },
      confine: true,
      transitionDuration: 0,
      extraCssText: "box-shadow: 0 4px 16px rgba(0,0,0,.18);",
    },
  };
}

/** The look of an axis with a title. */
export function axis(colours, name, gap, more = {}) {
  return {
    name,
    nameLocation: "middle",
    nameGap: gap,
    nameTextStyle: { color: colours.quiet, fontSize: 12 },
    axisLine: { show: true, lineStyle: { color: colours.line } },
    axisTick: { lineStyle: { color: colours.line } },
    axisLabel: { color: colours.text, hideOverlap: true },
    splitLine: { lineStyle: { color: colours.line, opacity: 0.7 } },
    minorSplitLine: { show: false },
    ...more,
  };
}
