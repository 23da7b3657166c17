// Collects a board from the pages of projects. Reports what does not work.

import { asked, open, report } from "./browser.mjs";

const { page, faults, follow } = await open({ base: asked.base });
const expect = (is, told) => { if (!is) faults.push(told); };
const slugs = () => new URL(page.url()).searchParams.get("slugs");
const add = async (slug) => {
  await page.goto(`/projects/${slug}`);
  await follow(() => page.click("[data-add]"));
};
const [one, two] = asked.slugs;

await page.goto("/");
expect(!await page.locator("[data-board-link]").isVisible(), "an empty board is in the navigation");
await add(one);
await add(two);
expect(slugs() === `${one},${two}`, `the board has ${slugs()}`);
expect(await page.locator(".card").count() === 2, "the board does not show both");
await page.goto("/");
expect(await page.locator("[data-board-link]").textContent() === "Board (2)", "the navigation does not have the board");

// A board that is opened from elsewhere leaves one's own as it is.
await page.goto("about:blank");
await page.goto(`/board?slugs=${two}`);
await page.goto(`/projects/${one}`);
expect(await page.locator("[data-board-link]").textContent() === "Board (2)", "another board replaced one's own");
expect(await page.locator("[data-add]").textContent() === "On the board", "a project of the board is offered again");

await follow(() => page.click("[data-board-link]"));
await follow(() => page.click(".remove a >> nth=0"));
expect(slugs() === two, `after a removal the board has ${slugs()}`);
await page.fill("#add", `${asked.base}/projects/${one}?from=q%3Dhouse`);
await follow(() => page.click("main form button"));
expect(slugs() === `${two},${one}`, `after an addition the board has ${slugs()}`);
await follow(() => page.click(".remove a >> nth=0"));
await follow(() => page.click(".remove a >> nth=0"));
expect(await page.locator(".card").count() === 0 && slugs() === null, "the board is not empty");
await page.goto("/");
expect(!await page.locator("[data-board-link]").isVisible(), "the emptied board is in the navigation");
await report({ board: faults });
