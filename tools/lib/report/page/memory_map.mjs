// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// A memory map: time to the right, offsets upwards, a rectangle for each stretch in which a buffer is in use.

import { addFigure, clipRectByRect, swatch, table } from "./figure.mjs";
import { formatBytes, formatNumber, tooltip, unitOfBytes } from "./format.mjs";
import { axis, baseOption, cycle } from "./theme.mjs";
import { leastOf, mostOf } from "../read/extent.mjs";

const stretchText = (uses) => uses.map(([lower, upper]) => `[${lower}, ${upper})`).join(" ");

function optionOf(colours, map, [unit, unitName]) {
  const uses = map.buffers.flatMap((buffer, at) => buffer.uses.map(([lower, upper]) => ({ buffer, at, lower, upper })));
  const times = uses.flatMap(({ lower, upper }) => [lower, upper]);
  const option = {
    ...baseOption(colours),
    legend: { show: false },
    grid: { left: 72, right: 24, top: 28, bottom: 52 },
    xAxis: axis(colours, "time, in steps of the plan", 30, {
      type: "value",
      min: leastOf(times),
      max: mostOf(times),
      minInterval: 1,
      splitLine: { show: false },
    }),
    yAxis: axis(colours, `offset (${unitName})`, 44, {
      type: "value",
      min: 0,
      max: (map.arena * 1.02) / unit,
      axisLabel: { color: colours.text, showMaxLabel: false },
    }),
    series: [
      {
        type: "custom",
        data: uses.map(({ buffer, lower, upper }) => [
          lower,
          buffer.offset / unit,
          upper,
          (buffer.offset + buffer.size) / unit,
        ]),
        encode: { x: [0, 2], y: [1, 3] },
        renderItem(params, api) {
          const { buffer, at } = uses[params.dataIndex];
          const [left, bottom] = api.coord([api.value(0), api.value(1)]);
          const [right, top] = api.coord([api.value(2), api.value(3)]);
          const shape = clipRectByRect(
            { x: left, y: top, width: Math.max(right - left, 1), height: Math.max(bottom - top, 1) },
            params.coordSys,
          );
          if (!shape) return undefined;
          const roomy = shape.height > 13 && shape.width > Math.min(60, 8 + 6.2 * buffer.name.length);
          return {
            type: "rect",
            shape,
            style: {
              fill: cycle(colours.fills, at),
              stroke: colours.ground,
              lineWidth: shape.height > 3 && shape.width > 3 ? 0.8 : 0,
            },
            emphasis: { style: { stroke: colours.text, lineWidth: 1.5 } },
            ...(roomy
              ? {
                  textContent: {
                    type: "text",
                    style: {
                      text: buffer.name,
                      fill: colours.text,
                      fontSize: 11,
                      width: shape.width - 6,
                      overflow: "truncate",
                      ellipsis: "…",
                    },
                  },
                  textConfig: { position: "inside" },
                }
              : {}),
          };
        },
        markLine: {
          silent: true,
          symbol: "none",
          lineStyle: { color: colours.text, type: "dashed", width: 1.5 },
          label: { position: "insideStartTop", color: colours.text, formatter: "lower bound" },
          data: [{ yAxis: map.bound / unit }],
        },
      },
    ],
  };
  option.tooltip.formatter = ({ dataIndex }) => {
    const { buffer } = uses[dataIndex];
    return tooltip(buffer.name, [
      ["size", formatBytes(buffer.size)],
      ["bytes", formatNumber(buffer.size)],
      ["offset", formatNumber(buffer.offset)],
      ["in use", stretchText(buffer.uses)],
    ]);
  };
  return option;
}

export function addMemoryMap(parent, map, id) {
  const bySize = map.buffers.map((buffer, at) => ({ buffer, at })).sort((a, b) => b.buffer.size - a.buffer.size);
  const beside =
    map.arena === map.bound
      ? "as small as any plan can be"
      : `${(100 * (map.arena / map.bound - 1)).toFixed(1)} % above the lower bound of ${formatBytes(map.bound)}`;
  addFigure(parent, {
    id,
    title: `Memory map ${map.file}`,
    about:
      `${map.buffers.length} buffers in an arena of ${formatBytes(map.arena)}, ${beside}; ` +
      `side by side they would take ${formatBytes(map.apart)}, ${formatNumber(map.apart / map.arena)} times as much.`,
    draw(colours) {
      const rows = bySize
        .slice(0, 500)
        .map(({ buffer, at }) => [
          swatch(cycle(colours.fills, at), buffer.name),
          formatBytes(buffer.size),
          buffer.offset.toLocaleString("en").replace(/,/g, "\u2009"),
          stretchText(buffer.uses),
        ]);
      const columns = [
        ["buffer", false],
        ["size", true],
        ["offset (bytes)", true],
        ["in use", true],
      ];
      return {
        option: optionOf(colours, map, unitOfBytes(map.arena)),
        height: 460,
        zoom: { xAxisIndex: 0, yAxisIndex: 0 },
        below: [table(columns, rows, bySize.length > 500 ? "the 500 largest" : "largest first")],
      };
    },
  });
}
