// Completes a search in the search box, by keyboard and by mouse. Reports what does not work.

import { asked, judged, open, report } from "./browser.mjs";

const OPTION = "#q-suggestions [role=option]";

function shown(page) {
  return page.evaluate((selector) => {
    const input = document.querySelector("#q");
    const options = [...document.querySelectorAll(selector)];
    const active = input.getAttribute("aria-activedescendant");
    return {
      isOpen: input.getAttribute("aria-expanded") === "true" && options.length > 0,
      isFocused: document.activeElement === input,
      value: input.value,
      options: options.map((option) => option.textContent),
      // An option is selected if and only if the field names it.
      active: options.findIndex((option) => option.id === active),
      selected: options.findIndex((option) => option.getAttribute("aria-selected") === "true"),
    };
  }, OPTION);
}

// Enters the text at once: key by key, a slow machine also shows the options for what was typed before a pause.
async function complete(page, text) {
  await page.locator("#q").fill(text);
  await page.waitForSelector(OPTION);
}

async function keyboard() {
  const { page, context, faults, follow } = await open({ base: asked.base });
  const expect = (isSo, told) => { if (!isSo) faults.push(told); };
  await page.goto(`/projects/${asked.slug}`);
  const name = await page.locator("h1").textContent();
  await page.goto("/");
  const attributes = await page.locator("#q").evaluate((input) => [
    "role", "aria-autocomplete", "aria-expanded", "aria-controls",
  ].map((name) => input.getAttribute(name)).join(" "));
  expect(attributes === "combobox list false q-suggestions", `the field is ${attributes}`);
  const typed = name.slice(0, -2);
  await complete(page, typed);
  const press = async (key) => { await page.keyboard.press(key); return shown(page); };
  let now = await shown(page);
  const last = now.options.length - 1;
  expect(now.isOpen && now.isFocused && now.active === -1 && now.selected === -1, `the list opens as ${JSON.stringify(now)}`);
  expect(now.options[0] === `${name} Project`, `the first option is ${now.options[0]}`);
  for (const [key, expected] of [["ArrowDown", 0], ["Home", -1], ["ArrowUp", last], ["ArrowDown", -1], ["ArrowDown", 0]]) {
    now = await press(key);
    expect(now.active === expected && now.selected === expected && now.isFocused, `${key} leads to ${JSON.stringify(now)}`);
  }
  faults.push(...await judged(page));
  now = await press("Escape");
  expect(!now.isOpen && now.value === typed && now.isFocused && now.active === -1, `Escape leaves ${JSON.stringify(now)}`);
  await page.keyboard.press("ArrowDown");
  await page.waitForSelector(OPTION);
  await page.keyboard.press("ArrowDown");
  await follow(() => page.keyboard.press("Enter"));
  expect(new URL(page.url()).pathname === `/projects/${asked.slug}`, `Enter on an option leads to ${page.url()}`);
  await page.goto("/");
  await complete(page, typed);
  await follow(() => page.keyboard.press("Enter"));
  expect(new URL(page.url()).searchParams.get("q") === typed, `Enter without an option leads to ${page.url()}`);
  await context.close();
  return faults;
}

// Names are text, whatever they contain; and a press on an option follows it.
async function mouse() {
  const { page, context, faults, follow } = await open({ base: asked.base, width: 375, height: 700, scheme: "dark" });
  await page.goto("/");
  await complete(page, "script img");
  const { options } = await shown(page);
  if (options[0] !== `${asked.hostile} Project`) faults.push(`the options are ${options}`);
  faults.push(...await judged(page));
  const isWide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
  if (isWide) faults.push("the page is wider than the window");
  await follow(() => page.click(OPTION));
  if (new URL(page.url()).pathname !== "/projects/hostile-1") faults.push(`a press leads to ${page.url()}`);
  const { alerts, violations } = await page.evaluate(() => window.seen);
  faults.push(...alerts, ...violations);
  await context.close();
  return faults;
}

// The answer to an earlier text never replaces that to a later one.
async function superseded() {
  const { page, context, faults } = await open({ base: asked.base });
  const texts = [];
  let answered = 0;
  await page.route("**/suggest?*", async (route) => {
    texts.push(new URL(route.request().url()).searchParams.get("q"));
    if (texts.length === 1) await new Promise((done) => setTimeout(done, 1000));
    await route.continue().catch(() => undefined);
    answered += 1;
  });
  await page.goto("/");
  await page.locator("#q").fill("script");
  while (texts.length === 0) await page.waitForTimeout(10);
  await page.locator("#q").fill("zyxwvut");
  while (answered < 2) await page.waitForTimeout(10);
  await page.waitForTimeout(300);
  const now = await shown(page);
  if (String(texts) !== "script,zyxwvut" || now.isOpen || now.options.length) faults.push(`${texts} ends as ${JSON.stringify(now)}`);
  await context.close();
  return faults;
}

async function withoutScript() {
  const { page, context, faults, follow } = await open({ base: asked.base, script: false });
  await page.goto("/");
  if (await page.locator("#q[role]").count() !== 0) faults.push("the field has a role that nothing serves");
  await page.locator("#q").pressSequentially("house");
  await follow(() => page.keyboard.press("Enter"));
  if (!page.url().endsWith("/?q=house")) faults.push(`Enter leads to ${page.url()}`);
  await context.close();
  return faults;
}

await report({
  keyboard: await keyboard(), mouse: await mouse(), superseded: await superseded(), "without script": await withoutScript(),
});
