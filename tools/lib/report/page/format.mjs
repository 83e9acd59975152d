// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Numbers in readable form.

/** Three digits, so that figures in a column are easy to compare. */
const exact = (value) => {
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size >= 1e6 || size < 1e-3) return value.toExponential(2).replace("e+", "e");
  return size >= 100 ? Math.round(value).toLocaleString("en").replace(/,/g, "\u2009") : value.toPrecision(3);
};
/** The shortest form, for counts. */
const brief = (value) =>
  exact(value)
    .replace(/(\.\d*?)0+(?=e|$)/, "$1")
    .replace(/\.(?=e|$)/, "");

/** For axes: after zooming in, neighbouring numbers may differ only in late digits; they are round. */
const fine = (value) =>
  Math.abs(value) >= 1e5 || (value !== 0 && Math.abs(value) < 1e-3)
    ? brief(value)
    : String(Number(value.toPrecision(5)));

const inUnits =
  (units) =>
  (value, digits = exact) => {
    const [factor, unit] = units.findLast(([least]) => Math.abs(value) >= least) ?? units[0];
    return `${digits(value / factor)}\u00a0${unit}`;
  };
const times = inUnits([
  [1, "ns"],
  [1e3, "µs"],
  [1e6, "ms"],
  [1e9, "s"],
]);
const unitsOfBytes = [
  [1, "B"],
  [1024, "KiB"],
  [1024 ** 2, "MiB"],
  [1024 ** 3, "GiB"],
];
const sizes = inUnits(unitsOfBytes);

export const formatNumber = brief;
export const formatBytes = (bytes) => sizes(bytes, brief);
export const formatMicroseconds = (us) => times(us * 1e3);
export const formatRatio = (ratio) => `${exact(ratio)}×`;
export const formatPercent = (share) => `${(100 * share).toFixed(share < 0.1 ? 1 : 0)}\u00a0%`;

export const axisMicroseconds = (us) => times(us * 1e3, fine);
export const axisFactor = (ratio) => `${fine(ratio)}×`;

/** The unit in which an axis of bytes up to `most` has round numbers. */
export const unitOfBytes = (most) => unitsOfBytes.findLast(([least]) => most >= 2 * least) ?? unitsOfBytes[0];

export const formatParam = (key, value) => (key === "bytes" ? formatBytes(Number(value)) : `${key}\u00a0${value}`);

/** The unit of a case's figure: times are nanoseconds, all other figures are counters of the program. */
const isTime = (figure) => figure === "time" || /^ns[_/]/.test(figure);
export const formatFigure = (figure, value) => (isTime(figure) ? times(value) : brief(value));
export const axisFigure = (figure, value) => (isTime(figure) ? times(value, fine) : fine(value));

const entities = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
export const escapeHtml = (text) => String(text).replace(/[&<>"]/g, (c) => entities[c]);

/** The contents of a tooltip: a title and lines of [name, value]. */
export const tooltip = (title, lines) =>
  `<div class="tip"><b>${escapeHtml(title)}</b><table>${lines
    .map(([what, value]) => `<tr><td>${escapeHtml(what)}</td><td>${escapeHtml(value)}</td></tr>`)
    .join("")}</table></div>`;
