// mcporter, a runtime and command line over MCP servers.

import { createRuntime } from "mcporter";
import { headers, visit } from "./visit.mjs";

await visit("mcporter", async (url, key) => {
  const command = { kind: "http", url: new URL(url), headers: headers(key) };
  const runtime = await createRuntime({ servers: [{ name: "loggia", command }] });
  return {
    revision: null,
    list: () => runtime.listTools("loggia", { includeSchema: true }),
    call: (name, args) => runtime.callTool("loggia", name, { args }),
    close: () => runtime.close(),
  };
});
