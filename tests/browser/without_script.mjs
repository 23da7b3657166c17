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
await follow(() => page.click("text=Previous 12"));
expect(String(await names()) === String(first), "the first page is another when it is come back to");

await page.click("text=Filter by material");
await follow(() => page.click(".chips a >> nth=0"));
expect(await page.locator(".chips a[aria-current]").count() === 1, "a taste cannot be chosen");
const [tasted] = await names();
await page.fill("input[type=search]", tasted);
await follow(() => page.press("input[type=search]", "Enter"));
expect(await page.locator(".applied a").count() === 3, "a search does not keep the taste");
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

await page.goto(`/projects/${asked.slug}`);
const pictures = await page.locator("figure > a").evaluateAll((found) => found.map((link) => link.href));
expect(pictures.length > 1, `the project has ${pictures.length} pictures`);
const alone = await follow(() => page.click("figure > a >> nth=0"));
expect(alone.url() === pictures[0] && alone.headers()["content-type"].startsWith("image/"), `a picture leads to ${alone.url()}`);
await page.goto(`/projects/${asked.slug}`);
await follow(() => page.click("text='Add to board'"));
await page.fill("#add", asked.plain);
await follow(() => page.click("main form button"));
expect((await names()).length === 2, `the board shows ${await names()}`);
expect(await page.locator("#citations li").count() === 2, "the board does not cite both");
await follow(() => page.click(".remove a >> nth=0"));
expect((await names()).length === 1, `after a removal the board shows ${await names()}`);

await page.goto(`/projects/${asked.slug}`);
await follow(() => page.click("text='Cite this'"));
const bibtex = await page.locator("#bibtex").textContent();
expect(bibtex.startsWith("@") && !await page.locator("#bibtex").isVisible(), `the citation has as BibTeX ${bibtex}`);
await page.click("text='Show BibTeX'");
expect(await page.locator("#bibtex").isVisible(), "BibTeX cannot be unfolded");
const [download] = await Promise.all([page.waitForEvent("download"), page.click("text='Download BibTeX'")]);
expect(/\.bib$/.test(download.suggestedFilename()), `BibTeX is a file ${download.suggestedFilename()}`);

await page.goto("/docs");
await follow(() => page.click(`main a[href$="/docs/search"] >> nth=0`));
const code = page.locator(".call-block pre").first();
expect((await code.textContent()).includes("/v1/"), "the reference has no call");
await page.goto("/connect");
expect((await page.locator("#claude-code-open").textContent()).includes("/mcp"), "no client is set up");
expect(!await page.locator("[data-check]").isVisible(), "the check is shown, which needs a script");
expect((await page.locator("#check-call").textContent()).startsWith("curl"), "there is no call to check with");

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
