// Uses the site in a browser that runs no script. Reports what does not work then.

import { asked, open, report } from "./browser.mjs";

const { page, faults, follow } = await open({ base: asked.base, script: false });
const names = () => page.locator(".card h3").allTextContents();
const expect = (isSo, told) => { if (!isSo) faults.push(told); };

await page.goto("/");
const first = await names();
expect(first.length === 12, `the front page shows ${first.length} projects`);
await follow(() => page.click("a[rel~=next]"));
const second = await names();
expect(second.length === 12 && !second.some((name) => first.includes(name)), `the second page shows ${second}`);
await follow(() => page.click("text=Previous page"));
expect(String(await names()) === String(first), "the first page is another when it is come back to");

await page.click("text=Filter by material");
await follow(() => page.click(".chips a >> nth=0"));
expect(await page.locator(".chips a[aria-current]").count() === 1, "a taste cannot be chosen");
const [tasted] = await names();
await page.fill("input[type=search]", tasted);
await follow(() => page.press("input[type=search]", "Enter"));
expect(await page.locator(".applied a").count() === 1, "a search does not keep the taste");
expect((await names())[0] === tasted, `a search for ${tasted} finds ${await names()}`);
await follow(() => page.click(".card a >> nth=0"));
expect(await page.locator("h1").textContent() === tasted, "a card does not lead to its project");

await page.goto("/");
const count = (await page.locator(".facets li a >> nth=0").textContent()).trim().split(/\s+/).pop();
await follow(() => page.click(".facets li a >> nth=0"));
const heading = await page.locator("#results").textContent();
expect(heading.startsWith(`${count} projects`), `a facet of ${count} projects leads to ${heading}`);
await follow(() => page.click(".orders >> text=Name"));
await page.fill("input[name=year_from]", "1900");
await follow(() => page.click(".facets form button >> nth=0"));
const { searchParams } = new URL(page.url());
const kept = ["category", "sort", "year_from"].map((name) => searchParams.get(name));
expect(kept[0] && kept[1] === "name" && kept[2] === "1900", `the filters are ${kept}`);
expect(await page.locator(".applied a").count() === 3, "the filters in use are not all shown");
await follow(() => page.click(".applied a >> nth=0"));
expect(!new URL(page.url()).searchParams.has("category"), "a filter cannot be removed");

await page.goto("/keys");
await page.fill("#email", "plain@example.org");
await follow(() => page.click("form[action$='/keys'] button"));
const key = await page.locator("#key").textContent();
expect(/^log_live_\w{46}$/.test(key), `the key form shows ${key}`);
expect(!await page.locator("[data-copy=key]").isVisible(), "a button is shown that does nothing");

await page.goto("/usage");
await page.fill("#key", key);
await follow(() => page.click("main button"));
expect(await page.locator("#used").textContent() === "0", "the usage is not shown");
await report({ site: faults });
