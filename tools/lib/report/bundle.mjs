// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// bundle.mjs <folder with node_modules>: writes everything that a page needs except its data into that folder: page.js,
// page.css and, since the page contains work of others, their licences in licences.txt.

import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";

const sources = path.join(path.dirname(fileURLToPath(import.meta.url)), "page");
const folder = path.resolve(process.argv[2]);
const { build } = createRequire(path.join(folder, "package.json"))("esbuild");

const licences = [
  "echarts/LICENSE",
  "echarts/NOTICE",
  "echarts/licenses/LICENSE-d3",
  "zrender/LICENSE",
  "tslib/LICENSE.txt",
];
const texts = licences.map(
  (name) => `${name}\n\n${readFileSync(path.join(folder, "node_modules", name), "utf8").trim()}\n`,
);
writeFileSync(path.join(folder, "licences.txt"), texts.join("\n\n"));

// page.js is written last, since its presence means that the bundle is complete.
await build({
  entryPoints: [path.join(sources, "main.mjs"), path.join(sources, "page.css")],
  entryNames: "page",
  outdir: folder,
  nodePaths: [path.join(folder, "node_modules")],
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  charset: "utf8",
  legalComments: "none",
  logLevel: "warning",
});
