// Looks at every page that is asked for: at a desk by day and, at the same time, on a telephone by night. Reports the faults of each.

import { arrive, asked, forget, invalid, judged, neverCached, open, report, withAxe } from "./browser.mjs";

// Each width once: how wide a page is does not depend on its colours. The last is the visitor's own again.
const VISITORS = [
  { scheme: "light", width: 1440, widths: [768, 1440] },
  { scheme: "dark", width: 390, widths: [360, 390] },
];

async function visit(opened, wanted, path, { scheme, widths }) {
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
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    if (wide > 0) faults.push(`it is ${wide} px too wide at ${width}`);
    await settled();
  }
  await forget(page, context);
  return faults.map((fault) => `${scheme}: ${fault}`);
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
