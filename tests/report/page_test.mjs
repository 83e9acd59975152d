// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// The page in a browser, without a network: what it shows, what the pointer does, and that nothing leaves it.
//   WORK         a folder with node_modules, where pages are put
//   CHROMIUM     the browser
//   SCREENSHOTS  a folder for pictures; FILES, separated by spaces, is what they then show instead of data/
// data/ holds short runs of three benchmarks, a trace and the memory map of the example digits, and a plan of plan_memory.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import test, { after, before } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";

import { readAny } from "../../tools/lib/report/read/any.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const { WORK, CHROMIUM, SCREENSHOTS, FILES } = process.env;
const { chromium } = createRequire(path.join(WORK, "package.json"))("playwright-core");
const fixtures = readdirSync(path.join(here, "data")).map((name) => path.join(here, "data", name));

let browser;
before(async () => {
  browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
});
after(() => browser?.close());

function makePage(name, files, ...more) {
  const out = path.join(WORK, name);
  const { status, stderr } = spawnSync(
    path.join(here, "..", "..", "tools", "report"),
    ["--out", out, ...more, ...files],
    { encoding: "utf8" },
  );
  assert.equal(status, 0, stderr);
  return out;
}

/** Opens a page from the file system; `trouble` gathers requests for anything else, console messages and errors. */
async function open(file, colorScheme = "light") {
  const context = await browser.newContext({ viewport: { width: 1160, height: 1120 }, colorScheme, offline: true });
  context.setDefaultTimeout(0); // no limit: ctest ends a test that hangs
  const page = await context.newPage();
  const trouble = [];
  const url = pathToFileURL(file).href;
  page.on(
    "request",
    (request) => request.url() === url || request.url().startsWith("data:") || trouble.push(`request ${request.url()}`),
  );
  page.on("console", (message) => trouble.push(`console ${message.text()}`));
  page.on("pageerror", (error) => trouble.push(`error ${error}`));
  await page.goto(url);
  await page.waitForSelector("html[data-ready]");
  return { page, trouble, close: () => context.close() };
}

const chartOf = (page, id) => page.locator(`#${id} .chart`);

/** Where in the window a chart has a patch of one of these colours, from the left; patches are 3 × 3 pixels. */
async function findColour(page, id, ...colours) {
  await chartOf(page, id).scrollIntoViewIfNeeded();
  // Much is drawn over several frames.
  const found = await page.waitForFunction(
    ([id, colours]) => {
      const canvas = document.querySelector(`#${id} canvas`);
      const { width, height } = canvas;
      const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
      const wanted = colours.map((colour) => [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16)));
      const is = (x, y) =>
        wanted.some((parts) => parts.every((part, at) => data[4 * (y * width + x) + at] === part)) &&
        data[4 * (y * width + x) + 3] === 255;
      const box = canvas.getBoundingClientRect();
      for (let x = 1; x < width - 1; ++x) {
        for (let y = 30; y < height - 1; ++y) {
          // below the legend
          if ([-1, 0, 1].every((dx) => [-1, 0, 1].every((dy) => is(x + dx, y + dy))))
            return [box.x + (x * box.width) / width, box.y + (y * box.height) / height];
        }
      }
      return null;
    },
    [id, colours],
    { polling: 100 },
  );
  return found.jsonValue();
}

async function tooltipAt(page, id, [x, y], patience = 0) {
  await page.mouse.move(x - 3, y);
  await page.mouse.move(x + 1, y, { steps: 2 });
  const tip = page.locator(`#${id} .tip`);
  await tip.waitFor({ state: "visible", timeout: patience });
  return (await tip.innerText()).replaceAll("\u00a0", " ");
}

const picture = (page, id) => page.evaluate((id) => document.querySelector(`#${id} canvas`).toDataURL(), id);
const isZoomed = async (page, id) => (await page.locator(`#${id}`).getAttribute("data-zoomed")) !== null;

async function drag(page, id, [x, y], [toX, toY]) {
  await chartOf(page, id).scrollIntoViewIfNeeded();
  const box = await chartOf(page, id).boundingBox();
  const at = (fx, fy) => [box.x + fx * box.width, box.y + fy * box.height];
  await page.mouse.move(...at(x, y));
  await page.mouse.down();
  await page.mouse.move(...at((x + toX) / 2, (y + toY) / 2), { steps: 3 });
  await page.mouse.move(...at(toX, toY), { steps: 3 });
  await page.mouse.up();
}

const colours = {
  light: { first: "#0072b2", second: "#d55e00", fill: "#7fb8dc" },
  dark: { first: "#56b4e9", second: "#f0803c", fill: "#2f6f99" },
};
const ids = {
  ratios: "round_overhead-round-ratios",
  scaling: "launch_cache-cache-scaling-tensors",
  trace: "trace-0",
  memory: "memory-0",
};
let file;
before(() => {
  file = makePage("page.html", fixtures, "--title", "Fixtures & more");
});

for (const scheme of ["light", "dark"]) {
  test(`in ${scheme}, every chart is drawn, has figures below it, and tells what the pointer is at`, async () => {
    const { page, trouble, close } = await open(file, scheme);
    assert.equal(await page.title(), "Fixtures & more");
    const luminance = await page.evaluate(() =>
      getComputedStyle(document.body)
        .backgroundColor.match(/\d+/g)
        .slice(0, 3)
        .reduce((sum, part) => sum + Number(part), 0),
    );
    assert.equal(luminance > 384, scheme === "light");
    const cards = await page.$$eval("figure", (all) =>
      all.map((card) => [card.id, card.querySelectorAll("tbody tr").length]),
    );
    for (const id of Object.values(ids))
      assert.ok(
        cards.some(([of]) => of === id),
        `${id} is missing`,
      );
    for (const [id, rows] of cards) assert.ok(rows > 0, `${id} has no figures`);

    const { first, fill } = colours[scheme];
    const ratio = await tooltipAt(page, ids.ratios, await findColour(page, ids.ratios, first));
    assert.match(
      ratio,
      /^rondo — k \d+ · .*\nratio\s+1\.00× of rondo\nits range\s+[\d.]+× … [\d.]+×\nmedian CPU time\s+[\d.]+ .s/,
    );
    const scaling = await tooltipAt(page, ids.scaling, await findColour(page, ids.scaling, first));
    assert.match(scaling, /^tensors 1\nrondo\s+[\d.]+ ns .*\nrival\s/);
    const span = await tooltipAt(page, ids.trace, await findColour(page, ids.trace, fill));
    assert.match(span, /^.+\ntook\s+[\d.]+ .s\nfrom\s/);
    const buffer = await tooltipAt(page, ids.memory, await findColour(page, ids.memory, fill));
    const [, name, size] = /^(.+)\nsize\s+([\d.]+ \w+)\n/.exec(buffer);
    const known = readAny(
      readFileSync(
        fixtures.find((of) => of.endsWith(".svg")),
        "utf8",
      ),
      "",
    ).buffers.find((of) => of.name === name);
    const factor = { B: 1, KiB: 1024 }[size.split(" ")[1]];
    assert.ok(
      Math.abs(Number.parseFloat(size) * factor - known.size) <= 0.005 * known.size,
      `${buffer} is not ${known.size} bytes`,
    );
    assert.deepEqual(trouble, []);
    await close();
  });
}

test("medians and ratios in the table are those of the file", async () => {
  const { page, close } = await open(file);
  const input = JSON.parse(
    readFileSync(
      fixtures.find((of) => of.endsWith("round_overhead.json")),
      "utf8",
    ),
  );
  const median = (name) => {
    const times = input.benchmarks
      .filter((run) => run.name === name)
      .map((run) => run.cpu_time)
      .sort((a, b) => a - b);
    return times[(times.length - 1) / 2];
  };
  const [raw, rondo] = ["raw", "rondo"].map((who) => median(`round/${who}/k:4/bytes:64`));
  const rows = await page.$$eval(`#${ids.ratios} tbody tr`, (all) =>
    all.map((row) => [...row.children].map((cell) => cell.innerText.replaceAll("\u00a0", " "))),
  );
  const row = rows.find(([label, who]) => label === "k 4 · 64 B" && who === "raw");
  assert.equal(row[2], `${raw.toPrecision(3)} ns`);
  assert.equal(row[5], `${(raw / rondo).toPrecision(3)}×`);
  assert.equal(rows.length, new Set(input.benchmarks.map((run) => run.name)).size);
  await page.locator(`#${ids.ratios} select`).first().selectOption("raw");
  assert.match(await page.locator(`#${ids.ratios} thead`).innerText(), /÷ raw/);
  await close();
});

test("dragging zooms in; the button, a double click, and Ctrl with the wheel do what they say", async () => {
  const { page, trouble, close } = await open(file);
  for (const id of Object.values(ids)) {
    const whole = await picture(page, id);
    await drag(page, id, [0.3, 0.15], [0.6, 0.3]);
    assert.ok(await isZoomed(page, id), `${id} did not zoom in`);
    assert.notEqual(await picture(page, id), whole);
    await page.locator(`#${id} .reset`).click();
    assert.ok(!(await isZoomed(page, id)), `the button of ${id} did not reset`);
    await drag(page, id, [0.3, 0.15], [0.6, 0.3]);
    await chartOf(page, id).dblclick({ position: { x: 500, y: 120 } });
    assert.ok(!(await isZoomed(page, id)), `a double click in ${id} did not reset`);
    await page.keyboard.down("Control");
    await page.mouse.wheel(0, -300);
    await page.keyboard.up("Control");
    await page.waitForFunction((id) => document.getElementById(id).hasAttribute("data-zoomed"), id);
  }
  assert.deepEqual(trouble, []);
  await close();
});

test("a page that is open follows the system from light to dark", async () => {
  const { page, trouble, close } = await open(file);
  await findColour(page, ids.ratios, colours.light.first);
  await page.emulateMedia({ colorScheme: "dark" });
  await findColour(page, ids.ratios, colours.dark.first);
  assert.deepEqual(trouble, []);
  await close();
});

test("names from files are text, whatever they hold, and no script can send anything away", async () => {
  const name = `</script><img src=x onerror="document.title='owned'">`;
  const hostile = path.join(WORK, "hostile.json");
  writeFileSync(hostile, JSON.stringify({ traceEvents: [{ name, ph: "X", pid: 1, tid: 1, ts: 0, dur: 1000 }] }));
  const { page, trouble, close } = await open(makePage("hostile.html", [hostile], "--title", name));
  assert.equal(await page.title(), name);
  assert.equal(await page.locator("h1").innerText(), name);
  assert.equal(await page.locator("tbody tr").first().locator("td").first().innerText(), name);
  assert.match(
    await tooltipAt(page, "trace-0", await findColour(page, "trace-0", colours.light.fill)),
    /^<\/script><img/,
  );
  assert.equal(await page.locator("img").count(), 0);
  assert.deepEqual(trouble, []);
  const blocked = await page.evaluate(() =>
    fetch("https://example.org/").then(
      () => "sent",
      () => "blocked",
    ),
  );
  assert.equal(blocked, "blocked");
  assert.ok(
    trouble.some((line) => line.includes("Content Security Policy")),
    "the policy did not say no",
  );
  await close();
});

test("two files of one program have sections and links of their own", async () => {
  const of = (name) => fixtures.find((file) => file.endsWith(name));
  const again = path.join(WORK, "again.json");
  writeFileSync(again, readFileSync(of("round_overhead.json"), "utf8"));
  const { page, trouble, close } = await open(
    makePage("twice.html", [of("round_overhead.json"), of("launch_cache.json"), again]),
  );
  const all = await page.$$eval("[id]", (found) => found.map(({ id }) => id));
  assert.equal(new Set(all).size, all.length);
  assert.deepEqual(await page.$$eval("section:not(#overview) h2", (found) => found.map((h2) => h2.textContent)), [
    "round_overhead (round_overhead.json)",
    "launch_cache",
    "round_overhead (again.json)",
  ]);
  const links = await page.$$eval("a[href^='#']", (found) => found.map((a) => a.getAttribute("href").slice(1)));
  for (const link of links) assert.ok(all.includes(link), link);
  for (const at of [0, 2]) assert.ok(links.includes(`round_overhead-${at}-round-ratios`));
  assert.deepEqual(trouble, []);
  await close();
});

test("a trace of many processes draws some counters, and says how many", async () => {
  const many = path.join(WORK, "many.json");
  const traceEvents = Array.from({ length: 20 }, (_, pid) => [
    { ph: "X", name: "work", pid, tid: 1, ts: 0, dur: 10 },
    { ph: "C", name: "bytes", pid, ts: 1, args: { bytes: pid } },
  ]).flat();
  writeFileSync(many, JSON.stringify({ traceEvents }));
  const { page, trouble, close } = await open(makePage("many.html", [many]));
  assert.match(await page.locator("#trace-0").innerText(), /Of 20 counters, the first 12 are drawn\./);
  assert.deepEqual(trouble, []);
  await close();
});

test("a trace of thousands of spans opens", async () => {
  const long = path.join(WORK, "long.json");
  writeFileSync(
    long,
    JSON.stringify(
      Array.from({ length: 8000 }, (_, i) => ({ name: `round ${i}`, ph: "X", pid: 1, tid: 1, ts: 2 * i, dur: 1 })),
    ),
  );
  const { page, trouble, close } = await open(makePage("long.html", [long]));
  for (let times = 0; times < 2; ++times) await drag(page, "trace-0", [0.3, 0.15], [0.33, 0.3]);
  // Gaps are as long as spans; some of these places are within one.
  const box = await chartOf(page, "trace-0").boundingBox();
  const step = box.width / 40;
  let shown = "";
  for (let patience = 300; shown === ""; patience *= 2) {
    for (let x = box.x + 10 * step; shown === "" && x < box.x + 30 * step; x += step) {
      shown = await tooltipAt(page, "trace-0", [x, box.y + 22], patience).catch(() => "");
    }
  }
  assert.match(shown, /^round \d+\ntook\s+1\.00 µs/);
  assert.deepEqual(trouble, []);
  await close();
});

if (SCREENSHOTS)
  test("pictures for the documentation", async () => {
    const shown = FILES ? makePage("pictures.html", FILES.split(" ")) : file;
    for (const [scheme, name, id] of [
      ["light", "ratios", ids.ratios],
      ["dark", "scaling", ids.scaling],
      ["light", "swimlane", ids.trace],
      ["dark", "memory", ids.memory],
    ]) {
      const { page, trouble, close } = await open(shown, scheme);
      if (FILES && (await page.locator(`#${id}`).count()) === 0) {
        console.log(`no picture of ${name}: none of the files has ${id}`);
        await close();
        continue;
      }
      await page.addStyleTag({ content: "nav { display: none !important; }" });
      if (name === "swimlane") await drag(page, id, [0.14, 0.2], [0.5, 0.4]);
      const { first, second, fill } = colours[scheme];
      // In figures that were measured the second may lie on the first.
      const shows = name === "swimlane" || name === "memory" ? [fill] : [first, second];
      await tooltipAt(page, id, await findColour(page, id, ...shows));
      await page.locator(`#${id}`).screenshot({ path: path.join(SCREENSHOTS, `report_${name}.png`) });
      if (name === "ratios") {
        await page.evaluate(() => window.scrollTo(0, 0));
        await page.setViewportSize({ width: 1160, height: 760 });
        await page.screenshot({ path: path.join(SCREENSHOTS, "report_overview.png") });
      }
      assert.deepEqual(trouble, []);
      await close();
    }
  });
