// Looks at every page that is asked for: at a desk by day and, at the same time, on a telephone by night. Reports the faults of each.

import { arrive, asked, forget, invalid, judged, neverCached, open, report, withAxe } from "./browser.mjs";

// Each width once: how wide a page is does not depend on its colours. The last is the visitor's own again.
const VISITORS = [
  { scheme: "light", width: 1440, widths: [768, 1440] },
  { scheme: "dark", width: 390, widths: [360, 390], spaced: 320 },
];

// What a reader may set of a text (WCAG 1.4.12).
const SPACED = "* { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important } p { margin-bottom: 2em !important }";

// What is one line on a page, however wide that is.
const ONE_LINE = { navigation: ".top nav", breadcrumb: ".breadcrumb ol" };

async function visit(opened, wanted, path, { scheme, widths, spaced }) {
  const { page, context, faults, settled } = opened;
  faults.length = 0;
  const answer = await arrive(opened, wanted, path, scheme);
  const status = wanted.status ?? 200;
  if (answer.status() !== status) faults.push(`it is answered with ${answer.status()} and not ${status}`);
  faults.push(...await invalidOnce(await answer.text()));
  await readThrough(page);

  const { seen, title, lang, h1, pictures } = await page.evaluate(() => ({
    seen: window.seen,
    title: document.title,
    lang: document.documentElement.lang,
    h1: [...document.querySelectorAll("h1")].map((one) => one.textContent.trim()),
    pictures: [...document.images].filter((one) => !one.complete || one.naturalWidth === 0).map((one) => one.src),
  }));
  if (seen.alerts.length) faults.push(`script was executed: ${seen.alerts}`);
  faults.push(...seen.violations.map((one) => `against the policy: ${one}`));
  faults.push(...pictures.map((one) => `a picture is not shown: ${one}`));
  if (seen.shift > 0) faults.push(`the layout shifts by ${seen.shift.toFixed(3)}: ${seen.shifted.slice(0, 4)}`);
  if (!title.includes("Loggia")) faults.push(`its title is ${title}`);
  if (lang !== "en") faults.push(`its language is ${lang}`);
  if (h1.length !== 1 || !h1[0]) faults.push(`its headings are ${JSON.stringify(h1)}`);
  faults.push(...await judged(page));
  await settled();
  for (const width of widths) {
    await page.setViewportSize({ width, height: 900 });
    const wide = await tooWide(page);
    if (wide > 0) faults.push(`it is ${wide} px too wide at ${width}`);
    faults.push(...(await broken(page)).map((fault) => `${fault} at ${width}`));
    await settled();
  }
  if (spaced) {
    await page.setViewportSize({ width: spaced, height: 900 });
    const wide = await tooWideSpaced(page);
    if (wide > 0) faults.push(`it is ${wide} px too wide at ${spaced} with spaced text`);
    await settled();
  }
  await forget(page, context);
  return faults.map((fault) => `${scheme}: ${fault}`);
}

function tooWide(page) {
  return page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
}

// The style is adopted by the document, which the policy of the pages allows, unlike one in an element.
async function tooWideSpaced(page) {
  await page.evaluate((style) => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(style);
    document.adoptedStyleSheets.push(sheet);
  }, SPACED);
  return tooWide(page);
}

// What has more than one line, and keys of a mailed link that are reached only sideways. What overlaps from top to bottom is in one line,
// also where its letters are of another size.
function broken(page) {
  return page.evaluate((wanted) => {
    const faults = [];
    for (const [name, selector] of Object.entries(wanted)) {
      const children = [...document.querySelectorAll(`${selector} > *`)].filter((one) => one.checkVisibility());
      const boxes = children.map((one) => one.getBoundingClientRect()).sort((one, other) => one.top - other.top);
      let [lines, end] = [0, -Infinity];
      for (const { top, bottom } of boxes) {
        if (top >= end) lines += 1;
        end = top >= end ? bottom : Math.min(end, bottom);
      }
      if (lines > 1) faults.push(`its ${name} has ${lines} lines`);
    }
    const keys = document.querySelector(".keys")?.parentElement;
    if (keys && keys.scrollWidth > keys.clientWidth) faults.push(`its keys are ${keys.scrollWidth - keys.clientWidth} px too wide`);
    return faults;
  }, ONE_LINE);
}

// Both visitors get the same text, most of the time.
const judgedTexts = new Map();
function invalidOnce(text) {
  if (!judgedTexts.has(text)) judgedTexts.set(text, invalid(text));
  return judgedTexts.get(text);
}

// Down to the end, so that every picture is asked for and everything that may move has moved.
async function readThrough(page) {
  await page.evaluate(async () => {
    for (let at = 0; at < document.documentElement.scrollHeight; at += 600) {
      window.scrollTo(0, at);
      await new Promise((done) => setTimeout(done, 15));
    }
    window.scrollTo(0, 0);
    await Promise.all([...document.images].map((picture) => picture.decode().catch(() => undefined)));
    await document.fonts.ready;
    // Wait for a frame, so that layout shifts up to now are reported.
    for (let frame = 0; frame < 3; frame += 1) await new Promise((done) => requestAnimationFrame(done));
  });
}

// Goes through all pages in one window: neither axe nor the process that shows the pages is started anew for each.
async function walk(visitor, at) {
  const opened = await open({ base: asked.base, ...visitor });
  await withAxe(opened.context);
  await neverCached(opened.page, opened.context);
  const found = {};
  for (const wanted of asked.pages) found[wanted.name] = await visit(opened, wanted, [wanted.path].flat().at(at), visitor);
  return found;
}

const [first, second] = await Promise.all([walk(VISITORS[0], 0), walk(VISITORS[1], -1)]);
await report(Object.fromEntries(Object.keys(first).map((name) => [name, [...first[name], ...second[name]]])));
