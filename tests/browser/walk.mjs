// Walks from a search to a project, its citation, a key, calls with it, what they have used, and a payment for more.

import { createHmac } from "node:crypto";
import assert from "node:assert/strict";
import { asked, open, report } from "./browser.mjs";

const { page, faults, follow } = await open({ base: asked.base, permissions: ["clipboard-read", "clipboard-write"] });

await page.goto(`/projects/${asked.slug}`);
const name = await page.locator("h1").textContent();
await follow(() => page.click("header >> text=Search"));
await page.fill("#q", name);
await follow(() => page.press("#q", "Enter"));
const search = await page.locator("#call").textContent();
await follow(() => page.click(".card a >> nth=0"));
const found = new URL(page.url()).pathname.split("/").pop();
const project = await page.locator("#call").textContent();

await follow(() => page.click("text='Cite this'"));
const citation = await page.locator("#citation").textContent();
assert.ok(citation.includes(name), citation);
const cited = citation.match(/http:\S+?\/cite\/\S+?\/\d+/)?.[0];

await follow(() => page.click("header >> text=Get a key"));
await page.fill("#email", asked.email);
await follow(() => page.click("form[action$='/keys'] button"));
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
await follow(() => page.click("header >> text=Search"));
const tool = await page.locator("#call").textContent();
const third = await call(tool.replace("-d", "-H 'Authorization: Bearer $KEY' -d"));
assert.ok(third.answer.result.structuredContent.results.length > 5, "with a key there is more than a preview");

await follow(() => page.click("header >> text=Connect"));
assert.ok((await page.locator("#claude-code-keyed").textContent()).endsWith('--header "Authorization: Bearer YOUR_KEY"'));
await page.click("[data-check]");
await page.waitForSelector("#checked:has-text('It works: 10 tools.')");

const free = await counted("3", "Free");

// The holder of the address vouches for the key behind a link, and pays.
await page.goto(asked.claim);
await page.check(`input[name=keep][value="${key.slice("log_live_".length, "log_live_".length + 8)}"]`);
await follow(() => page.click("main form button"));
assert.equal(await page.locator("h1").textContent(), "Done");
await follow(() => page.click("header >> text=Pricing"));
const checkout = await page.locator("text=Take Studio").getAttribute("href");
const now = Math.floor(Date.now() / 1000);
await paid("checkout.session.completed", {
  id: "cs_1", mode: "subscription", payment_status: "paid", customer: "cus_1", customer_details: { email: asked.email },
  subscription: "sub_1", invoice: "in_1",
});
await paid("invoice.paid", {
  id: "in_1", customer: "cus_1", customer_email: asked.email, parent: { subscription_details: { subscription: "sub_1" } },
  lines: { data: [{ amount: 2900, period: { end: now + 30 * 86400 }, pricing: { price_details: { price: "price_studio" } } }] },
});
// The tier is entered with its whole allowance.
await counted("0", "Studio");
assert.equal((await call(project)).status, 200);
const more = await counted("1", "Studio");
assert.deepEqual(faults, []);
await report({ found, cited, copied, called: { rest: Math.max(first.status, second.status), mcp: third.status }, free, checkout, paid: more });

// What the payment service tells of a payment, signed as it does.
async function paid(type, object) {
  const body = JSON.stringify({ id: `evt_${type}`, object: "event", type, created: now, livemode: true, data: { object } });
  const digest = createHmac("sha256", asked.stripe_secret).update(`${now}.${body}`).digest("hex");
  const headers = { "Stripe-Signature": `t=${now},v1=${digest}` };
  const answer = await fetch(`${asked.base}/webhooks/stripe`, { method: "POST", headers, body });
  assert.equal(answer.status, 200, await answer.text());
}

// Returns what the usage page shows once this number of calls is counted in a tier.
async function counted(used, tier) {
  for (let attempt = 0; ; attempt += 1) {
    await page.goto("/usage");
    await page.fill("#key", key);
    await follow(() => page.click("main button"));
    const shown = [await page.locator("#used").textContent(), await page.locator("#tier").textContent()];
    if (String(shown) === `${used},${tier}` || attempt === 480) break;
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
