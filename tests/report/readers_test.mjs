// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// What files become, before anything is drawn; and what the command says to files that it cannot read.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  closeSync,
  lstatSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";

import { readAny } from "../../tools/lib/report/read/any.mjs";
import { parseName } from "../../tools/lib/report/read/benchmark.mjs";
import { mostSpans } from "../../tools/lib/report/read/trace.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const command = path.join(here, "..", "..", "tools", "report");
const data = (name) => readFileSync(path.join(here, "data", name), "utf8");
const scratch = mkdtempSync(path.join(tmpdir(), "rondo-report-"));
const written = (name, text) => {
  writeFileSync(path.join(scratch, name), text);
  return path.join(scratch, name);
};
const trace = (...traceEvents) => readAny(JSON.stringify({ traceEvents }), "t.json");
const X = (name, ts, dur, tid = 1) => ({ name, ph: "X", pid: 1, tid, ts, dur });

test("a case's name is taken apart", () => {
  const of = (name) => {
    const { family, scene, contender, params, clock } = parseName(name);
    return [family, scene, contender, params, clock];
  };
  assert.deepEqual(of("round/raw/k:4/bytes:64"), ["round", "", "raw", { k: "4", bytes: "64" }, "cpu_time"]);
  assert.deepEqual(of("replay/fork/work:1/threads:2/tbb/real_time"), [
    "replay",
    "fork",
    "tbb",
    { work: "1", threads: "2" },
    "real_time",
  ]);
  assert.deepEqual(of("runtimes/chain/host/pool/real_time"), ["runtimes", "chain", "host/pool", {}, "real_time"]);
  assert.deepEqual(of("measure/builds/rival:16/iterations:1/real_time"), [
    "measure",
    "builds",
    "rival:16",
    {},
    "real_time",
  ]);
  assert.deepEqual(of("runtimes/submit/tiles/regions/1000/iterations:20/manual_time"), [
    "runtimes",
    "submit",
    "tiles",
    { regions: "1000" },
    "real_time",
  ]);
  assert.deepEqual(of("pipeline/shape:111/depth:3/manual_time"), [
    "pipeline",
    "",
    "",
    { shape: "111", depth: "3" },
    "real_time",
  ]);
});

test("repetitions become a median and an extent, and aggregates do not count twice", () => {
  const run = (real_time, more = {}) => ({
    name: "a/b",
    run_name: "a/b",
    run_type: "iteration",
    real_time: 0,
    cpu_time: real_time,
    time_unit: "us",
    ...more,
  });
  const { cases } = readAny(
    JSON.stringify({
      context: {},
      benchmarks: [
        run(3),
        run(1),
        run(8),
        run(2, { bytes: 7 }),
        run(900, { run_type: "aggregate", aggregate_name: "mean" }),
      ],
    }),
    "b.json",
  );
  assert.deepEqual(cases[0].figures.time, { median: 2500, min: 1000, max: 8000, n: 4 });
});

test("a file of aggregates alone has its deviation for an extent", () => {
  const of = (aggregate_name, cpu_time) => ({
    name: `a/b_${aggregate_name}`,
    run_name: "a/b",
    run_type: "aggregate",
    repetitions: 5,
    aggregate_name,
    cpu_time,
    real_time: 0,
    time_unit: "ns",
  });
  const { cases } = readAny(
    JSON.stringify({ benchmarks: [of("mean", 11), of("median", 10), of("stddev", 2)] }),
    "b.json",
  );
  assert.deepEqual(cases[0].figures.time, { median: 10, min: 8, max: 12, n: 5, deviation: true });
});

test("counters without a value, which are no JSON, are left out", () => {
  const text = `{"benchmarks": [{"name": "a/b", "run_type": "iteration", "cpu_time": 1, "real_time": 1, "time_unit": "ns", "x": NaN, "y": -inf, "z": 3}]}`;
  assert.deepEqual(Object.keys(readAny(text, "b.json").cases[0].figures), ["time", "z"]);
});

test("cases that failed are told and not drawn", () => {
  const { cases, failed } = readAny(
    data("launch_cache.json").replace(
      /"run_type":"iteration","repetition_index":\d/g,
      `$&,"error_occurred":true,"error_message":"a round failed"`,
    ),
    "b.json",
  );
  assert.equal(cases.length, 0);
  assert.equal(failed[0].why, "a round failed");
});

test("spans stand below those that they lie in, and only then", () => {
  const { lanes } = trace(
    X("outer", 10, 10),
    X("inner", 10, 4),
    X("innermost", 11, 1),
    X("second", 14, 6),
    X("after", 20, 1),
  );
  assert.deepEqual(
    lanes[0].spans.map(({ name, depth }) => [name, depth]),
    [
      ["outer", 0],
      ["inner", 1],
      ["innermost", 2],
      ["second", 1],
      ["after", 0],
    ],
  );
  assert.equal(lanes[0].rows, 3);
  assert.equal(lanes[0].busy, 11);
});

test("a beginning and an end are a span, arrows join lanes, names name them", () => {
  const read = trace(
    { ph: "M", name: "thread_name", pid: 1, tid: 2, args: { name: "core 0" } },
    { ph: "B", name: "work", pid: 1, tid: 2, ts: 105 },
    X("first", 100, 1),
    { ph: "E", pid: 1, tid: 2, ts: 109 },
    { ph: "s", id: 7, cat: "flow", pid: 1, tid: 1, ts: 101 },
    { ph: "f", id: 7, cat: "flow", pid: 1, tid: 2, ts: 105 },
    { ph: "C", name: "bytes", pid: 1, ts: 100, args: { used: 5 } },
    { ph: "C", name: "bytes", pid: 1, ts: 100, args: { used: 6 } },
  );
  assert.deepEqual(
    read.lanes.map(({ name }) => name),
    ["thread 1", "core 0"],
  );
  assert.deepEqual([read.lanes[1].spans[0].start, read.lanes[1].spans[0].length], [5, 4]);
  assert.deepEqual(read.flows, [["1/1", 1, "1/2", 5]]);
  assert.deepEqual(read.counters, [{ name: "bytes", points: [[0, 6]] }]);
  assert.equal(read.length, 9);
});

test("an arrow may begin on a lane that stands later in the file than the one where it ends", () => {
  const flow = (ph, id, tid, ts) => ({ ph, id, cat: "flow", pid: 1, tid, ts });
  const { flows } = trace(
    X("b", 6, 4, 1),
    flow("f", 1, 1, 6),
    flow("f", 2, 1, 9),
    X("a", 0, 5, 2),
    flow("s", 1, 2, 4),
    flow("t", 2, 2, 9), // at the same time as the end
    X("c", 0, 8, 3),
    flow("s", 2, 3, 9),
  );
  assert.deepEqual(flows, [
    ["1/2", 4, "1/1", 6],
    ["1/3", 9, "1/2", 9],
    ["1/2", 9, "1/1", 9],
  ]);
});

test("counters of several processes are apart, and named by them", () => {
  const C = (pid, ts, bytes) => ({ ph: "C", pid, tid: 0, ts, name: "arena", args: { bytes } });
  const { counters } = trace(
    X("a", 0, 9),
    C(1, 1, 100),
    C(2, 2, 7),
    C(1, 9, 0),
    { ph: "M", name: "process_name", pid: 2, args: { name: "model" } },
  );
  assert.deepEqual(counters, [
    {
      name: "process 1: arena",
      points: [
        [1, 100],
        [9, 0],
      ],
    },
    { name: "model: arena", points: [[2, 7]] },
  ]);
});

test("a trace that is too long to draw keeps its figures", () => {
  const read = trace(...Array.from({ length: mostSpans + 500 }, (_, i) => X(`round ${i}`, 2 * i, 1)));
  assert.equal(read.drawn, mostSpans);
  assert.equal(read.spanCount, mostSpans + 500);
  assert.deepEqual([read.drawnUntil, read.length], [2 * mostSpans, 2 * (mostSpans + 500) - 1]);
  assert.deepEqual(
    read.names.map(({ name, count }) => [name, count]),
    [["round n", mostSpans + 500]],
  );
});

test("a trace written by Rondo has its rounds, tasks and edges", () => {
  const read = readAny(data("digits_trace.json"), "t.json");
  assert.deepEqual(
    read.lanes.map(({ name }) => name),
    ["rounds", "host", "launches", "tasks, thread 0", "tasks, thread 1"],
  );
  assert.equal(read.names.find(({ name }) => name === "round n").count, 4);
  assert.ok(read.flows.length > 50);
});

test("a plan and the picture of one are the same map", () => {
  const csv = readAny("id,lower,upper,size,offset,gaps\na<b,0,10,64,0,3-5\nc,2,4,32,64,\nempty,1,1,8,0,\n", "p.csv");
  const svg = readAny(
    `<svg><title>96 bytes, lower bound 96</title>
    <rect x="40" y="1" width="360" height="2" fill="x"><title>a&lt;b: [0, 10), 64 bytes at 0</title></rect>
    <rect x="640" y="1" width="600" height="2" fill="x"><title>a&lt;b: [0, 10), 64 bytes at 0</title></rect>
    <rect x="280" y="1" width="240" height="2" fill="x"><title>c: [2, 4), 32 bytes at 64</title></rect></svg>`,
    "p.svg",
  );
  assert.deepEqual(
    csv.buffers.map(({ name, uses }) => [name, uses]),
    [
      [
        "a<b",
        [
          [0, 3],
          [5, 10],
        ],
      ],
      ["c", [[2, 4]]],
    ],
  );
  assert.deepEqual({ ...svg, file: "" }, { ...csv, file: "" });
});

test("the times of a map are those of its tooltips, where coordinates are too coarse", () => {
  const rect = (x, width, name, lower, upper) =>
    `<rect x="${x}" y="1" width="${width}" height="2" fill="x"><title>${name}: [${lower}, ${upper}), 64 bytes at 0</title></rect>`;
  const { buffers } = readAny(
    `<svg><title>64 bytes, lower bound 64</title>
    ${rect("40", "1200", "all", 0, 10000000)}
    ${rect("41", "0.00012", "short", 8333, 8334)}
    ${rect("40.0001", "600", "gap", 1, 9999999)}${rect("940", "300", "gap", 1, 9999999)}</svg>`,
    "m.svg",
  );
  assert.deepEqual(
    buffers.map(({ name, uses }) => [name, uses]),
    [
      ["all", [[0, 10000000]]],
      ["short", [[8333, 8334]]],
      [
        "gap",
        [
          [1, 5000001],
          [7500000, 9999999],
        ],
      ],
    ],
  );
});

test("a map written by Rondo has its tensors", () => {
  const map = readAny(data("digits_memory.svg"), "m.svg");
  assert.deepEqual(map.buffers.find(({ name }) => name === "w1").uses, [[0, 18]]);
  assert.ok(map.arena >= map.bound && map.apart > map.arena);
});

test("planners' rows are a benchmark with instances for scenes", () => {
  const { cases } = readAny(
    `[{"instance": "net", "n": 2, "lower_bound": 8, "arena": 10, "ratio": 1.25, "ms": 0.5, "planner": "fast", "valid": true}]`,
    "p.json",
  );
  assert.deepEqual([cases[0].scene, cases[0].contender, cases[0].figures.time.median], ["net", "fast", 500_000]);
});

test("the command says what is wrong with a file, and names it", () => {
  const run = (...files) => {
    const { status, stderr } = spawnSync(
      process.execPath,
      [path.join(here, "..", "..", "tools", "lib", "report", "report.mjs"), scratch, ...files],
      { encoding: "utf8" },
    );
    return `${status} ${stderr}`;
  };
  assert.match(run(), /^1 report: no files/);
  assert.match(run("/no/such.json"), /^1 report: cannot read \/no\/such\.json: ENOENT/);
  assert.match(run(written("a.txt", "hello")), /a\.txt: it is neither benchmark JSON, a trace/);
  assert.match(run(written("a.json", `{"benchmarks": [`)), /a\.json: it looks like JSON, but is not valid/);
  assert.match(run(written("b.json", `{"x": 1}`)), /b\.json: it is JSON, but has neither benchmarks nor traceEvents/);
  assert.match(
    run(written("a.csv", "id,lower,upper,size\na,0,1,4\n")),
    /a\.csv: column "offset" is missing; plan_memory/,
  );
  assert.match(
    run(written("b.csv", "id,lower,upper,size,offset\na,0,1,four,0\n")),
    /b\.csv: line 2, size: expected a number \(found "four"\)/,
  );
  assert.match(run(written("t.json", `{"traceEvents": []}`)), /t\.json: it is a trace without any span/);
  assert.match(run(written("e.csv", "id,lower,upper,size,offset\n")), /e\.csv: no buffer in it takes any bytes/);
  const picture = data("digits_memory.svg");
  assert.match(run(written("cut.svg", picture.slice(0, picture.length / 2))), /cut\.svg: it is an SVG that ends too early/);
  const fortnight = { name: "a/b", run_type: "iteration", real_time: 1, cpu_time: 1, time_unit: "fortnights" };
  assert.match(
    run(written("unit.json", JSON.stringify({ benchmarks: [fortnight] }))),
    /unit\.json: the case a\/b has times in 'fortnights'/,
  );
  assert.match(run(written("a.svg", "<svg></svg>")), /a\.svg: it is an SVG, but no memory map/);
});

test("a page is replaced as a whole, with its permissions and through a link, and never left in part", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "rondo-report-"));
  for (const name of ["page.js", "page.css", "licences.txt"]) writeFileSync(path.join(folder, name), "");
  const into = mkdtempSync(path.join(tmpdir(), "rondo-report-"));
  const run = (out) =>
    spawnSync(
      process.execPath,
      [
        path.join(here, "..", "..", "tools", "lib", "report", "report.mjs"),
        folder,
        "--out",
        out,
        path.join(here, "data", "digits_trace.json"),
      ],
      { encoding: "utf8" },
    );
  const page = path.join(into, "page.html");
  writeFileSync(page, "an older page", { mode: 0o640 });
  chmodSync(page, 0o640);
  const older = openSync(page, "r");
  symlinkSync("page.html", path.join(into, "link.html"));
  assert.equal(run(path.join(into, "link.html")).status, 0);
  assert.match(readFileSync(page, "utf8"), /<html/);
  assert.equal(statSync(page).mode & 0o777, 0o640);
  assert.ok(lstatSync(path.join(into, "link.html")).isSymbolicLink());
  assert.equal(readFileSync(older, "utf8"), "an older page"); // what has it open still reads all of it
  closeSync(older);
  assert.match(run(into).stderr, /^report: cannot write .*: EISDIR/);
  assert.match(run(path.join(into, "missing", "page.html")).stderr, /^report: cannot write .*: ENOENT/);
  assert.equal(run("/dev/null").status, 0);
  assert.ok(statSync("/dev/null").isCharacterDevice());
  assert.deepEqual(readdirSync(into).sort(), ["link.html", "page.html"]);
});

test("without Node.js the command says what to install", () => {
  const programs = mkdtempSync(path.join(tmpdir(), "rondo-report-"));
  for (const name of ["dirname", "readlink", "sed"]) {
    const { stdout } = spawnSync("sh", ["-c", `command -v ${name}`], { encoding: "utf8" });
    symlinkSync(stdout.trim(), path.join(programs, name));
  }
  const { status, stderr } = spawnSync("/bin/bash", [command, "x.json"], { encoding: "utf8", env: { PATH: programs } });
  assert.equal(status, 1);
  assert.equal(
    stderr,
    "report: please install Node.js 18 or later with its package manager npm, from your system's packages or nodejs.org.\n",
  );
});
