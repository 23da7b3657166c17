// The TypeScript SDK, version 2, which validates structured content against the tools' output schemas. The third
// argument pins a revision; without it the client begins with `initialize`.

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { headers, visit } from "./visit.mjs";

const pin = process.argv[4];

await visit("@modelcontextprotocol/client", async (url, key) => {
  const mode = pin ? { pin } : "legacy";
  const client = new Client({ name: "loggia-tests", version: "1" }, { versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: headers(key) } }));
  return {
    revision: client.getNegotiatedProtocolVersion(),
    list: async () => (await client.listTools()).tools,
    call: (name, args) => client.callTool({ name, arguments: args }),
    close: () => client.close(),
  };
});
