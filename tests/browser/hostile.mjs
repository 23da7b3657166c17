// Meets projects, searches and answers with names that are meant to be executed. Reports where one is more than text.

import { asked, open, report } from "./browser.mjs";

const { page, faults, follow } = await open({ base: asked.base });
const told = {};

// Whether a place shows exactly this text, and nothing of it was executed or has become an element.
async function shows(what, name, place) {
  const texts = await page.locator(place).allTextContents();
  if (!texts.some((text) => text.trim() === name || text.includes(`“${name}”`))) faults.push(`${place} shows ${texts}`);
  const { alerts, violations } = await page.evaluate(() => window.seen);
  const strange = await page.evaluate(() => [...document.querySelectorAll("[onerror], [onload], main b, img[src=x]")].map((one) => one.outerHTML));
  faults.push(...alerts.map((alert) => `alert(${alert}) was executed`), ...violations, ...strange);
  told[what] = faults.splice(0);
}

for (const [at, name] of asked.names.entries()) {
  const text = encodeURIComponent(name);
  await page.goto(`/projects/hostile-${at + 1}`);
  await shows(`its page: ${name}`, name, "h1");
  await page.goto(`/cite/hostile-${at + 1}/1`);
  const machines = JSON.parse(await page.locator("script[type='application/ld+json']").textContent());
  if (!JSON.stringify(machines).includes(JSON.stringify(name).slice(1, -1))) faults.push(`machines read ${JSON.stringify(machines)}`);
  await shows(`its citation: ${name}`, name, "h1");
  await page.goto("/art");
  await shows(`its card: ${name}`, name, ".card h3");
  await page.goto(`/?q=${text}`);
  await shows(`a search for it: ${name}`, name, "h1");
  if (await page.inputValue("#q") !== name) faults.push("the form does not show what was searched for");
  await page.goto(`/?material=${text}`);
  await shows(`its taste: ${name}`, `${name}, chosen, remove`, ".chips a[aria-current]");
  await page.goto("/keys");
  await page.fill("#email", name);
  await follow(() => page.locator("form[action$='/keys']").evaluate((form) => { form.noValidate = true; form.requestSubmit(); }));
  if (await page.inputValue("#email") !== name) faults.push("the form does not show what was filled in");
  await shows(`as an address: ${name}`, "Get a key", "h1");
}
await report(told);
