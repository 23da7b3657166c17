// The TypeScript SDK, version 1, which validates structured content against the tools' output schemas.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { headers, visit } from "./visit.mjs";

await visit("@modelcontextprotocol/sdk", async (url, key) => {
  const client = new Client({ name: "loggia-tests", version: "1" });
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: headers(key) } });
  await client.connect(transport);
  return {
    revision: transport.protocolVersion,
    list: async () => (await client.listTools()).tools,
    call: (name, args) => client.callTool({ name, arguments: args }),
    close: () => client.close(),
  };
});
