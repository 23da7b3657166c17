// Looks at pages with forced colours, on paper, and from right to left. Reports what is not as it should be.

import { asked, open, report } from "./browser.mjs";

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

// On paper there is the work and how to cite it, and nothing that is clicked.
async function printed(path, wanted, mostSheets) {
  const { page, context, faults } = await open({ base: asked.base });
  await page.goto(path);
  await page.evaluate(async () => {
    for (const picture of document.images) picture.loading = "eager";
    await Promise.all([...document.images].map((picture) => picture.decode()));
  });
  const text = await page.pdf({ format: "A4" });
  const sheets = text.toString("latin1").match(/\/Type\s*\/Page\b(?!s)/g)?.length ?? 0;
  if (sheets < 1 || sheets > mostSheets) faults.push(`it has ${sheets} sheets`);
  await page.emulateMedia({ media: "print" });
  for (const selector of [".top nav", "footer", ".skip", "form", "button", ".button", ".call", ".near"]) {
    const shown = await page.locator(selector).evaluateAll((all) => all.filter((one) => one.checkVisibility()).length);
    if (shown > 0) faults.push(`${shown} of ${selector} are printed`);
  }
  const citations = await page.locator(wanted).evaluateAll((all) => all.filter((one) => one.checkVisibility()).map((one) => one.textContent));
  if (!citations.some((one) => one.includes("/cite/"))) faults.push(`the citations are ${JSON.stringify(citations)}`);
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

await report({
  "forced colours": await forced(),
  "a project on paper": await printed(`/projects/${asked.pictured}`, ".citation", 3),
  "a project without pictures on paper": await printed(`/projects/${asked.plain}`, ".citation", 3),
  "a citation on paper": await printed(`/cite/${asked.pictured}/1`, ".citation", Infinity),
  "a board on paper": await printed(`/board?slugs=${asked.pictured},${asked.plain}`, "#citations li", 3),
  "a project from right to left": await fromTheRight(`/projects/${asked.arabic}`, "h1"),
  "its citation": await fromTheRight(`/cite/${asked.arabic}/1`, "h1"),
  "results from right to left": await fromTheRight(`/?q=${encodeURIComponent(asked.arabicName)}`, ".card h3"),
});
