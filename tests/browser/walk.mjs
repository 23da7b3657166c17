// Walks from a search to a project, its citation, a key, calls with it, and what they have used.

import assert from "node:assert/strict";
import { asked, open, report } from "./browser.mjs";

const { page, faults } = await open({ base: asked.base, permissions: ["clipboard-read", "clipboard-write"] });

await page.goto(`/projects/${asked.slug}`);
const name = await page.locator("h1").textContent();
await page.click("header >> text=Search");
await page.fill("#q", name);
await page.press("#q", "Enter");
await page.waitForURL("**/?q=*");
const search = await page.locator("#call").textContent();
await page.click(".card a >> nth=0");
await page.waitForURL("**/projects/*");
const found = new URL(page.url()).pathname.split("/").pop();
const project = await page.locator("#call").textContent();

// The citation: its page is another's to look at.
const citation = await page.locator("a[href*='/cite/']").getAttribute("href");
assert.match(citation, new RegExp(`/cite/${found}/1$`));

await page.click("header >> text=Get a key");
await page.fill("#email", "walker@example.org");
await page.click("main button >> nth=0");
const key = await page.locator("#key").textContent();
await page.click("[data-copy=key]");
await page.waitForSelector("[data-copy=key]:has-text('Copied')");
const copied = await page.evaluate(() => navigator.clipboard.readText()) === key;

// What the pages say to type, done: the key in the place of $KEY.
async function call(line) {
  const address = line.match(/http:\S+/)[0].replace(/'$/, "");
  const headers = Object.fromEntries([...line.matchAll(/-H (['"])(.+?): (.+?)\1/g)].map(([, , header, value]) => [header, value.replace("$KEY", key)]));
  const body = line.match(/-d '(.+)'/s)?.[1];
  const answer = await fetch(address, { method: body ? "POST" : "GET", headers, body });
  return { status: answer.status, answer: await answer.json() };
}
const [first, second] = [await call(search), await call(project)];
assert.equal(first.answer.results[0].slug, found);
assert.equal(second.answer.slug, found);
await page.click("header >> text=Search");
await page.waitForSelector("#call");
const tool = await page.locator("#call").textContent();
const third = await call(tool.replace("-d", "-H 'Authorization: Bearer $KEY' -d"));
assert.ok(third.answer.result.structuredContent.results.length > 5, "with a key there is more than a preview");

// The upgrade: a webhook of the payment service, after which the tier here is another.

const usage = await counted();
assert.deepEqual(faults, []);
await report({ found, copied, called: { rest: Math.max(first.status, second.status), mcp: third.status }, usage });

// What the usage page shows once all three calls are counted.
async function counted() {
  for (let patience = 0; ; patience += 1) {
    await page.goto("/usage");
    await page.fill("#key", key);
    await page.click("main button");
    await page.waitForSelector("#used");
    if (await page.locator("#used").textContent() === "3" || patience === 40) break;
    await page.waitForTimeout(250);
  }
  const text = (place) => page.locator(place).textContent();
  await page.click("summary");
  return {
    used: await text("#used"), remaining: await text("#remaining"), limit: await text("#limit"), tier: await text("#tier"),
    bars: await page.locator(".bars rect").evaluateAll((all) => all.map((bar) => bar.getAttribute("class"))),
    table: await page.locator("main table td").allTextContents(),
  };
}
