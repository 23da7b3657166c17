// What is in the first screen before anybody scrolls: of the pictures of results, and of what a form was sent for. And how many bytes a
// telephone loads for the pictures, and which of them are not the narrow ones.

import { arrive, asked, browser, open, report } from "./browser.mjs";

const SCREENS = [[390, 844], [768, 1024], [1280, 900], [1920, 1080]];
// As on a common telephone: three pixels of the screen for each one of the page.
const TELEPHONE = { deviceScaleFactor: 3, isMobile: true, hasTouch: true };
const TELEPHONE_WIDTHS = [360, 390, 430];

// How much of the height of something is seen, in percent.
async function seen(wanted, selector, width, height) {
  const opened = await open({ base: asked.base, width, height });
  const { page, context } = opened;
  await arrive(opened, wanted, wanted.path, String(width));
  const share = await page.locator(selector).first().evaluate((one) => {
    const { top, bottom } = one.getBoundingClientRect();
    return Math.max(0, Math.min(1, (innerHeight - top) / (bottom - top)));
  });
  await context.close();
  return Math.round(share * 100);
}

// Everything over the wire until nothing more comes, on a telephone of a width.
async function loaded(path, width) {
  const context = await browser.newContext({ baseURL: asked.base, viewport: { width, height: 844 }, ...TELEPHONE });
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  let [bytes, pictures] = [0, 0];
  const wide = [];
  session.on("Network.responseReceived", ({ type, response }) => {
    if (type !== "Image") return;
    pictures += 1;
    if (response.url.includes("/media/") && !response.url.endsWith("/320.webp")) wide.push(`${response.url} at ${width}`);
  });
  session.on("Network.loadingFinished", ({ encodedDataLength }) => { bytes += encodedDataLength; });
  await session.send("Network.enable");
  await page.goto(path, { waitUntil: "networkidle" });
  await context.close();
  return { bytes, pictures, wide };
}

const found = {};
for (const path of asked.paths) {
  const telephones = [];
  for (const width of TELEPHONE_WIDTHS) telephones.push(await loaded(path, width));
  found[path] = { telephones };
  for (const [width, height] of SCREENS) found[path][width] = await seen({ path }, ".card .frame", width, height);
}
for (const wanted of asked.sent) {
  found[wanted.first] = {};
  for (const [width, height] of SCREENS) found[wanted.first][width] = await seen(wanted, wanted.first, width, height);
}
await report(found);
