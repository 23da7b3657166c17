// Looks at pages with forced colours, on paper, and from right to left. Reports what is not as it should be.

import { arrive, asked, open, report } from "./browser.mjs";

const WIDTHS = [360, 390, 768, 1280, 1920];

// What is chosen is told apart by its colours, also when the system forces its own.
async function forced() {
  const { page, context, faults } = await open({ base: asked.base });
  await page.emulateMedia({ forcedColors: "active" });
  const colours = (selector) => page.locator(selector).first().evaluate((one) => {
    const { color, backgroundColor } = getComputedStyle(one);
    return { color, backgroundColor };
  });
  for (const [path, list] of [["/?material=timber", ".chips"], ["/art", ".categories"]]) {
    await page.goto(path);
    await page.evaluate(() => document.querySelectorAll("details").forEach((one) => { one.open = true; }));
    const chosen = await colours(`${list} a[aria-current]`);
    const other = await colours(`${list} a:not([aria-current])`);
    if (chosen.backgroundColor === other.backgroundColor) faults.push(`what is chosen in ${list} of ${path} stands on ${chosen.backgroundColor} like the others`);
    if (chosen.color === chosen.backgroundColor) faults.push(`what is chosen in ${list} of ${path} is ${chosen.color} on itself`);
  }
  await page.goto("/keys");
  await page.focus("#email");
  const outline = await page.locator("#email").evaluate((one) => getComputedStyle(one).outlineStyle);
  if (outline === "none") faults.push("the focus is not seen");
  await context.close();
  return faults;
}

// What is inside the margins of an A4 sheet, and how high a picture may be on it, in pixels.
const SHEET = { width: 680, height: 1009 };
const MOST_HIGH = 228;

// The pictures on paper are of a bounded height, and those below the first stand two side by side.
async function picturesOnPaper(page) {
  await page.setViewportSize(SHEET);
  const { heights, rows } = await page.evaluate(() => {
    const boxes = (selector) => [...document.querySelectorAll(selector)].map((one) => one.getBoundingClientRect());
    const rows = {};
    for (const { top } of boxes(".row figure")) rows[Math.round(top)] = (rows[Math.round(top)] ?? 0) + 1;
    return { heights: boxes("figure img").map(({ height }) => height), rows: Object.values(rows) };
  });
  const faults = heights.filter((height) => height > MOST_HIGH).map((height) => `a picture is ${height} px high`);
  if (rows.slice(0, -1).some((count) => count !== 2)) faults.push(`the pictures stand in rows of ${rows}`);
  return faults;
}

// On paper there is the work and how to cite it, and nothing that is clicked.
// `text` stands in one of what `selector` selects.
async function printed(wanted, [selector, text], mostSheets) {
  const opened = await open({ base: asked.base });
  const { page, context, faults } = opened;
  await arrive(opened, typeof wanted === "string" ? { path: wanted } : wanted);
  await page.evaluate(async () => {
    for (const picture of document.images) picture.loading = "eager";
    await Promise.all([...document.images].map((picture) => picture.decode()));
  });
  const file = await page.pdf({ format: "A4" });
  const sheets = file.toString("latin1").match(/\/Type\s*\/Page\b(?!s)/g)?.length ?? 0;
  if (sheets < 1 || sheets > mostSheets) faults.push(`it has ${sheets} sheets`);
  await page.emulateMedia({ media: "print" });
  for (const clicked of ["nav", "footer", ".skip", "form", "button", ".button", ".call", ".near", ".styles summary"]) {
    const shown = await page.locator(clicked).evaluateAll((all) => all.filter((one) => one.checkVisibility()).length);
    if (shown > 0) faults.push(`${shown} of ${clicked} are printed`);
  }
  faults.push(...await picturesOnPaper(page));
  const found = await page.locator(selector).evaluateAll((all) => all.filter((one) => one.checkVisibility()).map((one) => one.textContent));
  if (!found.some((one) => one.includes(text))) faults.push(`${selector} are ${JSON.stringify(found)}`);
  await context.close();
  return faults;
}

// Arabic stands to the right, and nothing is wider than the window.
async function fromTheRight(path, name) {
  const { page, context, faults } = await open({ base: asked.base });
  await page.goto(path);
  const named = page.locator(name).first();
  const direction = await named.evaluate((one) => getComputedStyle(one).direction);
  if (direction !== "rtl") faults.push(`${name} is written ${direction}`);
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    if (wide > 0) faults.push(`it is ${wide} px too wide at ${width}`);
    const out = await named.evaluate((one) => one.getBoundingClientRect().left < 0 || one.getBoundingClientRect().right > innerWidth);
    if (out) faults.push(`${name} is outside the window at ${width}`);
  }
  await context.close();
  return faults;
}

const CITATION = [".citation", "/cite/"];

await report({
  "forced colours": await forced(),
  "a project on paper": await printed(`/projects/${asked.pictured}`, CITATION, 2),
  "a project from results on paper": await printed(`/projects/${asked.pictured}?from=q%3Dhouse`, CITATION, 2),
  "a project without pictures on paper": await printed(`/projects/${asked.plain}`, CITATION, 2),
  "a citation on paper": await printed(`/cite/${asked.pictured}/1`, CITATION, 2),
  "a board on paper": await printed(`/board?slugs=${asked.pictured},${asked.plain}`, ["#citations li", "/cite/"], 3),
  "an issued key on paper": await printed(asked.issued, ["#key", "log_live_"], 1),
  "the usage of a key on paper": await printed(asked.used, ["#used", ""], 2),
  "a project from right to left": await fromTheRight(`/projects/${asked.arabic}`, "h1"),
  "its citation": await fromTheRight(`/cite/${asked.arabic}/1`, "h1"),
  "results from right to left": await fromTheRight(`/?q=${encodeURIComponent(asked.arabicName)}`, ".card h3"),
});
