// Pictures of the site, for bin/screenshots: node screenshots.mjs URL FOLDER [all [CLAIM...]]

import { writeFile } from "node:fs/promises";
import { browser, open } from "./browser.mjs";

const [base, folder, all, ...claims] = process.argv.slice(2);
const WIDTHS = [1280, 820, 390];
const SCHEMES = ["light", "dark"];
// A project that the demo catalog has pictures and neighbours of, and a search that finds many.
const PROJECT = "/projects/library-at-the-ropewalk";
const SEARCH = "/?q=brick+library";
// What README and docs show: the path and the height of each picture.
const SHOWN = {
  search: [SEARCH, 1300], project: [PROJECT, 1440], reference: ["/docs/search", 1300], connect: ["/connect", 1300],
};
// Drawing the demo catalog takes this many seconds at most.
const TIMEOUT_SECONDS = 1200;

// How many pictured cards the search shows, and the project beside its own picture, once everything is there.
const CARDS = { search: 7, near: 1 };

// The service draws its pictures and finds what is near while it serves.
async function complete() {
  const cards = async (path) => {
    const answer = await fetch(base + path).catch(() => undefined);
    const [before, ...each] = (answer?.ok ? await answer.text() : "").split('class="card"');
    return { hero: before.includes('class="hero"'), pictured: each.filter((card) => card.includes("<img")).length };
  };
  for (let second = 0; second < TIMEOUT_SECONDS; second += 1) {
    const [search, project] = [await cards(SEARCH), await cards(PROJECT)];
    if (search.pictured >= CARDS.search && project.hero && project.pictured >= CARDS.near) return;
    await new Promise((done) => setTimeout(done, 1000));
  }
  throw new Error(`the pictures of ${base} were not drawn within ${TIMEOUT_SECONDS} seconds`);
}

// With every picture loaded.
async function settled(page) {
  await page.evaluate(async () => {
    // No scrollbar is shown here, and no room is needed for one.
    document.documentElement.style.scrollbarGutter = "auto";
    for (const picture of document.images) picture.loading = "eager";
    await Promise.all([...document.images].map((picture) => picture.decode().catch(() => undefined)));
    await document.fonts.ready;
  });
}

async function readme() {
  for (const [name, [path, height]] of Object.entries(SHOWN)) {
    const { page, context } = await open({ base });
    await page.goto(path);
    await settled(page);
    const session = await context.newCDPSession(page);
    const clip = { x: 0, y: 0, width: 1440, height, scale: 1 };
    const { data } = await session.send("Page.captureScreenshot", { format: "webp", quality: 82, clip, captureBeyondViewport: true });
    await writeFile(`${folder}/${name}.webp`, Buffer.from(data, "base64"));
    await context.close();
  }
}

// Every page; some are come to by a form.
const PAGES = {
  front: "/", search: SEARCH, refused: "/?category=garden", nothing: "/?q=zyxwvut", taste: "/?material=oak&mood=calm",
  architecture: "/architecture", interiors: "/interiors", design: "/design", photography: "/photography", art: "/art",
  project: PROJECT, citation: `${PROJECT.replace("projects", "cite")}/1`, unknown: "/projects/no-such-project",
  "project-from-results": `${PROJECT}?from=q%3Dbrick%2Blibrary`, "board-empty": "/board", "claim-gone": "/claim/nothing",
  filters: "/?category=architecture&material=oak&sort=name", board: `/board?slugs=${PROJECT.split("/").pop()}`, connect: "/connect",
  words: "/taste/material", keys: "/keys", pricing: "/pricing", docs: "/docs", status: "/status", problem: "/problems/quota-exceeded", usage: "/usage",
};

// Those whose addresses other pages have: the topics of the reference, and who made and who chose the project.
async function linked() {
  const found = {};
  for (const [from, selector] of [["/docs", "main a[href*='/docs/']"], [PROJECT, "a[href*='/studios/'], a[href*='/curators/']"]]) {
    const { page, context } = await open({ base });
    await page.goto(from);
    const paths = await page.locator(selector).evaluateAll((all) => all.map(({ pathname }) => pathname));
    for (const path of paths) found[path.slice(1).replaceAll("/", "-")] = path;
    await context.close();
  }
  return found;
}

async function shoot(page, name, width, scheme) {
  await settled(page);
  await page.screenshot({ path: `${folder}/${name}-${width}-${scheme}.jpg`, fullPage: true, type: "jpeg", quality: 80 });
}

// A page that is not come to twice, at every width and in both colours.
async function shootOnce(page, name) {
  for (const width of WIDTHS) {
    for (const scheme of SCHEMES) {
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme: scheme });
      await shoot(page, name, width, scheme);
    }
  }
}

// The pages of a key: made, and used. An address has at most three keys, and one is enough to look at.
async function ofKey() {
  const { page, context } = await open({ base });
  await page.goto("/keys");
  await page.fill("#email", `looks.${Date.now()}@example.org`);
  await page.click("form[action$='/keys'] button");
  const key = await page.locator("#key").textContent();
  await shootOnce(page, "issued");
  const answers = ["brick", "oak", "glass"].map((q) => fetch(`${base}/v1/search?q=${q}`, { headers: { Authorization: `Bearer ${key}` } }));
  await Promise.all(answers);
  await page.goto("/usage");
  await page.fill("#key", key);
  await page.click("main button");
  await page.waitForSelector("#used");
  await shootOnce(page, "used");
  await context.close();
}

// The pages of a mailed link: what it shows, and what follows from either of its forms. A link works once.
async function ofClaims() {
  for (const [at, box] of ["keep", "erase"].entries()) {
    if (!claims[at]) continue;
    const { page, context, follow } = await open({ base });
    await page.goto(new URL(claims[at]).pathname);
    if (at === 0) await shootOnce(page, "claim");
    await page.check(`input[name=${box}] >> nth=0`);
    await follow(() => page.click(`form:has(input[name=${box}]) button`));
    await shootOnce(page, `claim-${box}`);
    await context.close();
  }
}

async function everything() {
  const pages = { ...PAGES, ...await linked() };
  for (const width of WIDTHS) {
    for (const scheme of SCHEMES) {
      const { page, context } = await open({ base, width, scheme });
      for (const [name, path] of Object.entries(pages)) {
        await page.goto(path);
        await shoot(page, name, width, scheme);
      }
      await context.close();
    }
  }
  await ofKey();
  await ofClaims();
}

await complete();
await (all ? everything() : readme());
await browser.close();
