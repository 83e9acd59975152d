// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// bundle.mjs <folder with node_modules>: writes what a page needs beside its data, page.js and page.css, into that folder.

import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";

const sources = path.join(path.dirname(fileURLToPath(import.meta.url)), "page");
const folder = path.resolve(process.argv[2]);
const { build } = createRequire(path.join(folder, "package.json"))("esbuild");

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
