// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Contenders in comparison with the reference, for each situation: a mark at the median, a bar from the smallest to the
// largest value.

import { addFigure, element, swatch, table } from "./figure.mjs";
import { axisFactor, formatFigure, formatRatio, tooltip } from "./format.mjs";
import { figureName, ratioOf } from "./model.mjs";
import { axis, baseOption, cycle, shapes } from "./theme.mjs";
import { leastOf, mostOf } from "../read/extent.mjs";

const tallest = 720;

/** Not a rival, but a measure of the least cost of a case; hidden until selected in the legend. */
const hiddenAtFirst = (who) => who === "null";

export const spreadText = (figure, { min, max, n, deviation }) =>
  n < 2 ? "one run" : `${formatFigure(figure, min)} … ${formatFigure(figure, max)}${deviation ? " (±σ)" : ""}`;

function marks(family, chosen) {
  const rows = family.situations.filter(
    (situation) => ratioOf(situation, chosen.reference, chosen.reference, chosen.figure) && situation.by.size > 1,
  );
  const points = family.contenders.map((who, c) =>
    rows.flatMap((situation, row) => {
      const ratio = ratioOf(situation, who, chosen.reference, chosen.figure);
      return ratio ? [{ value: [ratio.median, row, ratio.min, ratio.max, c], ratio, situation, who }] : [];
    }),
  );
  return { rows, points };
}

/** Draws one mark with its bar; the contenders of a situation are below each other. */
function renderMark(colour, shape, place, count) {
  return (params, api) => {
    const [, middle] = api.coord([1, api.value(1)]);
    const room = api.size([0, 1])[1];
    const y = middle + ((place + 0.5) / count - 0.5) * room * 0.8;
    const [left, x, right] = [api.value(2), api.value(0), api.value(3)].map((value) => api.coord([value, 0])[0]);
    const { x: from, width, y: top, height } = params.coordSys;
    if (y < top - 1 || y > top + height + 1 || right < from - 5 || left > from + width + 5) return undefined;
    const size = Math.max(5, Math.min(9, (room * 0.8) / count));
    const clipped = [Math.max(left, from), Math.min(right, from + width)];
    const inside = x >= from && x <= from + width;
    return {
      type: "group",
      children: [
        {
          type: "rect",
          shape: { x: clipped[0] - 4, y: y - size / 2, width: clipped[1] - clipped[0] + 8, height: size },
          style: { fill: "transparent" },
        },
        {
          type: "line",
          shape: { x1: clipped[0], x2: clipped[1], y1: y, y2: y },
          style: { stroke: colour, lineWidth: 2.5, opacity: 0.55 },
        },
        ...(inside ? [mark(shape, x, y, size, colour)] : []),
      ],
    };
  };
}

/** The shape in the legend. */
function mark(shape, x, y, size, colour) {
  const half = size / 2;
  const corners = {
    rect: [
      [-half, -half],
      [half, -half],
      [half, half],
      [-half, half],
    ],
    triangle: [
      [0, -half],
      [half, half],
      [-half, half],
    ],
    diamond: [
      [0, -half - 1],
      [half + 1, 0],
      [0, half + 1],
      [-half - 1, 0],
    ],
  }[shape] ?? [
    [-half, -half],
    [half, -half],
    [0, half],
  ];
  const style = { fill: colour };
  if (shape === "circle") return { type: "circle", shape: { cx: x, cy: y, r: half }, style };
  return { type: "polygon", shape: { points: corners.map(([dx, dy]) => [x + dx, y + dy]) }, style };
}

function ratioAxis(colours, family, points, chosen, isShown) {
  const all = points
    .flat()
    .filter(({ who }) => isShown(who))
    .flatMap(({ value }) => [value[2], value[3]]);
  const [least, most] = [Math.min(1, leastOf(all)), Math.max(1, mostOf(all))];
  const name =
    `${figureName(family, chosen.figure)} ÷ median of ${chosen.reference}` +
    (chosen.figure === "time" ? "   (left of 1: faster, right of 1: slower)" : "");
  if (most / least < 3) {
    const room = Math.max(most - least, 0.02) * 0.08;
    const step = 10 ** Math.floor(Math.log10(most - least + 0.02)) / 2;
    return axis(colours, name, 28, {
      type: "value",
      min: Math.max(0, Math.floor((least - room) / step) * step),
      max: Math.ceil((most + room) / step) * step,
      axisLabel: { color: colours.text, hideOverlap: true, formatter: axisFactor },
    });
  }
  const base = most / least < 100 ? 2 : 10;
  const power = (value, round) => base ** round(Math.log(value) / Math.log(base));
  return axis(colours, name, 28, {
    type: "log",
    logBase: base,
    min: power(least * 0.98, Math.floor),
    max: power(most * 1.02, Math.ceil),
    axisLabel: { color: colours.text, hideOverlap: true, formatter: axisFactor },
  });
}

const rowHeight = (points) => Math.max(26, 11 * points.filter((of) => of.length > 0).length + 6);

function optionOf(colours, { rows, points }, family, chosen) {
  const competing = family.contenders.map((who, at) => ({ who, at })).filter(({ at }) => points[at].length > 0);
  const each = rowHeight(points);
  const wanted = each * rows.length;
  const scrolls = wanted > tallest;
  const longest = Math.max(...rows.map(({ label }) => label.length));
  const first = scrolls ? { startValue: 0, endValue: Math.floor(tallest / each) - 1 } : {};
  const option = {
    ...baseOption(colours),
    grid: { left: Math.min(320, 24 + 6.6 * longest), right: scrolls ? 44 : 24, top: 40, bottom: 52 },
    xAxis: ratioAxis(colours, family, points, chosen, (who) => !hiddenAtFirst(who)),
    yAxis: {
      type: "category",
      inverse: true,
      data: rows.map(({ label }) => label),
      axisLine: { show: false },
      axisTick: { show: false },
      axisLabel: { color: colours.text, interval: 0, hideOverlap: true },
      splitLine: { show: true, interval: 0, lineStyle: { color: colours.line, opacity: 0.6 } },
    },
    dataZoom: scrolls
      ? [
          {
            type: "slider",
            yAxisIndex: 0,
            right: 8,
            width: 12,
            filterMode: "none",
            brushSelect: false,
            showDetail: false,
            ...first,
            borderColor: colours.line,
            fillerColor: `${colours.series[0]}44`,
            backgroundColor: colours.faint,
            handleSize: 0,
          },
        ]
      : [],
    series: competing.map(({ who, at }, place) => ({
      type: "custom",
      name: who,
      color: cycle(colours.series, at),
      data: points[at].map(({ value }) => value),
      encode: { x: [0, 2, 3], y: 1 },
      renderItem: renderMark(cycle(colours.series, at), cycle(shapes, at), place, competing.length),
    })),
  };
  option.legend.data = competing.map(({ who, at }) => ({ name: who, icon: cycle(shapes, at) }));
  option.legend.selected = Object.fromEntries(competing.map(({ who }) => [who, !hiddenAtFirst(who)]));
  option.series.push({
    type: "line",
    data: [],
    silent: true,
    z: 1,
    markLine: {
      z: 1,
      symbol: "none",
      label: { show: false },
      lineStyle: { color: colours.text, width: 1.5, type: "dashed" },
      data: [{ xAxis: 1 }],
    },
  });
  option.tooltip.formatter = ({ value, dataIndex }) => {
    const { situation, who, ratio } = points[value[4]][dataIndex];
    return tooltip(`${who} — ${situation.label || family.name}`, [
      ["ratio", `${formatRatio(ratio.median)} of ${chosen.reference}`],
      ["its range", `${formatRatio(ratio.min)} … ${formatRatio(ratio.max)}`],
      [`median ${figureName(family, chosen.figure)}`, formatFigure(chosen.figure, ratio.own.median)],
      [ratio.own.deviation ? "±σ" : "smallest … largest", spreadText(chosen.figure, ratio.own)],
      ["repetitions", String(ratio.own.n)],
    ]);
  };
  return {
    option,
    height: Math.min(wanted, tallest) + 92,
    zoom: { xAxisIndex: 0, yAxisIndex: 0, rows: first },
    axesFor: (selected) => ({ xAxis: ratioAxis(colours, family, points, chosen, (who) => selected[who] !== false) }),
  };
}

function figuresTable(colours, family, chosen) {
  const others = family.figures.filter((figure) => figure !== chosen.figure);
  const columns = [
    ["case", false],
    ["contender", false],
    [`median ${figureName(family, chosen.figure)}`, true],
    ["smallest … largest", true],
    ["repetitions", true],
    [`÷ ${chosen.reference}`, true],
    ...others.map((figure) => [`${figureName(family, figure)} (median)`, true]),
  ];
  const rows = family.situations.flatMap((situation) =>
    family.contenders
      .filter((who) => situation.by.has(who))
      .map((who) => {
        const { figures } = situation.by.get(who);
        const own = figures[chosen.figure];
        const ratio = ratioOf(situation, who, chosen.reference, chosen.figure);
        return [
          situation.label || family.name,
          swatch(cycle(colours.series, family.contenders.indexOf(who)), who || family.name),
          own ? formatFigure(chosen.figure, own.median) : "–",
          own ? spreadText(chosen.figure, own) : "–",
          own ? String(own.n) : "–",
          ratio ? formatRatio(ratio.median) : "–",
          ...others.map((figure) => (figures[figure] ? formatFigure(figure, figures[figure].median) : "–")),
        ];
      }),
  );
  return table(columns, rows);
}

/** A table alone, for cases without rivals. */
export function addFigures(parent, family, id, colours) {
  parent.append(
    element(
      "figure",
      { id, class: "card" },
      element("header", {}, element("div", {}, element("h3", {}, `${family.name}: figures`))),
      element(
        "div",
        { class: "below" },
        figuresTable(colours, family, { figure: "time", reference: family.reference }),
      ),
    ),
  );
}

/** Returns false, and adds nothing, if no situation has two contenders. */
export function addRatios(parent, family, id) {
  const first = { figure: "time", reference: family.reference };
  const { rows, points } = marks(family, first);
  if (rows.length === 0) return false;
  const moves = rows.length * rowHeight(points) > tallest;
  const comparable = family.figures.filter((figure) => marks(family, { ...first, figure }).rows.length > 0);
  addFigure(parent, {
    id,
    title: `${family.name}: side by side`,
    about:
      "Marks are medians, bars reach from the smallest to the largest repetition." +
      (moves ? " The bar at the right moves the cases." : ""),
    choices: [
      { key: "reference", label: "Compared with", values: family.contenders.map((who) => [who, who]) },
      { key: "figure", label: "Figure", values: comparable.map((figure) => [figure, figureName(family, figure)]) },
    ],
    draw(colours, chosen) {
      const drawn = marks(family, chosen);
      const below = [figuresTable(colours, family, chosen)];
      if (drawn.rows.length === 0) {
        below.unshift(
          element("p", {}, `${chosen.reference} has no ${figureName(family, chosen.figure)} beside that of another.`),
        );
        return { option: {}, height: 1, zoom: { xAxisIndex: "none", yAxisIndex: "none" }, below };
      }
      return { ...optionOf(colours, drawn, family, chosen), below };
    },
  });
  return true;
}
