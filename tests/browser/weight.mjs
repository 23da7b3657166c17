// How many bytes the front page brings over the wire at a first visit, by kind, pictures aside.

import { asked, open, report } from "./browser.mjs";

const { page, context } = await open({ base: asked.base });
const session = await context.newCDPSession(page);
const kinds = new Map();
const bytes = {};
session.on("Network.responseReceived", ({ requestId, type }) => kinds.set(requestId, type));
session.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
  const kind = kinds.get(requestId);
  if (kind !== "Image") bytes[kind] = (bytes[kind] ?? 0) + encodedDataLength;
});
await session.send("Network.enable");
await page.goto("/", { waitUntil: "networkidle" });
await report(bytes);
