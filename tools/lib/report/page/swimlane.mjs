// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// A trace: a lane for each thread or core, a rectangle for each span, arrows for flows, and the counters below.

import { addFigure, clipRectByRect, element, swatch, table } from "./figure.mjs";
import { axisMicroseconds, formatMicroseconds, formatNumber, formatPercent, tooltip } from "./format.mjs";
import { axis, baseOption, cycle } from "./theme.mjs";
import { kindOf } from "../read/trace.mjs";

const rowHeight = 22;
const counterHeight = 64;
const mostFlows = 3000;
const mostCounters = 12;
/** The index of the spans among the series. */
const spansAt = 2;

const hasProcesses = (trace) => new Set(trace.lanes.map(({ pid }) => pid)).size > 1;

/** The row at which each lane starts; if there are several processes, the name of each takes a row of its own. */
function placeLanes(trace) {
  const several = hasProcesses(trace);
  const headings = [];
  let row = 0;
  let pid;
  for (const lane of trace.lanes) {
    if (several && lane.pid !== pid) headings.push({ row: row++, text: lane.process });
    pid = lane.pid;
    lane.row = row;
    row += lane.rows + 0.25;
  }
  return { headings, rows: row };
}

/** The place in its lane at which an arrow begins or ends: the innermost span of that time. */
function depthAt(lane, at) {
  let depth = 0;
  for (const span of lane.spans) {
    if (span.start > at + 1e-4) break;
    if (span.start + span.length >= at - 1e-4) depth = Math.max(depth, span.depth);
  }
  return depth;
}

function arrowsOf(trace) {
  const byKey = new Map(trace.lanes.map((lane) => [lane.key, lane]));
  const effort = trace.flows.length * trace.drawn;
  return trace.flows.slice(0, mostFlows).flatMap(([from, start, to, end]) => {
    const [a, b] = [byKey.get(from), byKey.get(to)];
    if (!a || !b) return [];
    const depths = effort > 2e7 ? [0, 0] : [depthAt(a, start), depthAt(b, end)];
    return [[start, a.row + depths[0] + 0.5, end, b.row + depths[1] + 0.5]];
  });
}

function spansSeries(colours, spans, colourOf) {
  return {
    type: "custom",
    name: "spans",
    progressive: 4000,
    data: spans.map(({ lane, span }) => [span.start, lane.row + span.depth, span.start + span.length]),
    encode: { x: [0, 2], y: 1 },
    renderItem(params, api) {
      const { span } = spans[params.dataIndex];
      const [left, top] = api.coord([api.value(0), api.value(1)]);
      const right = api.coord([api.value(2), 0])[0];
      const height = api.size([0, 1])[1];
      const shape = clipRectByRect(
        { x: left, y: top + 1, width: Math.max(right - left, 0.8), height: height - 2 },
        params.coordSys,
      );
      if (!shape) return undefined;
      const roomy = shape.width > Math.min(72, 10 + 6.2 * span.name.length);
      return {
        type: "rect",
        shape: { ...shape, r: shape.width > 6 ? 2 : 0 },
        style: {
          fill: cycle(colours.fills, colourOf(span.name)),
          stroke: colours.ground,
          lineWidth: shape.width > 4 ? 0.7 : 0,
        },
        emphasis: { style: { stroke: colours.text, lineWidth: 1.5 } },
        ...(roomy
          ? {
              textContent: {
                type: "text",
                style: {
                  text: span.name,
                  fill: colours.text,
                  fontSize: 11,
                  width: shape.width - 8,
                  overflow: "truncate",
                  ellipsis: "…",
                },
              },
              textConfig: { position: "insideLeft" },
            }
          : {}),
      };
    },
  };
}

function arrowsSeries(colours, arrows) {
  return {
    type: "custom",
    silent: true,
    progressive: 0,
    data: arrows,
    encode: { x: [0, 2], y: [1, 3] },
    renderItem(params, api) {
      const [x1, y1] = api.coord([api.value(0), api.value(1)]);
      const [x2, y2] = api.coord([api.value(2), api.value(3)]);
      const { x: left, width } = params.coordSys;
      // No arrow leaves the view, and spans next to each other need none.
      if (x1 < left || x2 > left + width || Math.abs(x2 - x1) < 2) return undefined;
      const bend = Math.max(12, Math.abs(x2 - x1) / 2);
      return {
        type: "bezierCurve",
        shape: { x1, y1, x2, y2, cpx1: x1 + bend, cpy1: y1, cpx2: x2 - bend, cpy2: y2 },
        style: { stroke: colours.text, opacity: 0.35, lineWidth: 1, fill: "none" },
      };
    },
  };
}

const highest = (points) => points.reduce((most, [, value]) => Math.max(most, value), 1);

/** A bar for as long as a counter keeps a value. */
function counterSeries(colour, { name, points }, at, end) {
  return {
    type: "custom",
    name,
    xAxisIndex: at + 1,
    yAxisIndex: at + 1,
    data: points.map(([from, value], i) => [from, value, points[i + 1]?.[0] ?? end]),
    encode: { x: [0, 2], y: 1 },
    renderItem(params, api) {
      const [left, top] = api.coord([api.value(0), api.value(1)]);
      const [right, bottom] = api.coord([api.value(2), 0]);
      const bar = clipRectByRect(
        { x: left, y: top, width: Math.max(right - left, 0.5), height: bottom - top },
        params.coordSys,
      );
      if (!bar) return undefined;
      return {
        type: "group",
        children: [
          { type: "rect", shape: bar, style: { fill: colour, opacity: 0.3 } },
          { type: "rect", shape: { ...bar, y: bar.y - 1, height: 2 }, style: { fill: colour } },
        ],
      };
    },
  };
}

function optionOf(colours, trace, place, arrows, colourOf) {
  // ECharts copies its option, so the option contains only numbers.
  const spans = trace.lanes.flatMap((lane) => lane.spans.map((span) => ({ lane, span })));
  const counters = trace.counters.slice(0, mostCounters);
  const lanesHeight = place.rows * rowHeight;
  const longest = Math.max(
    8,
    ...trace.lanes.map(({ name }) => name.length),
    ...counters.map(({ name }) => name.length),
  );
  const left = Math.min(220, 22 + 6.6 * longest);
  const centres = trace.lanes.map((lane) => lane.row + lane.rows / 2);
  const top = 12;
  const grids = [
    { left, right: 24, top, height: lanesHeight },
    ...counters.map((_, at) => ({
      left,
      right: 24,
      top: top + lanesHeight + 18 + at * counterHeight,
      height: counterHeight - 18,
    })),
  ];
  const timeAxis = (at, last) =>
    axis(colours, last ? "time since the first event" : "", 30, {
      type: "value",
      min: 0,
      max: trace.drawnUntil || 1,
      gridIndex: at,
      axisTick: { show: last },
      axisLabel: {
        show: last,
        color: colours.text,
        hideOverlap: true,
        showMaxLabel: false,
        formatter: axisMicroseconds,
      },
    });
  const option = {
    ...baseOption(colours),
    legend: { show: false },
    grid: grids,
    xAxis: grids.map((_, at) => timeAxis(at, at === grids.length - 1)),
    yAxis: [
      {
        type: "value",
        inverse: true,
        min: 0,
        max: place.rows,
        axisLine: { show: false },
        axisTick: { show: false },
        splitLine: { show: false },
        axisLabel: {
          color: colours.text,
          customValues: centres,
          width: left - 16,
          overflow: "truncate",
          formatter: (value) => trace.lanes[centres.findIndex((centre) => Math.abs(centre - value) < 0.01)]?.name ?? "",
        },
      },
      ...counters.map(({ name, points }, at) => ({
        type: "value",
        gridIndex: at + 1,
        min: 0,
        max: highest(points),
        name: `${name}\nup to ${formatNumber(highest(points))}`,
        nameLocation: "middle",
        nameRotate: 0,
        nameGap: 12,
        nameTextStyle: { color: colours.text, align: "right", lineHeight: 16 },
        nameTruncate: { maxWidth: left - 16 },
        axisLabel: { show: false },
        axisTick: { show: false },
        axisLine: { show: false },
        splitLine: { show: false },
      })),
    ],
    series: [
      {
        type: "custom",
        silent: true,
        data: trace.lanes.map((lane) => [lane.row, lane.rows]),
        renderItem(params, api) {
          const [, y] = api.coord([0, api.value(0)]);
          const { x, width } = params.coordSys;
          return {
            type: "rect",
            shape: { x, y, width, height: api.size([0, api.value(1)])[1] },
            style: { fill: colours.faint },
          };
        },
      },
      {
        type: "custom",
        silent: true,
        data: place.headings.map(({ row }) => [row]),
        renderItem(params, api) {
          const [, y] = api.coord([0, api.value(0)]);
          return {
            type: "text",
            x: params.coordSys.x + 2,
            y: y + rowHeight / 2,
            style: {
              text: place.headings[params.dataIndex].text,
              fill: colours.quiet,
              font: "600 12px system-ui, sans-serif",
              verticalAlign: "middle",
            },
          };
        },
      },
      spansSeries(colours, spans, colourOf),
      arrowsSeries(colours, arrows),
      ...counters.map((counter, at) => counterSeries(cycle(colours.series, at), counter, at, trace.length)),
    ],
  };
  option.tooltip.formatter = ({ seriesIndex, seriesName, dataIndex, value }) => {
    if (seriesIndex !== spansAt) {
      return tooltip(seriesName, [
        ["value", formatNumber(value[1])],
        ["from", formatMicroseconds(value[0])],
        ["to", formatMicroseconds(value[2])],
      ]);
    }
    const { lane, span } = spans[dataIndex];
    return tooltip(span.name, [
      ["took", formatMicroseconds(span.length)],
      ["from", formatMicroseconds(span.start)],
      ["lane", lane.name],
      ["process", lane.process],
      ...Object.entries(span.args ?? {})
        .slice(0, 8)
        .map(([key, value]) => [key, String(value)]),
    ]);
  };
  return { option, height: top + lanesHeight + counters.length * counterHeight + 70, axes: grids.map((_, at) => at) };
}

function tables(colours, trace, colourOf) {
  const several = hasProcesses(trace);
  const names = table(
    [
      ["span", false],
      ["count", true],
      ["total", true],
      ["median", true],
      ["p99", true],
      ["longest", true],
    ],
    trace.names
      .slice(0, 200)
      .map(({ name, count, total, median, p99, longest }) => [
        swatch(cycle(colours.fills, colourOf(name)), name),
        formatNumber(count),
        formatMicroseconds(total),
        formatMicroseconds(median),
        formatMicroseconds(p99),
        formatMicroseconds(longest),
      ]),
    "by what it was",
  );
  const lanes = table(
    [
      ["lane", false],
      ["spans", true],
      ["busy", true],
      ["share", true],
    ],
    trace.lanes.map((lane) => [
      several ? `${lane.process}: ${lane.name}` : lane.name,
      formatNumber(lane.count),
      formatMicroseconds(lane.busy),
      formatPercent(lane.busy / (trace.length || 1)),
    ]),
    "by lane, and its share of the time traced",
  );
  return element("div", { class: "pair" }, names, lanes);
}

export function addSwimlane(parent, trace, id) {
  const place = placeLanes(trace);
  const arrows = arrowsOf(trace);
  const order = new Map(trace.names.map(({ name }, at) => [name, at]));
  const colourOf = (name) => order.get(kindOf(name)) ?? 0;
  const lanes = `${trace.lanes.length} ${trace.lanes.length === 1 ? "lane" : "lanes"}`;
  const notes = [`${formatNumber(trace.spanCount)} spans in ${lanes} over ${formatMicroseconds(trace.length)}.`];
  if (trace.drawn < trace.spanCount) {
    const until = formatMicroseconds(trace.drawnUntil);
    notes.push(`The first ${formatNumber(trace.drawn)} are drawn, up to ${until}; the tables are about all.`);
  }
  if (trace.counters.length > mostCounters) {
    notes.push(`Of ${trace.counters.length} counters, the first ${mostCounters} are drawn.`);
  }
  if (trace.dropped > 0) notes.push(`${formatNumber(trace.dropped)} spans were dropped when it was recorded.`);
  addFigure(parent, {
    id,
    title: `Trace ${trace.file}`,
    about: notes.join(" "),
    draw(colours) {
      const { option, height, axes } = optionOf(colours, trace, place, arrows, colourOf);
      return {
        option,
        height,
        zoom: { xAxisIndex: axes, yAxisIndex: "none" },
        below: [tables(colours, trace, colourOf)],
      };
    },
  });
}
