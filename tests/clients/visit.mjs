// What every client in JavaScript does with the service: it lists the tools, calls each of them without a key, makes a
// mistake, takes a key and comes back with it. Prints one line of JSON, which tests/clients/main.rs compares.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

const TOOLS = [
  "browse", "discover", "fetch", "get_api_key", "get_project", "list_taste_terms",
  "search", "search_by_taste", "search_projects", "similar_projects",
];
const LARGEST_PICTURE = 2_000_000;
const MAGIC = {
  "image/jpeg": (bytes) => bytes.subarray(0, 3).equals(Buffer.from([0xff, 0xd8, 0xff])),
  "image/png": (bytes) => bytes.subarray(0, 8).equals(Buffer.from("\x89PNG\r\n\x1a\n", "latin1")),
  "image/webp": (bytes) => bytes.toString("latin1", 0, 4) === "RIFF" && bytes.toString("latin1", 8, 12) === "WEBP",
};

// `connect(url, key)` opens a connection of the client `packageName`, with a key or without: {revision, list, call, close}.
// `list()` gives the tools; `call(name, args)` gives {content, structuredContent, isError}.
export async function visit(packageName, connect) {
  const [url, email] = process.argv.slice(2);
  const server = await connect(url);
  const tools = await server.list();
  assert.deepEqual(tools.map((tool) => tool.name).sort(), TOOLS);
  assert.ok(tools.every((tool) => tool.outputSchema.type === "object"), "every tool says what it answers");

  const called = [];
  const call = async (name, args) => {
    const result = await server.call(name, args);
    assert.ok(!result.isError, `${name}: ${JSON.stringify(result)}`);
    called.push(name);
    return { answer: complete(name, result), pictures: result.content.filter((item) => item.type === "image") };
  };

  const found = await call("search", { query: "house" });
  const slug = found.answer.results[0].id;
  const anonymous = await call("search_projects", { query: "house", limit: 8 });
  const terms = await call("list_taste_terms", { dimension: "material", limit: 3 });
  assert.ok(terms.answer, "the words of a dimension");
  await call("search_by_taste", { material: "oak", limit: 3 });
  await call("browse", { category: "architecture", limit: 3 });
  await call("discover", {});
  await call("similar_projects", { slug, limit: 3 });
  const record = await call("get_project", { slug });
  assert.equal(record.answer.slug, slug);
  const fetched = await call("fetch", { id: slug });
  assert.equal(fetched.answer.id, slug);
  const { key } = (await call("get_api_key", { email })).answer;

  const refusal = await server.call("get_project", { slug: "no-such-project" });
  assert.equal(refusal.isError, true);
  const refused = refusal.content[0].text;
  await server.close();

  const keyed = await connect(url, key);
  const all = complete("search_projects", await keyed.call("search_projects", { query: "house", limit: 8 }));
  await keyed.close();

  console.log(JSON.stringify({
    client: `${packageName} ${version(packageName)}`,
    revision: server.revision,
    called: called.sort(),
    pictures: fetched.pictures.map(picture),
    refused: refused.includes("no-such-project"),
    results: { anonymous: anonymous.answer.results.length, keyed: all.results.length },
  }));
}

// The one text item as JSON, which the structured content must equal.
function complete(name, { content, structuredContent }) {
  const texts = content.filter((item) => item.type === "text").map((item) => item.text);
  assert.equal(texts.length, 1, `${name} has one text item`);
  const told = JSON.parse(texts[0]);
  assert.deepEqual(structuredContent, told, `${name} says the same twice`);
  return told;
}

function picture({ mimeType, data }) {
  assert.ok(data.length <= LARGEST_PICTURE, `the picture has ${data.length} characters`);
  assert.ok(MAGIC[mimeType]?.(Buffer.from(data, "base64")), `the picture is no ${mimeType}`);
  return mimeType;
}

export function version(packageName) {
  return JSON.parse(readFileSync(new URL(`node_modules/${packageName}/package.json`, import.meta.url))).version;
}

// The headers that carry a key.
export function headers(key) {
  return key ? { Authorization: `Bearer ${key}` } : {};
}
