// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// report.mjs <folder with page.js> <arguments of tools/report>: reads the files and writes the page.

import { createHash } from "node:crypto";
import { chmodSync, readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import { readAny } from "./read/any.mjs";

const usage = `tools/report [--out report.html] [--title TEXT] FILE...

Writes one HTML page that needs no network, from any number of
  benchmark JSON   a benchmark's --benchmark_out=FILE --benchmark_out_format=json --benchmark_repetitions=5,
                   or memory_plan --json FILE
  traces           in Chrome's trace format
  memory maps      the SVG of write_memory_map or plan_memory --svg, or the CSV of plan_memory --offsets`;

function fail(message) {
  console.error(`report: ${message}`);
  process.exit(1);
}

function readArguments(args) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        out: { type: "string", default: "report.html" },
        title: { type: "string", default: "Rondo report" },
        help: { type: "boolean", short: "h" },
      },
    });
  } catch (error) {
    return fail(`${error.message}\n\n${usage}`);
  }
}

function readInput(file) {
  let text;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    return fail(`cannot read ${file}: ${error.code}`);
  }
  try {
    return readAny(text, path.basename(file));
  } catch (error) {
    return fail(`${file}: ${error.message}`);
  }
}

/** Writes a file as a whole: if that fails, an older file of that name is unchanged. Pipes are written directly. */
function replaceFile(file, text) {
  const old = statSync(file, { throwIfNoEntry: false });
  if (old !== undefined && !old.isFile()) return writeFileSync(file, text);
  const target = old === undefined ? file : realpathSync(file);
  const temporary = `${target}.${process.pid}.tmp`;
  try {
    writeFileSync(temporary, text, { flag: "wx", flush: true });
    if (old !== undefined) chmodSync(temporary, old.mode & 0o777);
    renameSync(temporary, target);
  } catch (error) {
    if (error.code !== "EEXIST") rmSync(temporary, { force: true });
    throw error;
  }
}

const escapeHtml = (text) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

const [folder, ...rest] = process.argv.slice(2);
const { values, positionals } = readArguments(rest);
if (values.help) {
  console.log(usage);
  process.exit(0);
}
if (positionals.length === 0) fail(`no files\n\n${usage}`);
const inputs = positionals.map(readInput);

// No script or data may end its element early, and only this very script may run.
const script = readFileSync(path.join(folder, "page.js"), "utf8").replaceAll("</script", "<\\/script");
const parts = {
  script,
  script_hash: `sha256-${createHash("sha256").update(script).digest("base64")}`,
  style: readFileSync(path.join(folder, "page.css"), "utf8"),
  title: escapeHtml(values.title),
  data: JSON.stringify({ inputs }).replaceAll("<", "\\u003c"),
  licences: escapeHtml(readFileSync(path.join(folder, "licences.txt"), "utf8")),
};
const template = readFileSync(path.join(path.dirname(fileURLToPath(import.meta.url)), "page", "page.html"), "utf8");
const page = template.replace(/\{\{(\w+)\}\}/g, (_, name) => parts[name]);
try {
  replaceFile(values.out, page);
} catch (error) {
  fail(`cannot write ${values.out}: ${error.code}`);
}
console.log(
  `${values.out}: ${inputs.length} file${inputs.length === 1 ? "" : "s"}, ${Math.ceil(page.length / 1024)} KiB`,
);
