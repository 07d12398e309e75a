// Opens a page in Chromium as its readers would and prints, as JSON, what it did and what it shows:
//
//   node look.mjs PAGE [FOLDER]    with a folder, what is seen goes there as light.png, dark.png, phone.png, print.png
//
// Chromium is the one in PATH, or $CHROMIUM. Nothing is judged here; page.rs does that.
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [file, pictures] = process.argv.slice(2);
const executablePath = process.env.CHROMIUM ?? inPath("chromium");
const url = pathToFileURL(file).href;
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

// A4 less its margins, in CSS pixels.
const PAPER = { width: 718, height: 1047 };
const VIEWS = {
  light: { viewport: { width: 1280, height: 900 }, colorScheme: "light" },
  dark: { viewport: { width: 1280, height: 900 }, colorScheme: "dark" },
  phone: { viewport: { width: 390, height: 844 }, colorScheme: "light", isMobile: true, hasTouch: true },
  print: { viewport: PAPER, colorScheme: "light" },
};

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
const answer = { views: {} };
try {
  for (const [name, options] of Object.entries(VIEWS)) answer.views[name] = await look(name, options);
} finally {
  await browser.close();
}
console.log(JSON.stringify(answer));

function inPath(program) {
  const places = process.env.PATH.split(delimiter).map((folder) => join(folder, program));
  const found = places.find((place) => existsSync(place));
  if (!found) throw new Error(`${program} is not in PATH; ./test installs it`);
  return found;
}

async function look(name, options) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const seen = { requests: [], complaints: [] };
  page.on("request", (request) => seen.requests.push(request.url()));
  page.on("console", (message) => seen.complaints.push(message.text()));
  page.on("pageerror", (error) => seen.complaints.push(String(error)));
  if (name === "print") await page.emulateMedia({ media: "print" });
  await page.goto(url);
  seen.requests = seen.requests.filter((request) => request !== url && !request.startsWith("data:"));
  seen.opened_ms = await page.evaluate(() => performance.getEntriesByType("navigation")[0].loadEventEnd);
  Object.assign(seen, await page.evaluate(overflow));
  if (name === "light") answer.shown = await page.evaluate(shown);
  if (name === "print") seen.sheets = sheets(await page.pdf({ format: "A4", margin: margins() }));
  if (pictures) await page.screenshot({ path: `${pictures}/${name}.png`, fullPage: true });
  await context.close();
  if (name !== "print") seen.accessibility = await accessibility(options);
  return seen;
}

// The page forbids scripts, which is what the first look is at; the checker of accessibility is one.
async function accessibility(options) {
  const context = await browser.newContext({ ...options, bypassCSP: true });
  const page = await context.newPage();
  await page.goto(url);
  await page.evaluate(unfold);
  await page.evaluate(axe);
  const found = await page.evaluate(() => window.axe.run());
  await context.close();
  const broken = found.violations.map(({ id, impact, nodes }) => ({ id, impact, first: nodes[0].html.slice(0, 300) }));
  return { passed: found.passes.length, broken };
}

// In the page: what is folded is looked at too, unless it is so much of the same that it would take minutes.
function unfold() {
  if (document.querySelectorAll("td").length < 3000) {
    document.querySelectorAll("details").forEach((details) => (details.open = true));
  }
}

function margins() {
  const [x, y] = [(794 - PAPER.width) / 2, (1123 - PAPER.height) / 2];
  return { top: `${y}px`, bottom: `${y}px`, left: `${x}px`, right: `${x}px` };
}

function sheets(pdf) {
  return pdf.toString("latin1").match(/\/Type\s*\/Page[^s]/g).length;
}

// In the page: what is wider than it.
function overflow() {
  const width = document.documentElement.clientWidth;
  const wide = [...document.querySelectorAll("table, svg, h1, p, dl, pre")];
  const scrolls = (element) => getComputedStyle(element.closest(".scroll, pre") ?? document.body).overflowX === "auto";
  const cut = wide.filter((element) => !scrolls(element) && element.getBoundingClientRect().right > width + 1);
  return {
    over: document.documentElement.scrollWidth - width,
    cut: cut.map((element) => element.outerHTML.slice(0, 120)),
  };
}

// In the page: its texts and the geometry of its drawings.
function shown() {
  const all = (within, selector) => [...within.querySelectorAll(selector)];
  const number = (element, name) => Number(element.getAttribute(name));
  const figures = all(document, "figure").map((figure) => {
    const svg = figure.querySelector("svg");
    return {
      kind: svg.getAttribute("class"),
      caption: figure.querySelector("figcaption").textContent,
      label: svg.getAttribute("aria-label"),
      has_table: figure.closest("section").querySelector("table") !== null,
      texts: all(svg, "text").map((text) => text.textContent.trim()),
      tracks: all(svg, "g[data-track]").map((track) => ({
        name: track.dataset.track,
        arcs: all(track, "path").map((path) => ({ name: path.dataset.name, d: path.getAttribute("d"), fill: getComputedStyle(path).fill })),
      })),
      ribbons: all(svg, "path.ribbon").map((path) => ({ from: path.dataset.from, to: path.dataset.to, d: path.getAttribute("d") })),
      cells: all(svg, "rect.cell").map((rect) => ({ from: rect.dataset.from, to: rect.dataset.to, opacity: number(rect, "fill-opacity") })),
      bars: all(svg, "rect:not([class])").map((rect) => ({ fill: rect.getAttribute("fill"), width: number(rect, "width") })),
      lines: all(svg, "polyline").map((line) => ({ stroke: line.getAttribute("stroke"), points: line.getAttribute("points") })),
      // Drawn with an area, or nothing is seen.
      drawn: all(svg, "path, rect, polyline").filter((shape) => shape.getBBox().width + shape.getBBox().height > 0).length,
    };
  });
  const tables = all(document, "table").map((table) => ({
    section: table.closest("section").id,
    rows: all(table, "tr").map((row) => all(row, "th, td").map((cell) => cell.textContent)),
  }));
  const active = all(document, "script, iframe, object, embed, form").length;
  return { title: document.title, text: document.body.textContent, figures, tables, active };
}
