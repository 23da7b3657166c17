// Goes through pages with the Tab key alone. Reports what cannot be reached, or is not seen to have the focus.

import { asked, open, report } from "./browser.mjs";

// More than any of these pages has.
const MOST = 150;

// What has the focus, and whether that shows.
function focused(page) {
  return page.evaluate(() => {
    const one = document.activeElement;
    const { top, bottom, left, right, width, height } = one.getBoundingClientRect();
    const style = getComputedStyle(one);
    const isOnScreen = width > 0 && height > 0 && bottom > 0 && right > 0 && top < innerHeight && left < innerWidth;
    const isMarked = style.outlineStyle !== "none" && Number.parseFloat(style.outlineWidth) >= 1;
    const kinds = { skip: ".skip", search: "input[type=search]", result: ".card a", call: ".call summary", cite: "a[href*='/cite/']", email: "#email", key: "#key" };
    const kind = Object.entries(kinds).find(([, selector]) => one.matches(selector))?.[0];
    return { kind, told: one.outerHTML.slice(0, 100), isBody: one === document.body, isOnScreen, isMarked };
  });
}

async function tab(path, first, wanted) {
  const { page, context, faults } = await open({ base: asked.base });
  await page.goto(path);
  const reached = [];
  for (let pressed = 0; pressed < MOST && wanted.some((kind) => !reached.includes(kind)); pressed += 1) {
    await page.keyboard.press("Tab");
    const { kind, told, isBody, isOnScreen, isMarked } = await focused(page);
    if (isBody) break;
    if (!isOnScreen) faults.push(`the focus is outside the window: ${told}`);
    if (!isMarked) faults.push(`the focus is not seen: ${told}`);
    if (pressed === 0 && kind !== first) faults.push(`the first Tab reaches ${told}`);
    if (kind) reached.push(kind);
  }
  faults.push(...wanted.filter((kind) => !reached.includes(kind)).map((kind) => `${kind} is not reached`));
  await context.close();
  return faults;
}

// The skip link leads past the navigation.
async function skip() {
  const { page, context, faults, follow } = await open({ base: asked.base });
  await page.goto("/");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  const { kind, told } = await focused(page);
  if (kind !== "search") faults.push(`behind the skip link stands ${told}`);
  await page.keyboard.type("house");
  await follow(() => page.keyboard.press("Enter"));
  if (!page.url().endsWith("/?q=house")) faults.push(`Enter in the search leads to ${page.url()}`);
  await context.close();
  return faults;
}

await report({
  front: await tab("/", "skip", ["skip", "search", "call", "result"]),
  search: await tab("/?q=house", "skip", ["skip", "search", "result"]),
  keys: await tab("/keys", "skip", ["skip", "email"]),
  usage: await tab("/usage", "skip", ["skip", "key"]),
  "skip link": await skip(),
});
