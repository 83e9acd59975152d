// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Builds the page from the data that it contains.

import { element, table } from "./figure.mjs";
import { formatNumber, formatRatio } from "./format.mjs";
import { addMemoryMap } from "./memory_map.mjs";
import { familiesOf, geometricMean, ratioOf } from "./model.mjs";
import { addFigures, addRatios } from "./ratios.mjs";
import { addScaling } from "./scaling.mjs";
import { addSwimlane } from "./swimlane.mjs";
import { theme } from "./theme.mjs";

const { inputs } = JSON.parse(document.getElementById("data").textContent);
const main = document.querySelector("main");
const contents = document.querySelector("nav div");
const idOf = (...parts) => parts.join("-").replace(/[^\w-]+/g, "_");
const of = (kind) => inputs.filter((input) => input.kind === kind);

// Several files may be of one program.
const benchmarks = of("benchmark").map((program, at, all) => {
  const isOnly = all.filter((other) => other.program === program.program).length === 1;
  const [id, suffix] = isOnly ? [program.program, ""] : [`${program.program}-${at}`, ` (${program.file})`];
  return { ...program, id, suffix };
});

function addSection(id, title, ...lines) {
  const section = element("section", { id }, element("h2", {}, title), ...lines);
  main.append(section);
  contents.append(element("a", { href: `#${id}` }, title));
  return section;
}

/** Each contender over all situations, as an overview of the charts. */
function addOverview(programs) {
  const rows = programs.flatMap((program) =>
    familiesOf(program).flatMap((family) =>
      family.contenders.slice(1).flatMap((who) => {
        const ratios = family.situations
          .map((situation) => ratioOf(situation, who, family.reference, "time")?.median)
          .filter(Boolean);
        if (ratios.length === 0) return [];
        return [
          [
            element("a", { href: `#${idOf(program.id, family.name, "ratios")}` }, family.name + program.suffix),
            who,
            family.reference,
            String(ratios.length),
            formatRatio(geometricMean(ratios)),
            formatRatio(Math.min(...ratios)),
            formatRatio(Math.max(...ratios)),
          ],
        ];
      }),
    ),
  );
  if (rows.length === 0) return;
  const columns = [
    ["benchmark", false],
    ["contender", false],
    ["beside", false],
    ["cases", true],
    ["geometric mean", true],
    ["least", true],
    ["most", true],
  ];
  const section = addSection(
    "overview",
    "At a glance",
    element(
      "p",
      { class: "about" },
      "How many times the reference's time each contender takes: above 1 it is slower, below 1 faster.",
    ),
  );
  section.append(element("div", { class: "card" }, table(columns, rows)));
}

function machineText({ machine, file }) {
  if (!machine) return `From ${file}.`;
  const parts = [`From ${file}`];
  if (machine.date) parts.push(machine.date.slice(0, 16).replace("T", " "));
  if (machine.cpus) parts.push(`${machine.cpus} cores${machine.mhz ? ` at ${formatNumber(machine.mhz)} MHz` : ""}`);
  if (machine.load !== null) parts.push(`load ${formatNumber(machine.load)} when it began`);
  if (machine.scaling) parts.push("clock rates were not fixed");
  return `${parts.join(" · ")}.`;
}

function addProgram(program) {
  const section = addSection(
    idOf(program.id),
    program.program + program.suffix,
    element("p", { class: "about" }, machineText(program)),
  );
  const { machine } = program;
  if (machine?.cpus && machine.load > machine.cpus) {
    section.append(
      element(
        "p",
        { class: "note" },
        "The machine had more to do than cores to do it on: take differences within the spread for noise.",
      ),
    );
  }
  for (const { name, why } of program.failed) section.append(element("p", { class: "note" }, `${name} failed: ${why}`));
  for (const family of familiesOf(program)) {
    const id = idOf(program.id, family.name);
    if (!addRatios(section, family, `${id}-ratios`)) addFigures(section, family, `${id}-figures`, theme());
    addScaling(section, family, `${id}-scaling`);
  }
}

addOverview(benchmarks);
benchmarks.forEach(addProgram);
const traces = of("trace");
if (traces.length > 0) {
  const section = addSection("traces", "Traces");
  traces.forEach((trace, at) => addSwimlane(section, trace, `trace-${at}`));
}
const maps = of("memory");
if (maps.length > 0) {
  const section = addSection("memory", "Memory");
  maps.forEach((map, at) => addMemoryMap(section, map, `memory-${at}`));
}
document.documentElement.setAttribute("data-ready", "");
