// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Recognises a file by its content, and reads it.

import { readBenchmark, readPlannerRows } from "./benchmark.mjs";
import { readMemoryCsv, readMemorySvg } from "./memory_map.mjs";
import { readTrace } from "./trace.mjs";

/** If a counter has no value, Google Benchmark writes NaN or Infinity, which JSON does not have. */
function parseJson(text) {
  try {
    return JSON.parse(text);
  } catch {
    try {
      return JSON.parse(text.replace(/(":\s*)-?(?:nan|inf|infinity)(?=\s*[,}\]])/gi, "$1null"));
    } catch (error) {
      throw new Error(`it looks like JSON, but is not valid: ${error.message.replace(/\s+/g, " ")}`);
    }
  }
}

/** Throws an Error that names the expected formats if a report cannot show the file. */
export function readAny(text, fileName) {
  const start = text.replace(/^\uFEFF/, "").trimStart();
  if (start.startsWith("<")) return readMemorySvg(text, fileName);
  if (start.startsWith("{") || start.startsWith("[")) {
    const json = parseJson(start);
    if (Array.isArray(json.benchmarks)) return readBenchmark(json, fileName);
    if (Array.isArray(json.traceEvents) || json[0]?.ph !== undefined) return readTrace(json, fileName);
    if (Array.isArray(json) && json[0]?.planner !== undefined) return readPlannerRows(json, fileName);
    throw new Error("it is JSON, but has neither benchmarks nor traceEvents");
  }
  if (/^id,|,id,|,id\s*$/m.test(start.split("\n", 1)[0])) return readMemoryCsv(text, fileName);
  throw new Error("it is neither benchmark JSON, a trace, a memory map (SVG) nor a plan (CSV)");
}
