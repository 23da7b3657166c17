// Looks at every page that is asked for: at a desk by day and on a telephone by night. Reports the faults of each.

import { asked, invalid, judged, open, report } from "./browser.mjs";

const MOST_SHIFT = 0.05;
const WIDTHS = [1440, 768, 360];

async function visit(wanted, path, visitor) {
  const { page, context, faults, follow, settled } = await open({ base: asked.base, ...visitor });
  let answer = await page.goto(path);
  for (const [field, text] of Object.entries(wanted.fill ?? {})) await page.fill(field, text.replace("VISIT", visitor.scheme));
  for (const box of wanted.tick ?? []) await page.check(box);
  if (wanted.form) {
    // What the browser itself would refuse is sent all the same.
    answer = await follow(() => page.locator(wanted.form).evaluate((form) => { form.noValidate = true; form.requestSubmit(); }));
  }
  const status = wanted.status ?? 200;
  if (answer.status() !== status) faults.push(`it is answered with ${answer.status()} and not ${status}`);
  faults.push(...await invalid(await answer.text()));
  await readThrough(page);

  const { seen, title, lang, h1, pictures } = await page.evaluate(() => ({
    seen: window.seen,
    title: document.title,
    lang: document.documentElement.lang,
    h1: [...document.querySelectorAll("h1")].map((one) => one.textContent.trim()),
    pictures: [...document.images].filter((one) => !one.complete || one.naturalWidth === 0).map((one) => one.src),
  }));
  if (seen.alerts.length) faults.push(`script was executed: ${seen.alerts}`);
  faults.push(...seen.violations.map((one) => `against the policy: ${one}`));
  faults.push(...pictures.map((one) => `a picture is not shown: ${one}`));
  if (seen.shift > MOST_SHIFT) faults.push(`the layout shifts by ${seen.shift.toFixed(3)}: ${seen.shifted.slice(0, 4)}`);
  if (!title.includes("Loggia")) faults.push(`its title is ${title}`);
  if (lang !== "en") faults.push(`its language is ${lang}`);
  if (h1.length !== 1 || !h1[0]) faults.push(`its headings are ${JSON.stringify(h1)}`);
  faults.push(...await judged(page));
  await settled();
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    if (wide > 0) faults.push(`it is ${wide} px too wide at ${width}`);
    await settled();
  }
  await context.close();
  return faults.map((fault) => `${visitor.scheme}: ${fault}`);
}

// Down to the end, so that every picture is asked for and everything that may move has moved.
async function readThrough(page) {
  await page.evaluate(async () => {
    for (let at = 0; at < document.documentElement.scrollHeight; at += 600) {
      window.scrollTo(0, at);
      await new Promise((done) => setTimeout(done, 15));
    }
    window.scrollTo(0, 0);
    await Promise.all([...document.images].map((picture) => picture.decode().catch(() => undefined)));
    await document.fonts.ready;
    // Wait for a frame, so that layout shifts up to now are reported.
    for (let frame = 0; frame < 3; frame += 1) await new Promise((done) => requestAnimationFrame(done));
  });
}

const faults = {};
for (const wanted of asked.pages) {
  const [first, second] = [wanted.path].flat();
  faults[wanted.name] = [
    ...await visit(wanted, first, { scheme: "light", width: 1440 }),
    ...await visit(wanted, second ?? first, { scheme: "dark", width: 390 }),
  ];
}
await report(faults);
