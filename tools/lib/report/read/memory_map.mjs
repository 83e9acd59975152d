// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Reads memory maps: the SVG that write_memory_map and plan_memory --svg draw, or the CSV of plan_memory --offsets.

import { leastOf, mostOf } from "./extent.mjs";

const entities = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"' };
const unescape = (text) => text.replace(/&(?:amp|lt|gt|quot);/g, (entity) => entities[entity]);

/** The most bytes in use at one time; no arena can be smaller. */
function mostLiveBytes(buffers) {
  const changes = [];
  for (const { size, uses } of buffers) {
    for (const [lower, upper] of uses) changes.push([lower, size], [upper, -size]);
  }
  changes.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  let live = 0;
  let most = 0;
  for (const [, change] of changes) most = Math.max(most, (live += change));
  return most;
}

function finish(buffers, fileName, arena, bound) {
  const occupying = buffers.filter(({ size, uses }) => size > 0 && uses.some(([lower, upper]) => upper > lower));
  if (occupying.length === 0) throw new Error("no buffer in it takes any bytes");
  const end = mostOf(occupying.map(({ offset, size }) => offset + size));
  return {
    kind: "memory",
    file: fileName,
    arena: arena ?? end,
    bound: bound ?? mostLiveBytes(occupying),
    apart: occupying.reduce((sum, { size }) => sum + size, 0),
    buffers: occupying,
  };
}

export function readMemoryCsv(text, fileName) {
  const [header, ...lines] = text
    .replace(/^\uFEFF/, "")
    .split(/\r?\n/)
    .filter((line) => line.trim() !== "");
  const columns = header.split(",").map((title) => title.trim());
  for (const needed of ["id", "lower", "upper", "size", "offset"]) {
    if (!columns.includes(needed)) {
      throw new Error(
        `column "${needed}" is missing; plan_memory LIFETIMES --offsets PLAN writes a plan with all of them`,
      );
    }
  }
  const buffers = lines.map((line, at) => {
    const fields = line.split(",");
    const field = (title) => fields[columns.indexOf(title)]?.trim() ?? "";
    const number = (title) => {
      const value = Number(field(title));
      if (field(title) === "" || !Number.isFinite(value)) {
        throw new Error(`line ${at + 2}, ${title}: expected a number (found "${field(title)}")`);
      }
      return value;
    };
    const gaps = field("gaps")
      .split(" ")
      .filter(Boolean)
      .map((gap) => gap.split("-").map(Number));
    const uses = [];
    let from = number("lower");
    for (const [lower, upper] of gaps) {
      if (lower > from) uses.push([from, lower]);
      from = upper;
    }
    uses.push([from, number("upper")]);
    return {
      name: field("id"),
      lower: number("lower"),
      upper: number("upper"),
      size: number("size"),
      offset: number("offset"),
      uses,
    };
  });
  return finish(buffers, fileName);
}

export function readMemorySvg(text, fileName) {
  const head = /<title>(\d+) bytes, lower bound (\d+)<\/title>/.exec(text);
  const rects = [
    ...text.matchAll(
      /<rect x="([\d.e+-]+)"[^>]* width="([\d.e+-]+)"[^>]*><title>([\s\S]*?): \[(-?\d+), (-?\d+)\), (\d+) bytes at (\d+)<\/title>/g,
    ),
  ];
  if (head === null || rects.length === 0) {
    throw new Error("it is an SVG, but no memory map as write_memory_map draws it");
  }
  if (!text.trimEnd().endsWith("</svg>")) throw new Error("it is an SVG that ends too early");
  const found = rects.map(([, x, width, name, ...numbers]) => {
    const [lower, upper, size, offset] = numbers.map(Number);
    return { x: Number(x), width: Number(width), name: unescape(name), lower, upper, size, offset };
  });
  // If there are gaps in the use of a buffer, each stretch is a rectangle. Its title has the first and the last time; the
  // picture's scale gives those between, to six digits.
  const from = leastOf(found.map((rect) => rect.lower));
  const until = mostOf(found.map((rect) => rect.upper));
  const left = leastOf(found.map((rect) => rect.x));
  const right = mostOf(found.map((rect) => rect.x + rect.width));
  const time = (x) => Math.round(from + ((x - left) / (right - left)) * (until - from));
  const buffers = new Map();
  for (const { x, width, ...buffer } of found) {
    const key = `${buffer.name}@${buffer.offset}[${buffer.lower}`;
    if (!buffers.has(key)) buffers.set(key, { ...buffer, uses: [] });
    buffers.get(key).uses.push([time(x), time(x + width)]);
  }
  for (const { uses, lower, upper } of buffers.values()) {
    uses.sort((a, b) => a[0] - b[0]);
    uses[0][0] = lower;
    uses.at(-1)[1] = upper;
  }
  return finish([...buffers.values()], fileName, Number(head[1]), Number(head[2]));
}
