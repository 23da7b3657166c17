// Does what visitors come for, as docs/visitor-tasks.md has it, and counts the steps: a click, a key that sends a form, a field that is filled.

import assert from "node:assert/strict";
import { asked, open, report } from "./browser.mjs";

const CHECKOUT = "https://pay.example.org/";
const { page, context, faults, follow } = await open({ base: asked.base, permissions: ["clipboard-read", "clipboard-write"] });
await context.route(`${CHECKOUT}**`, (route) => route.fulfill({ contentType: "text/html", body: "<title>Payment</title>" }));

let steps = 0;
const step = (act) => { steps += 1; return act(); };
const click = (what) => step(() => page.click(what));
const clickTo = (what) => step(() => follow(() => page.click(what)));
const fill = (what, text) => step(() => page.fill(what, text));
// A button that copies says so; what it copied is then on the clipboard.
async function copy(button) {
  await click(button);
  await page.waitForSelector(`${button}:has-text('Copied')`);
  return page.evaluate(() => navigator.clipboard.readText());
}

const counts = {};
async function task(name, from, act) {
  steps = 0;
  if (from) await page.goto(from);
  await act();
  counts[name] = steps;
}
const slug = () => new URL(page.url()).pathname.match(/^\/projects\/(.+)$/)?.[1];

await task("find a timber house in Japan", "/", async () => {
  await fill("#q", "timber house in Japan");
  await step(() => follow(() => page.press("#q", "Enter")));
  await clickTo(".card a >> nth=0");
  assert.equal(slug(), asked.sought);
});
await task("find projects like one", `/projects/${asked.slug}`, async () => {
  await clickTo(".near .card a >> nth=0");
  assert.ok(slug() && slug() !== asked.slug, page.url());
});
await task("have the BibTeX of a project", `/projects/${asked.slug}`, async () => {
  await clickTo("text='Cite this'");
  const copied = await copy("[data-copy=bibtex]");
  assert.match(copied, /^@\w+\{/);
  assert.ok(copied.includes(`/cite/${asked.slug}/`), copied);
});
let key = "";
await task("get a key", "/", async () => {
  await clickTo("header >> text='Get a key'");
  await fill("#email", asked.email);
  await clickTo("form[action$='/keys'] button");
  key = await page.locator("#key").textContent();
  assert.match(key, /^log_live_\w{46}$/);
});
await task("make a first call", undefined, async () => {
  const copied = await copy("[data-copy=key-curl]");
  const address = copied.match(/http:[^\s'"]+/)[0];
  const answer = await fetch(address, { headers: { Authorization: `Bearer ${key}` } });
  assert.equal(answer.status, 200, copied);
  assert.ok((await answer.json()).results.length > 0, copied);
});
await task("see what a key has used", undefined, async () => {
  const [opened] = await Promise.all([page.waitForEvent("popup"), click("text=See what it has used")]);
  assert.equal(await opened.locator("#used").textContent(), "1");
  await opened.close();
});
await task("set up a client of MCP", "/", async () => {
  await clickTo("header >> text='Connect'");
  assert.ok((await copy("[data-copy=claude-code-open]")).includes(`${asked.base}/mcp`));
});
await task("get a larger tier", "/", async () => {
  await clickTo("header >> text='Pricing'");
  await clickTo("text='Take Studio'");
  assert.ok(page.url().startsWith(CHECKOUT), page.url());
});
await task("have an address deleted", "/keys", async () => {
  await fill("#link-email", asked.leaving);
  await clickTo("text='Mail me a link'");
  assert.equal(await page.locator("h1").textContent(), "Check your email");
  // The link of the mail.
  await step(() => page.goto(asked.claim));
  await step(() => page.check("[name=erase]"));
  await clickTo("text='Delete my address and end all keys'");
  assert.match(await page.locator("main").textContent(), /deleted/);
});
assert.deepEqual(faults.filter((fault) => !fault.includes(CHECKOUT)), []);
await report(counts);
