// The Chromium that tests/browser/setup installed, how it is started, and what a script was asked for.

import { fileURLToPath } from "node:url";

export const executablePath = fileURLToPath(new URL("../../.tools/browser/bin/chromium", import.meta.url));

export const QUIET = [
  "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update",
  "--disable-sync", "--disable-quic", "--font-render-hinting=none",
];

export const asked = process.argv[2]?.startsWith("{") ? JSON.parse(process.argv[2]) : {};
