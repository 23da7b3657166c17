// Pictures of the site, for bin/screenshots: node screenshots.mjs URL FOLDER [all]

import { writeFile } from "node:fs/promises";
import { browser, open } from "./browser.mjs";

const [base, folder, all] = process.argv.slice(2);
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
  front: "/", search: SEARCH, nothing: "/?q=zyxwvut", taste: "/?material=oak&mood=calm", category: "/art",
  project: PROJECT, citation: `${PROJECT.replace("projects", "cite")}/1`, unknown: "/projects/no-such-project",
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

async function everything() {
  const pages = { ...PAGES, ...await linked() };
  const address = `looks.${Date.now()}@example.org`;
  let key = "";
  for (const width of [1280, 820, 390]) {
    for (const scheme of ["light", "dark"]) {
      const { page, context } = await open({ base, width, scheme });
      const shoot = async (name) => {
        await settled(page);
        await page.screenshot({ path: `${folder}/${name}-${width}-${scheme}.jpg`, fullPage: true, type: "jpeg", quality: 80 });
      };
      for (const [name, path] of Object.entries(pages)) {
        await page.goto(path);
        await shoot(name);
      }
      // An address has at most three keys, and one is enough to look at.
      if (!key) {
        await page.goto("/keys");
        await page.fill("#email", address);
        await page.click("form[action$='/keys'] button");
        key = await page.locator("#key").textContent();
        const answers = ["brick", "oak", "glass"].map((q) => fetch(`${base}/v1/search?q=${q}`, { headers: { Authorization: `Bearer ${key}` } }));
        await Promise.all(answers);
        await shoot("issued");
      }
      await page.goto("/usage");
      await page.fill("#key", key);
      await page.click("main button");
      await shoot("used");
      await context.close();
    }
  }
}

await complete();
await (all ? everything() : readme());
await browser.close();
