// Makes types from the OpenAPI document with openapi-typescript, checks a program against them with tsc, and runs it.
// Arguments: the address of the site, the path of the document, a key, and a folder for the program.

import { execFileSync } from "node:child_process";
import { symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import openapiTS, { astToString } from "openapi-typescript";

const [base, document, key, folder] = process.argv.slice(2);
const program = `
import createClient from "openapi-fetch";
import type { paths } from "./catalog.d.ts";

const client = createClient<paths>({ baseUrl: "${base}/v1", headers: { Authorization: "Bearer ${key}" } });
const site = createClient<paths>({ baseUrl: "${base}" });
const found = await client.GET("/search", { params: { query: { q: "house", limit: 3 } } });
const one = await client.GET("/project/{slug}", { params: { path: { slug: "house-1" } } });
const near = await client.GET("/similar/{slug}", { params: { path: { slug: "house-1" }, query: { limit: 2 } } });
const month = await client.GET("/usage");
const unknown = await client.GET("/project/{slug}", { params: { path: { slug: "nowhere" } } });
const cited = await site.GET("/cite/{slug}/{revision}", {
  params: { path: { slug: "house-1", revision: 1 }, query: { format: "bibtex" } }, parseAs: "text",
});
const refused = await site.GET("/search", { baseUrl: "${base}/v1", params: { query: { q: "house" } } });
if (!found.data || !one.data || !("taste" in one.data) || !near.data || !month.data || !unknown.error || !refused.error) throw new Error("an answer is missing");
const years: (string | null)[] = found.data.results.map((result) => result.year);
const published: string | null = one.data.published;
console.log(JSON.stringify({
  count: found.data.count, years, published, material: one.data.taste.material, near: near.data.count, tier: month.data.tier,
  month: month.data.month.length, unknown: unknown.error.title, refused: refused.error.title,
  cited: String(cited.data).startsWith("@misc{house-1-1,"),
}));
`;
const types = astToString(await openapiTS(new URL(base + document)));
writeFileSync(path.join(folder, "catalog.d.ts"), types);
writeFileSync(path.join(folder, "program.mts"), program);
const modules = path.dirname(path.dirname(createRequire(import.meta.url).resolve("typescript/package.json")));
symlinkSync(modules, path.join(folder, "node_modules"));
const options = ["--strict", "--target", "es2022", "--module", "nodenext", "--allowImportingTsExtensions", "--rewriteRelativeImportExtensions",
  "--skipLibCheck", "--lib", "es2022,dom,dom.iterable"];
try {
  execFileSync(process.execPath, [path.join(modules, "typescript/bin/tsc"), ...options, "program.mts"], { cwd: folder, encoding: "utf8" });
} catch (error) {
  console.error(error.stdout);
  throw error;
}
await import(pathToFileURL(path.join(folder, "program.mjs")));
