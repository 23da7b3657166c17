// mcp-remote, which lets a client that speaks only over standard input and output reach the service.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { visit } from "./visit.mjs";

const program = fileURLToPath(new URL("node_modules/mcp-remote/dist/proxy.js", import.meta.url));

await visit("mcp-remote", async (url, key) => {
  const folder = mkdtempSync(join(tmpdir(), "mcp-remote-"));
  const header = key ? ["--header", `Authorization:Bearer ${key}`] : [];
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [program, url, "--allow-http", "--silent", ...header],
    env: { ...process.env, MCP_REMOTE_CONFIG_DIR: folder },
  });
  const client = new Client({ name: "loggia-tests", version: "1" });
  await client.connect(transport);
  return {
    revision: null,
    list: async () => (await client.listTools()).tools,
    call: (name, args) => client.callTool({ name, arguments: args }),
    close: async () => {
      await client.close();
      rmSync(folder, { recursive: true });
    },
  };
});
