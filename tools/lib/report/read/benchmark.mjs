// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Reads the files that Google Benchmark writes with --benchmark_out, and those that memory_plan writes with --json.
//
// The name of a case is family/scene/contender with key:value parts anywhere between, as in
// replay/fork/work:0/threads:2/rondo. The first part is the family, the last plain part is the contender, and the plain
// parts between them are the scene. A number without a key belongs to the part before it.

const settings = /^(min_time|min_warmup_time|iterations|repeats):/;
const clocks = new Map([
  ["real_time", "real_time"],
  ["manual_time", "real_time"],
  ["process_time", "cpu_time"],
]);
const nanoseconds = { ns: 1, us: 1e3, ms: 1e6, s: 1e9 };
const notCounters = new Set([
  "name",
  "run_name",
  "run_type",
  "family_index",
  "per_family_instance_index",
  "repetitions",
  "repetition_index",
  "threads",
  "iterations",
  "real_time",
  "cpu_time",
  "time_unit",
  "label",
  "error_occurred",
  "error_message",
  "skipped",
  "skip_message",
  "aggregate_name",
  "aggregate_unit",
]);

/** Splits a case's name; `clock` is the field that holds the case's time. */
export function parseName(name) {
  const [family, ...parts] = name.split("/");
  const plain = [];
  const params = {};
  let clock = "cpu_time";
  for (const part of parts) {
    if (settings.test(part)) continue;
    if (clocks.has(part)) {
      clock = clocks.get(part);
      continue;
    }
    const [key, ...rest] = part.split(":");
    if (rest.length > 0 && key !== "rival") {
      params[key] = rest.join(":");
    } else if (/^-?\d+$/.test(part)) {
      const owner = plain.pop() ?? "n";
      params[Object.hasOwn(params, owner) ? `${owner} ${Object.keys(params).length}` : owner] = part;
    } else {
      plain.push(part);
    }
  }
  const scene = plain.length > 1 ? plain.shift() : "";
  return { family, scene, contender: plain.join("/"), params, clock };
}

/** Median and extent of at least one value. */
export function spreadOf(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  const median = sorted.length % 2 === 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  return { median, min: sorted[0], max: sorted.at(-1), n: sorted.length };
}

function valuesOf(run, clock) {
  const unit = run.time_unit ?? "ns";
  if (!Object.hasOwn(nanoseconds, unit)) throw new Error(`the case ${run.name} has times in '${unit}'`);
  const values = { time: run[clock] * nanoseconds[unit] };
  for (const [key, value] of Object.entries(run)) {
    if (typeof value === "number" && !notCounters.has(key)) values[key] = value;
  }
  return values;
}

/** If a file has only aggregates: the median, and one standard deviation to each side. */
function spreadOfAggregates(runs, clock) {
  const named = Object.fromEntries(runs.map((run) => [run.aggregate_name, valuesOf(run, clock)]));
  const centre = named.median ?? named.mean;
  if (centre === undefined) return {};
  const figures = {};
  for (const [key, median] of Object.entries(centre)) {
    const off = named.stddev?.[key] ?? 0;
    figures[key] = {
      median,
      min: Math.max(median - off, 0),
      max: median + off,
      n: runs[0].repetitions ?? 1,
      deviation: true,
    };
  }
  return figures;
}

function spreadOfRuns(runs, clock) {
  const figures = {};
  const all = runs.map((run) => valuesOf(run, clock));
  for (const key of Object.keys(all[0])) {
    figures[key] = spreadOf(all.map((values) => values[key]).filter((value) => Number.isFinite(value)));
  }
  return figures;
}

/** A program's cases, as { kind, program, machine, cases, failed }. */
export function readBenchmark(json, fileName) {
  const context = json.context ?? {};
  const byName = new Map();
  const failed = [];
  for (const run of json.benchmarks) {
    const name = run.run_name ?? run.name;
    if (run.error_occurred || run.skipped) {
      failed.push({ name, why: run.error_message ?? run.skip_message ?? "skipped" });
      continue;
    }
    if (!byName.has(name)) byName.set(name, []);
    byName.get(name).push(run);
  }
  const cases = [];
  for (const [name, runs] of byName) {
    const parsed = parseName(name);
    const single = runs.filter((run) => run.run_type !== "aggregate");
    const figures = single.length > 0 ? spreadOfRuns(single, parsed.clock) : spreadOfAggregates(runs, parsed.clock);
    if (figures.time !== undefined && Number.isFinite(figures.time.median)) cases.push({ name, ...parsed, figures });
  }
  return {
    kind: "benchmark",
    program: (context.executable ?? fileName)
      .split(/[\\/]/)
      .at(-1)
      .replace(/\.json$/, ""),
    file: fileName,
    machine: {
      date: context.date ?? "",
      cpus: context.num_cpus ?? 0,
      mhz: context.mhz_per_cpu ?? 0,
      load: context.load_avg?.[0] ?? null,
      scaling: context.cpu_scaling_enabled === true,
    },
    cases,
    failed,
  };
}

/** The rows of memory_plan --json: a planner on an instance is a contender in a scene. */
export function readPlannerRows(rows, fileName) {
  const one = (value) => ({ median: value, min: value, max: value, n: 1 });
  const cases = rows.map((row) => ({
    name: `memory_plan/${row.instance}/${row.planner}`,
    family: "memory_plan",
    scene: row.instance,
    contender: row.planner,
    params: {},
    figures: { time: one(row.ms * 1e6), "arena/bound": one(row.ratio), arena: one(row.arena) },
  }));
  const failed = rows
    .filter((row) => row.valid === false)
    .map((row) => ({ name: `${row.instance}/${row.planner}`, why: "the plan is not valid" }));
  return { kind: "benchmark", program: "memory_plan", file: fileName, machine: null, reference: "fast", cases, failed };
}
