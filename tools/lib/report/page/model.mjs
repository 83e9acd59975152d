// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// The structure of a program's cases: the contenders, the situations, and the figures.

import { formatParam } from "./format.mjs";

const isRival = (contender) => /^(raw|rival|null|tbb|taskflow)/.test(contender);

/** The contender with which the others are compared: Rondo, or the first that is no rival. */
function referenceOf(contenders, wanted) {
  return (
    contenders.find((who) => who === wanted) ??
    contenders.find((who) => who === "rondo") ??
    contenders.find((who) => who.startsWith("rondo")) ??
    contenders.find((who) => !isRival(who)) ??
    contenders[0]
  );
}

export const labelOf = ({ scene, params }, without) =>
  [
    scene,
    ...Object.entries(params)
      .filter(([key]) => key !== without)
      .map(([key, value]) => formatParam(key, value)),
  ]
    .filter(Boolean)
    .join(" · ");

/** The families of a program's cases, each with situations, in which contenders meet. */
export function familiesOf(program) {
  const families = new Map();
  for (const it of program.cases) {
    if (!families.has(it.family)) families.set(it.family, []);
    families.get(it.family).push(it);
  }
  return [...families].map(([name, cases]) => {
    const seen = [...new Set(cases.map((it) => it.contender))];
    const reference = referenceOf(seen, program.reference);
    const contenders = [reference, ...seen.filter((who) => who !== reference)];
    const situations = new Map();
    for (const it of cases) {
      const label = labelOf(it);
      if (!situations.has(label)) situations.set(label, { label, scene: it.scene, params: it.params, by: new Map() });
      situations.get(label).by.set(it.contender, it);
    }
    const figures = [...new Set(cases.flatMap((it) => Object.keys(it.figures)))];
    const clocks = new Set(cases.map((it) => it.clock));
    const clock =
      clocks.size > 1 ? "time" : ({ cpu_time: "CPU time", real_time: "real time" }[[...clocks][0]] ?? "time");
    return { name, cases, reference, contenders, situations: [...situations.values()], figures, clock };
  });
}

/** A case's figure over the reference's median in the same situation; undefined where one of them is missing. */
export function ratioOf(situation, contender, reference, figure) {
  const own = situation.by.get(contender)?.figures[figure];
  const base = situation.by.get(reference)?.figures[figure]?.median;
  if (!own || !(base > 0) || !(own.median > 0)) return undefined;
  return { median: own.median / base, min: own.min / base, max: own.max / base, own };
}

/** Keys whose values look like numbers but are none. */
const names = new Set(["shape"]);

/** The keys whose values are numbers, three at least; the one with most values first. */
export function numericKeys(family) {
  const values = new Map();
  for (const { params } of family.cases) {
    for (const [key, value] of Object.entries(params)) {
      if (!values.has(key)) values.set(key, new Set());
      values.get(key).add(value);
    }
  }
  return [...values]
    .filter(
      ([key, all]) => all.size > 2 && !names.has(key) && [...all].every((value) => Number.isFinite(Number(value))),
    )
    .sort((a, b) => b[1].size - a[1].size)
    .map(([key]) => key);
}

export const geometricMean = (values) =>
  Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);
export const figureName = (family, figure) => (figure === "time" ? family.clock : figure.replaceAll("_", " "));
