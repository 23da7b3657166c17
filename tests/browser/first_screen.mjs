// What is in the first screen before anybody scrolls: of the pictures of results, and of what a form was sent for. And how many bytes a
// telephone loads for the pictures.

import { arrive, asked, browser, open, report } from "./browser.mjs";

const SCREENS = [[390, 844], [768, 1024], [1280, 900], [1920, 1080]];
// As on a common telephone: three pixels of the screen for each one of the page.
const TELEPHONE = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 3, isMobile: true, hasTouch: true };

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

// Everything over the wire until nothing more comes.
async function loaded(path) {
  const context = await browser.newContext({ baseURL: asked.base, ...TELEPHONE });
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  let [bytes, pictures] = [0, 0];
  session.on("Network.responseReceived", ({ type }) => { if (type === "Image") pictures += 1; });
  session.on("Network.loadingFinished", ({ encodedDataLength }) => { bytes += encodedDataLength; });
  await session.send("Network.enable");
  await page.goto(path, { waitUntil: "networkidle" });
  await context.close();
  return { bytes, pictures };
}

const found = {};
for (const path of asked.paths) {
  found[path] = { telephone: await loaded(path) };
  for (const [width, height] of SCREENS) found[path][width] = await seen({ path }, ".card .frame", width, height);
}
for (const wanted of asked.sent) {
  found[wanted.first] = {};
  for (const [width, height] of SCREENS) found[wanted.first][width] = await seen(wanted, wanted.first, width, height);
}
await report(found);
