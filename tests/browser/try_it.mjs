// Sends calls with the forms of the API reference. Reports what does not work.

import { asked, open, report } from "./browser.mjs";

const { page, faults } = await open({ base: asked.base });
const expect = (is, told) => { if (!is) faults.push(told); };
const form = (operation) => page.locator(`#${operation} .try`);

// Sends the form of an operation with these fields; gives the status and the answer that the page shows.
async function send(operation, fields) {
  const parts = form(operation);
  await parts.evaluate((details) => { details.open = true; });
  for (const [name, value] of Object.entries(fields)) await parts.locator(`[name=${name}]`).fill(value);
  await parts.getByRole("button", { name: "Send" }).click();
  await parts.locator("pre:not([hidden])").waitFor();
  return { status: await parts.locator("[role=status]").textContent(), text: await parts.locator("pre").textContent() };
}

await page.goto("/docs/search");
const found = await send("search", { key: asked.key, q: "house", limit: "1", year_from: "1000" });
expect(/^200, \d+ ms, \d+ calls left this month$/.test(found.status), `the status of a search is ${found.status}`);
expect(JSON.parse(found.text).query === "house", `the search is answered with ${found.text}`);
expect(await form("suggest").locator("[name=key]").inputValue() === asked.key, "the key is to be entered again");
await page.goto("/docs/projects");
const project = await send("project", { key: asked.key, slug: asked.slug });
expect(JSON.parse(project.text).slug === asked.slug, `the project is answered with ${project.text}`);
await page.goto("/docs/citations");
const cited = await send("cite", { slug: asked.slug });
expect(cited.text.startsWith("@misc{"), `the citation is answered with ${cited.text}`);
await report({ "try it": faults });
