// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// A card with a title, choices, a chart that zooms, and elements below it. Dragging selects the area to zoom into; Ctrl
// and the wheel zoom around the pointer; a double click, or the button, shows everything again.

import { CustomChart, LineChart } from "echarts/charts";
import {
  DataZoomInsideComponent,
  DataZoomSliderComponent,
  GridComponent,
  LegendComponent,
  MarkLineComponent,
  ToolboxComponent,
  TooltipComponent,
} from "echarts/components";
import * as echarts from "echarts/core";
import { CanvasRenderer } from "echarts/renderers";

import { onThemeChange, theme } from "./theme.mjs";

echarts.use([
  CanvasRenderer,
  CustomChart,
  DataZoomInsideComponent,
  DataZoomSliderComponent,
  GridComponent,
  LegendComponent,
  LineChart,
  MarkLineComponent,
  ToolboxComponent,
  TooltipComponent,
]);

export const { clipRectByRect } = echarts.graphic;

export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

const zoomable = (option, axes) => ({
  ...option,
  // The toolbox provides the dragging; its own icons are placed outside of the chart.
  toolbox: {
    left: -100,
    top: -100,
    feature: { dataZoom: { xAxisIndex: axes.xAxisIndex, yAxisIndex: axes.yAxisIndex, filterMode: "none" } },
  },
  dataZoom: [
    ...["xAxisIndex", "yAxisIndex"]
      .filter((key) => axes[key] !== "none")
      .map((key) => ({
        type: "inside",
        [key]: axes[key],
        ...(key === "yAxisIndex" ? axes.rows : {}),
        filterMode: "none",
        zoomOnMouseWheel: "ctrl",
        moveOnMouseMove: false,
        moveOnMouseWheel: false,
      })),
    ...(option.dataZoom ?? []),
  ],
});

/**
 * Adds a card to `parent`. `choices`: [{ key, label, values: [[value, text]] }]; `draw(colours, chosen)` returns
 * { option, height, zoom, below }: the chart's option, its pixels, which axes zoom (and which `rows` it begins with),
 * and elements to stand below. Where there is `axesFor(selected)`, it says how axes change when the legend switches a name.
 */
export function addFigure(parent, { id, title, about, choices = [], draw }) {
  const chosen = Object.fromEntries(choices.map(({ key, values }) => [key, values[0][0]]));
  const reset = element(
    "button",
    { type: "button", class: "reset", disabled: true, title: "or double-click the chart" },
    "Reset zoom",
  );
  const controls = element("div", { class: "controls" });
  const area = element("div", {
    class: "chart",
    role: "img",
    "aria-label": `${title}. The figures stand in the table below.`,
  });
  const below = element("div", { class: "below" });
  const card = element(
    "figure",
    { id, class: "card" },
    element("header", {}, element("div", {}, element("h3", {}, title), element("p", {}, about)), controls),
    area,
    below,
  );
  parent.append(card);

  let chart;
  let initial = [];
  const extents = () => chart.getOption().dataZoom.map(({ start, end }) => ({ start, end }));
  const showAll = () => {
    initial.forEach((extent, at) => chart.dispatchAction({ type: "dataZoom", dataZoomIndex: at, ...extent }));
  };
  const markZoom = () => {
    const zoomed = extents().some(
      ({ start, end }, at) => Math.abs(start - initial[at].start) + Math.abs(end - initial[at].end) > 0.02,
    );
    card.toggleAttribute("data-zoomed", zoomed);
    reset.disabled = !zoomed;
  };
  const show = () => {
    const { option, height, zoom, below: parts, axesFor } = draw(theme(), chosen);
    area.style.height = `${height}px`;
    chart?.dispose();
    chart = echarts.init(area, null, { renderer: "canvas" });
    chart.setOption(zoomable(option, zoom));
    chart.dispatchAction({ type: "takeGlobalCursor", key: "dataZoomSelect", dataZoomSelectActive: true });
    initial = extents();
    chart.on("datazoom", markZoom);
    if (axesFor) chart.on("legendselectchanged", ({ selected }) => chart.setOption(axesFor(selected)));
    chart.getZr().on("dblclick", showAll);
    below.replaceChildren(...parts);
    card.removeAttribute("data-zoomed");
    reset.disabled = true;
  };

  for (const { key, label, values } of choices) {
    if (values.length < 2) continue;
    const select = element("select", {}, ...values.map(([value, text]) => element("option", { value }, text)));
    select.addEventListener("change", () => {
      chosen[key] = select.value;
      show();
    });
    controls.append(element("label", {}, `${label} `, select));
  }
  controls.append(reset);
  reset.addEventListener("click", showAll);
  show();
  onThemeChange(show);
  new ResizeObserver(() => chart.resize()).observe(area);
  return card;
}

/** A table; `columns` are [title, is a number?], cells texts or elements. Long ones scroll. */
export function table(columns, rows, caption) {
  const cell = (tag, content, at) =>
    element(tag, { class: columns[at][1] ? "number" : undefined, scope: tag === "th" ? "col" : undefined }, content);
  return element(
    "div",
    { class: "scroll", tabindex: rows.length > 10 ? "0" : undefined },
    element(
      "table",
      {},
      caption ? element("caption", {}, caption) : null,
      element("thead", {}, element("tr", {}, ...columns.map(([title], at) => cell("th", title, at)))),
      element(
        "tbody",
        {},
        ...rows.map((row) => element("tr", {}, ...row.map((content, at) => cell("td", content, at)))),
      ),
    ),
  );
}

export const swatch = (colour, text) => {
  const box = element("i", { class: "swatch" });
  box.style.background = colour;
  return element("span", { class: "named" }, box, text);
};
