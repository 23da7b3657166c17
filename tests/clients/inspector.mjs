// The MCP inspector's command line, a process for each call. The third argument is the era: legacy or modern.

import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { headers, visit } from "./visit.mjs";

const program = fileURLToPath(new URL("node_modules/.bin/mcp-inspector", import.meta.url));
const era = process.argv[4];

await visit("@modelcontextprotocol/inspector", async (url, key) => {
  const header = Object.entries(headers(key)).flatMap(([name, value]) => ["--header", `${name}: ${value}`]);
  const fixed = [program, "--cli", url, "--transport", "http", "--protocol-era", era, "--format", "json", ...header];
  const run = async (...args) => {
    // A result that says isError ends the program with a status of its own; what it says is still the result.
    const done = await promisify(execFile)(process.execPath, [...fixed, ...args], { maxBuffer: 1 << 26 }).catch((failed) => failed);
    if (!done.stdout) throw new Error(`inspector ${args.join(" ")}: ${done.stderr}`);
    const answered = JSON.parse(done.stdout);
    return answered.result;
  };
  return {
    revision: null,
    list: async () => (await run("--method", "tools/list")).tools,
    call: (name, args) => run("--method", "tools/call", "--tool-name", name, "--tool-args-json", JSON.stringify(args)),
    close: async () => {},
  };
});
