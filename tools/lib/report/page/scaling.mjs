// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// The growth of a figure with a parameter: a line for each contender, or for each situation if there is only one
// contender.

import { addFigure, swatch, table } from "./figure.mjs";
import { axisFigure, formatBytes, formatFigure, formatNumber, tooltip } from "./format.mjs";
import { figureName, labelOf, numericKeys } from "./model.mjs";
import { spreadText } from "./ratios.mjs";
import { axis, baseOption, cycle, shapes } from "./theme.mjs";
import { leastOf, mostOf } from "../read/extent.mjs";

const everything = "";

function linesOf(family, { key, figure, situation }) {
  const several = family.contenders.length > 1;
  const lines = new Map();
  for (const it of family.cases) {
    const own = it.figures[figure];
    const label = labelOf(it, key);
    if (!own || it.params[key] === undefined || (several && label !== situation)) continue;
    const name = several ? it.contender : label || family.name;
    if (!lines.has(name))
      lines.set(name, { name, place: several ? family.contenders.indexOf(name) : lines.size, points: [] });
    lines.get(name).points.push({ x: Number(it.params[key]), own });
  }
  for (const line of lines.values()) line.points.sort((a, b) => a.x - b.x);
  return [...lines.values()].sort((a, b) => a.place - b.place);
}

/** The situations apart from `key`, those with the longest curves first. */
function situationsOf(family, key) {
  if (family.contenders.length < 2) return [everything];
  const values = new Map();
  for (const it of family.cases) {
    if (it.params[key] === undefined) continue;
    const label = labelOf(it, key);
    if (!values.has(label)) values.set(label, new Set());
    values.get(label).add(it.params[key]);
  }
  return [...values]
    .filter(([, all]) => all.size > 1)
    .sort((a, b) => b[1].size - a[1].size)
    .map(([label]) => label);
}

function valueAxis(colours, family, figure, lines) {
  const all = lines.flatMap(({ points }) => points.flatMap(({ own }) => [own.min, own.max]));
  const [least, most] = [leastOf(all), mostOf(all)];
  const logarithmic = least > 0 && most / least > 12;
  return axis(colours, figureName(family, figure), 62, {
    type: logarithmic ? "log" : "value",
    ...(logarithmic
      ? { min: 10 ** Math.floor(Math.log10(least)), max: 10 ** Math.ceil(Math.log10(most)) }
      : { min: 0 }),
    axisLabel: { color: colours.text, hideOverlap: true, formatter: (value) => axisFigure(figure, value) },
  });
}

function keyAxis(colours, key, lines) {
  const values = [...new Set(lines.flatMap(({ points }) => points.map(({ x }) => x)))].sort((a, b) => a - b);
  const logarithmic = values[0] > 0 && values.at(-1) / values[0] >= 8;
  const room = logarithmic ? (values.at(-1) / values[0]) ** 0.03 : (values.at(-1) - values[0]) * 0.04;
  return axis(colours, key.replaceAll("_", " "), 30, {
    type: logarithmic ? "log" : "value",
    min: logarithmic ? values[0] / room : values[0] - room,
    max: logarithmic ? values.at(-1) * room : values.at(-1) + room,
    axisTick: { customValues: values },
    axisLabel: {
      color: colours.text,
      customValues: values,
      formatter: (value) => (key === "bytes" ? formatBytes(value) : formatNumber(value)),
    },
    splitLine: { show: false },
  });
}

/** The area between the smallest and the largest. */
function band(colour, { name, points }) {
  return {
    type: "custom",
    name,
    silent: true,
    tooltip: { show: false },
    clip: true,
    data: points.map(({ x, own }) => [x, own.min, own.max]),
    encode: { x: 0, y: [1, 2] },
    renderItem(params, api) {
      if (params.dataIndex > 0) return undefined;
      const corner = (x, value) => api.coord([x, value]);
      return {
        type: "polygon",
        shape: {
          points: [
            ...points.map(({ x, own }) => corner(x, own.max)),
            ...points.toReversed().map(({ x, own }) => corner(x, own.min)),
          ],
        },
        style: { fill: colour, opacity: 0.18 },
      };
    },
  };
}

function optionOf(colours, family, lines, { key, figure }) {
  const colourOf = ({ place }) => cycle(colours.series, place);
  const option = {
    ...baseOption(colours),
    grid: { left: 92, right: 24, top: 40, bottom: 56 },
    xAxis: keyAxis(colours, key, lines),
    yAxis: valueAxis(colours, family, figure, lines),
    series: lines.flatMap((line) => [
      {
        type: "line",
        name: line.name,
        color: colourOf(line),
        symbol: cycle(shapes, line.place),
        symbolSize: 9,
        lineStyle: { width: 2.5 },
        data: line.points.map(({ x, own }) => ({ value: [x, own.median], own })),
      },
      band(colourOf(line), line),
    ]),
  };
  option.legend.data = lines.map(({ name }) => name);
  option.tooltip.trigger = "axis";
  option.tooltip.axisPointer = { type: "line", lineStyle: { color: colours.quiet } };
  option.tooltip.formatter = (hits) => {
    const medians = hits.filter(({ seriesType }) => seriesType === "line");
    return medians.length === 0
      ? ""
      : tooltip(
          `${key} ${key === "bytes" ? formatBytes(medians[0].value[0]) : formatNumber(medians[0].value[0])}`,
          medians.map(({ seriesName, data }) => [
            seriesName,
            `${formatFigure(figure, data.own.median)}   (${spreadText(figure, data.own)})`,
          ]),
        );
  };
  return option;
}

function figuresTable(colours, family, lines, { key, figure }) {
  const values = [...new Set(lines.flatMap(({ points }) => points.map(({ x }) => x)))].sort((a, b) => a - b);
  const columns = [[key, true], ...lines.map((line) => [swatch(cycle(colours.series, line.place), line.name), true])];
  const rows = values.map((value) => [
    key === "bytes" ? formatBytes(value) : formatNumber(value),
    ...lines.map(({ points }) => {
      const point = points.find(({ x }) => x === value);
      return point ? formatFigure(figure, point.own.median) : "–";
    }),
  ]);
  return table(columns, rows, `median ${figureName(family, figure)}`);
}

/** Adds the curves of a family that has a parameter with several values. */
export function addScaling(parent, family, id) {
  // Without contenders, the program's counters say more than its times.
  const figures = family.contenders.length > 1 ? family.figures : [...family.figures.slice(1), "time"];
  for (const key of numericKeys(family)) {
    const situations = situationsOf(family, key);
    if (situations.length === 0) continue;
    addFigure(parent, {
      id: `${id}-${key}`,
      title: `${family.name}: scaling with ${key.replaceAll("_", " ")}`,
      about: "Lines join medians, the areas around them reach from the smallest to the largest repetition.",
      choices: [
        { key: "situation", label: "Case", values: situations.map((label) => [label, label || "all"]) },
        { key: "figure", label: "Figure", values: figures.map((figure) => [figure, figureName(family, figure)]) },
        { key: "key", label: "", values: [[key, key]] },
      ],
      draw(colours, chosen) {
        const lines = linesOf(family, chosen);
        const below = [figuresTable(colours, family, lines, chosen)];
        if (lines.length === 0)
          return { option: {}, height: 1, zoom: { xAxisIndex: "none", yAxisIndex: "none" }, below };
        return {
          option: optionOf(colours, family, lines, chosen),
          height: 380,
          zoom: { xAxisIndex: 0, yAxisIndex: 0 },
          below,
        };
      },
    });
  }
}
