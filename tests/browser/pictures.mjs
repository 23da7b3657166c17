// Looks at the pictures of a project alone, with the keyboard and the mouse. Reports what does not work.

import { asked, judged, open, report } from "./browser.mjs";

const { page, faults } = await open({ base: asked.base });
const expect = (is, told) => { if (!is) faults.push(told); };
const dialog = page.locator("dialog.viewer");
// A browser gives up a picture that is not loaded yet when its reader goes on to the next one.
const shown = async () => {
  await page.waitForFunction(() => document.querySelector("dialog.viewer img").complete);
  return dialog.locator("img").getAttribute("src");
};

await page.goto(`/projects/${asked.slug}`);
const links = await page.locator("figure > a").evaluateAll((found) => found.map((link) => link.href));
expect(links.length > 1, `the project has ${links.length} pictures`);
await page.focus("figure > a >> nth=0");
await page.keyboard.press("Enter");
expect(await dialog.isVisible(), "Enter on a picture does not show it alone");
expect(await shown() === links[0], `it shows ${await shown()}`);
faults.push(...await judged(page));
await page.keyboard.press("ArrowRight");
expect(await shown() === links[1], `the arrow to the right shows ${await shown()}`);
await page.keyboard.press("ArrowLeft");
await page.keyboard.press("ArrowLeft");
expect(await shown() === links.at(-1), `the arrow to the left shows ${await shown()}`);
await dialog.getByRole("button", { name: "Next" }).click();
expect(await shown() === links[0], `Next after the last shows ${await shown()}`);
await dialog.locator("img").click();
expect(await dialog.getByRole("button", { name: "Zoom", pressed: true }).count() === 1, "a click does not zoom");
const width = await dialog.locator("img").evaluate((picture) => picture.width === picture.naturalWidth);
expect(width, "the zoomed picture is not at its full size");
await page.keyboard.press("Escape");
expect(!await dialog.isVisible(), "Escape does not close");
expect(await page.evaluate(() => document.activeElement?.matches("figure > a")), "the focus is not back on the picture");
await report({ pictures: faults });
