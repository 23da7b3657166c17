// What Lighthouse says of pages, on a telephone and at a desk: the scores below 100, and what cost them.

import lighthouse, { desktopConfig } from "lighthouse";
import puppeteer from "puppeteer-core";
import { asked, executablePath, QUIET } from "./chromium.mjs";

const KINDS = { telephone: undefined, desk: desktopConfig };

let visits = asked.visits ?? 0;

// Fills in the form of a page, and returns what sends it: Lighthouse then measures the page that comes. A link works once and an address
// has a few keys only, so that each visit has its own path, and its own number in place of VISIT.
async function filled(page, { path, form, fill, tick = [] }) {
  await page.goto(asked.base + (Array.isArray(path) ? path.shift() : path));
  visits += 1;
  for (const [field, text] of Object.entries(fill)) {
    await page.$eval(field, (one, value) => { one.value = value; }, text.replace("VISIT", visits));
  }
  for (const box of tick) await page.$eval(box, (one) => { one.checked = true; });
  return () => page.$eval(form, (one) => one.requestSubmit());
}

// Returns the address that a link of a page leads to.
async function linked(page, { path, click }) {
  await page.goto(asked.base + path);
  return page.$eval(click, (link) => link.href);
}

// Returns what Lighthouse is to measure: an address, or what leads to it.
function goal(page, wanted) {
  if (wanted.form) return filled(page, wanted);
  return wanted.click ? linked(page, wanted) : `${asked.base}${wanted.path}`;
}

// Returns a sentence for each score below 100.
async function scored(browser, wanted, config, categories) {
  const page = await browser.newPage();
  const asks = await goal(page, wanted);
  const { lhr } = await lighthouse(asks, { onlyCategories: categories, logLevel: "error" }, config, page);
  await page.close();
  if (lhr.runtimeError) return [lhr.runtimeError.message];
  return Object.values(lhr.categories).filter(({ score }) => score < 1).map(({ title, score, auditRefs }) => {
    const costly = auditRefs.filter(({ id, weight }) => weight > 0 && lhr.audits[id].score !== null && lhr.audits[id].score < 1);
    const named = costly.map(({ id }) => `${id} (${lhr.audits[id].displayValue ?? lhr.audits[id].title})`);
    return `${title} ${Math.round(score * 100)}: ${named.join(", ")}`;
  });
}

const browser = await puppeteer.launch({ executablePath, args: QUIET, pipe: true });
const faults = {};
const slow = [];
for (const wanted of asked.pages) {
  const categories = ["performance", "accessibility", "best-practices", ...(wanted.indexed ? ["seo"] : [])];
  for (const [kind, config] of Object.entries(KINDS)) {
    const [seen, found] = [`${wanted.name}, ${kind}`, await scored(browser, wanted, config, categories)];
    faults[seen] = found;
    if (found.some((fault) => fault.startsWith("Performance"))) slow.push({ seen, wanted, config });
  }
}
// What else the machine does takes time from a page, and nothing gives it any: the best of three measurements is that of the page.
for (const { seen, wanted, config } of slow) {
  for (let again = 0; again < 2 && faults[seen].some((fault) => fault.startsWith("Performance")); again += 1) {
    const found = await scored(browser, wanted, config, ["performance"]);
    faults[seen] = [...faults[seen].filter((fault) => !fault.startsWith("Performance")), ...found];
  }
}
console.log(JSON.stringify(faults));
await browser.close();
