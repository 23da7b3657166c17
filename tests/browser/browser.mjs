// The browser that tests/browser/setup installed, and pages that record every error.

import { readFileSync } from "node:fs";
import { HtmlValidate } from "html-validate";
import { chromium } from "playwright-core";
import { asked, executablePath, QUIET } from "./chromium.mjs";

export { asked };

// A browser with an empty profile that is gone with it.
export const browser = await chromium.launch({ executablePath, args: QUIET });

const axeSource = readFileSync(new URL("node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

// A page in a context of its own. `faults` is filled with what a reader of the page must never meet.
export async function open({ base, width = 1440, height = 900, scheme = "light", script = true, permissions }) {
  const context = await browser.newContext({
    baseURL: base, viewport: { width, height }, colorScheme: scheme, javaScriptEnabled: script, permissions,
  });
  // A wait of a test that is right never takes so long, even on a busy machine.
  context.setDefaultTimeout(120_000);
  const page = await context.newPage();
  const faults = [];
  const host = new URL(base).host;
  // How many pages were gone to, how many of them have come, and what each request belongs to.
  let [wanted, arrived] = [0, 0];
  const begun = new WeakMap();
  const loading = new Set();
  page.on("request", (request) => {
    if (request.isNavigationRequest()) wanted += 1;
    begun.set(request, wanted);
    loading.add(request);
    const { protocol, host: to } = new URL(request.url());
    if (protocol !== "http:" || to !== host) faults.push(`a request to ${request.url()}`);
  });
  page.on("response", (response) => {
    const isPage = response.request().isNavigationRequest();
    if (!isPage && response.status() >= 400) faults.push(`${response.url()} is answered with ${response.status()}`);
  });
  page.on("framenavigated", () => { arrived = wanted; });
  page.on("requestfinished", (request) => loading.delete(request));
  page.on("requestfailed", (request) => {
    loading.delete(request);
    const reason = request.failure()?.errorText;
    // A browser gives up what a page still loads, such as pictures further down, when its reader goes on to the next one.
    const isLeft = reason === "net::ERR_ABORTED" && (begun.get(request) < wanted || arrived < wanted);
    // The search box gives up a request for suggestions when its reader types on.
    const isSuperseded = reason === "net::ERR_ABORTED" && new URL(request.url()).pathname.endsWith("/suggest");
    if (!(isLeft || isSuperseded) || request.isNavigationRequest()) faults.push(`${request.url()} failed: ${reason}`);
  });
  page.on("pageerror", (error) => faults.push(`a script failed: ${error.message}`));
  page.on("dialog", (dialog) => { faults.push(`a dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on("console", (message) => {
    // That a page itself is answered with an error may be what was asked for.
    const isPage = message.location().url === page.url() && message.text().startsWith("Failed to load resource");
    if (message.type() === "error" && !isPage) faults.push(`the console says: ${message.text()}`);
  });
  await context.addInitScript(() => {
    window.seen = { alerts: [], violations: [], shift: 0, shifted: [] };
    window.alert = (text) => { window.seen.alerts.push(String(text)); };
    document.addEventListener("securitypolicyviolation", (event) => {
      window.seen.violations.push(`${event.violatedDirective}: ${event.blockedURI} ${event.sample}`);
    });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries().filter((one) => !one.hadRecentInput)) {
        window.seen.shift += entry.value;
        window.seen.shifted.push(...entry.sources.map((one) => one.node?.outerHTML?.slice(0, 80) ?? "text"));
      }
    }).observe({ type: "layout-shift", buffered: true });
  });
  // Does what leads to another page, and gives the answer once that page is there.
  const follow = async (act) => {
    const [answer] = await Promise.all([page.waitForNavigation(), act()]);
    return answer;
  };
  // Waits until nothing is loading: a new width or the end of a page makes a browser give up what it still loads.
  const settled = async () => {
    const until = Date.now() + 5_000;
    do await page.waitForTimeout(30); while (loading.size > 0 && Date.now() < until);
  };
  return { page, context, faults, follow, settled };
}

// Goes to a page, and from there on by the form to submit or the link to follow, if there is one. `visitor` stands for VISIT in what is
// filled in. Returns the last answer.
export async function arrive({ page, follow }, wanted, path = wanted.path, visitor = "") {
  let answer = await page.goto(path);
  for (const [field, text] of Object.entries(wanted.fill ?? {})) await page.fill(field, text.replace("VISIT", visitor));
  for (const box of wanted.tick ?? []) await page.check(box);
  if (wanted.form) {
    // What the browser itself would refuse is sent all the same.
    answer = await follow(() => page.locator(wanted.form).evaluate((form) => { form.noValidate = true; form.requestSubmit(); }));
  }
  if (wanted.click) answer = await follow(() => page.locator(wanted.click).first().click());
  return answer;
}

// Brings axe into every page of a context, before the page's own scripts: it is compiled once, and not again for each page.
export const withAxe = (context) => context.addInitScript({ content: axeSource });

// Lets a window load everything from the server each time, as at a first visit.
export async function neverCached(page, context) {
  const session = await context.newCDPSession(page);
  await session.send("Network.enable");
  await session.send("Network.setCacheDisabled", { cacheDisabled: true });
}

// Lets a window forget what the pages before have stored in it.
export async function forget(page, context) {
  await page.evaluate(() => { localStorage.clear(); sessionStorage.clear(); });
  await context.clearCookies();
}

// What axe finds, of whatever impact, a sentence each.
export async function judged(page) {
  if (!await page.evaluate(() => "axe" in window)) await page.evaluate(axeSource);
  const { violations } = await page.evaluate(
    (tags) => window.axe.run(document, { runOnly: { type: "tag", values: tags }, resultTypes: ["violations"] }), RULES,
  );
  return violations.flatMap(
    ({ id, help, nodes }) => nodes.slice(0, 3).map((node) => `axe ${id}: ${help}: ${node.html.slice(0, 160)} ${node.any[0]?.message ?? ""}`),
  );
}

const html = new HtmlValidate({ extends: ["html-validate:standard"] });

// What is not valid in the HTML of a page, a sentence each.
export async function invalid(text) {
  const { results } = await html.validateString(text);
  return results.flatMap(({ messages }) => messages.map(({ ruleId, message, line, column }) => `html ${ruleId}: ${message} (${line}:${column})`));
}

// Prints the report, which tests/browser/installed.rs reads, and exits.
export async function report(value) {
  console.log(JSON.stringify(value));
  await browser.close();
}
