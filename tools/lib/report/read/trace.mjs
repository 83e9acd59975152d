// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Reads Chrome's trace format: spans (X, or B with E), counters (C), flows (s, t, f), instants (i) and names (M).

/** The most spans that a page draws; more would make it slow. The figures cover all spans. */
export const mostSpans = 30_000;

/** The largest rounding error of the sum of two times, in µs. */
const rounding = 1e-4;

/** Gives each span of a lane a depth, so that a span within another is drawn below it. */
function stack(spans) {
  spans.sort((a, b) => a.start - b.start || b.length - a.length);
  const ends = []; // the ends of the open spans, by depth
  let deepest = 0;
  for (const span of spans) {
    span.depth = ends.findLastIndex((end) => end > span.start + rounding) + 1;
    ends[span.depth] = span.start + span.length;
    ends.length = span.depth + 1;
    deepest = Math.max(deepest, span.depth);
  }
  return deepest + 1;
}

function quantile(sorted, share) {
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
}

/** A counter's values over time; of several values at the same time, the last one. */
function valuesOf(points, from) {
  points.sort((a, b) => a[0] - b[0]);
  return points
    .filter(([at], i) => at !== points[i + 1]?.[0])
    .slice(0, mostSpans)
    .map(([at, value]) => [at - from, value]);
}

/** Arrows between the steps of each flow, in order of time; a file may have its events in another order. */
function joinFlows(steps) {
  const places = ["s", "t", "f"];
  steps.sort((a, b) => a.at - b.at || places.indexOf(a.ph) - places.indexOf(b.ph));
  const last = new Map();
  const flows = [];
  for (const { ph, flow, lane, at } of steps) {
    const before = last.get(flow);
    if (ph !== "s" && before === undefined) continue;
    if (ph !== "s") flows.push([before.lane, before.at, lane, at]);
    last.set(flow, { lane, at });
  }
  return flows;
}

/** The duration of the union of a lane's spans. */
function busyTime(spans) {
  let busy = 0;
  let until = -Infinity;
  for (const { start, length } of spans) {
    const end = start + length;
    if (end > until) {
      busy += end - Math.max(start, until);
      until = end;
    }
  }
  return busy;
}

/** Spans that differ in a number at the end, as rounds do, are of one kind. */
export const kindOf = (name) => name.replace(/ \d+$/, " n");

function summarise(lanes) {
  const byName = new Map();
  for (const lane of lanes) {
    for (const span of lane.spans) {
      const kind = kindOf(span.name);
      if (!byName.has(kind)) byName.set(kind, []);
      byName.get(kind).push(span.length);
    }
  }
  return [...byName]
    .map(([name, lengths]) => {
      lengths.sort((a, b) => a - b);
      const total = lengths.reduce((sum, length) => sum + length, 0);
      return {
        name,
        count: lengths.length,
        total,
        median: quantile(lengths, 0.5),
        p99: quantile(lengths, 0.99),
        longest: lengths.at(-1),
      };
    })
    .sort((a, b) => b.total - a.total);
}

/** The trace as { kind, lanes, counters, flows, names }, in microseconds since its first event. */
export function readTrace(json, fileName) {
  const events = Array.isArray(json) ? json : json.traceEvents;
  const processes = new Map();
  const threads = new Map();
  const order = new Map();
  const lanes = new Map();
  const begun = new Map();
  const counters = new Map();
  const flowSteps = [];
  let from = Infinity;
  const laneOf = (event) => {
    const key = `${event.pid ?? 0}/${event.tid ?? 0}`;
    if (!lanes.has(key)) lanes.set(key, { key, pid: event.pid ?? 0, tid: event.tid ?? 0, spans: [] });
    return lanes.get(key);
  };
  for (const event of events) {
    if (event.ph === "M") {
      const key = `${event.pid ?? 0}/${event.tid ?? 0}`;
      if (event.name === "process_name") processes.set(event.pid ?? 0, event.args?.name);
      if (event.name === "thread_name") threads.set(key, event.args?.name);
      if (event.name === "thread_sort_index") order.set(key, event.args?.sort_index);
      continue;
    }
    if (!Number.isFinite(event.ts)) continue;
    from = Math.min(from, event.ts);
    const lane = `${event.pid ?? 0}/${event.tid ?? 0}`;
    if (event.ph === "X") {
      laneOf(event).spans.push({ name: String(event.name), start: event.ts, length: event.dur ?? 0, args: event.args });
    } else if (event.ph === "B") {
      if (!begun.has(lane)) begun.set(lane, []);
      begun.get(lane).push(event);
    } else if (event.ph === "E") {
      const begin = begun.get(lane)?.pop();
      if (begin)
        laneOf(event).spans.push({
          name: String(begin.name),
          start: begin.ts,
          length: event.ts - begin.ts,
          args: begin.args,
        });
    } else if (event.ph === "C") {
      for (const [key, value] of Object.entries(event.args ?? {})) {
        const name = Object.keys(event.args).length > 1 ? `${event.name} ${key}` : event.name;
        const pid = event.pid ?? 0;
        if (!counters.has(`${pid}/${name}`)) counters.set(`${pid}/${name}`, { pid, name, points: [] });
        counters.get(`${pid}/${name}`).points.push([event.ts, Number(value)]);
      }
    } else if (["s", "t", "f"].includes(event.ph)) {
      flowSteps.push({ ph: event.ph, flow: `${event.cat}/${event.id}`, lane, at: event.ts });
    }
  }
  const processName = (pid) => processes.get(pid) ?? `process ${pid}`;
  const sorted = [...lanes.values()]
    .filter((lane) => lane.spans.length > 0)
    .sort((a, b) => a.pid - b.pid || (order.get(a.key) ?? 0) - (order.get(b.key) ?? 0) || a.tid - b.tid);
  if (sorted.length === 0) throw new Error("it is a trace without any span");
  let until = from;
  for (const lane of sorted) {
    for (const span of lane.spans) {
      span.start -= from;
      until = Math.max(until, from + span.start + span.length);
    }
    lane.name = threads.get(lane.key) ?? `thread ${lane.tid}`;
    lane.process = processName(lane.pid);
    lane.rows = stack(lane.spans);
    lane.busy = busyTime(lane.spans);
    lane.count = lane.spans.length;
  }
  const names = summarise(sorted);
  const spanCount = sorted.reduce((sum, lane) => sum + lane.count, 0);
  let drawnUntil = until - from;
  if (spanCount > mostSpans) {
    // The earliest spans of all lanes, so that the drawing is complete up to some time.
    const starts = sorted.flatMap((lane) => lane.spans.map((span) => span.start)).sort((a, b) => a - b);
    drawnUntil = starts[mostSpans];
    for (const lane of sorted) lane.spans = lane.spans.filter((span) => span.start < drawnUntil);
  }
  const severalCount = new Set([...counters.values()].map(({ pid }) => pid)).size > 1;
  const drawn = sorted.reduce((sum, lane) => sum + lane.spans.length, 0);
  return {
    kind: "trace",
    file: fileName,
    length: until - from,
    drawnUntil,
    lanes: sorted,
    spanCount,
    drawn,
    dropped: Number(json.otherData?.dropped_spans ?? 0),
    counters: [...counters.values()].map(({ pid, name, points }) => ({
      name: severalCount ? `${processName(pid)}: ${name}` : name,
      points: valuesOf(points, from),
    })),
    flows: joinFlows(flowSteps)
      .map(([lane, start, toLane, end]) => [lane, start - from, toLane, end - from])
      .filter(([, , , end]) => end <= drawnUntil),
    names,
  };
}
