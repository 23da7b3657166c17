// Unpacks Chromium and its libraries from the npm package beside this script, into the folder `unpacked`.

import { createReadStream, createWriteStream, mkdirSync } from "node:fs";
import { pipeline } from "node:stream/promises";
import { createBrotliDecompress } from "node:zlib";
import { extract } from "tar-fs";

const packed = (file) => createReadStream(`node_modules/@sparticuz/chromium/bin/${file}`, { highWaterMark: 1 << 22 });
mkdirSync("unpacked");
await Promise.all([
  pipeline(packed("chromium.br"), createBrotliDecompress(), createWriteStream("unpacked/chromium", { mode: 0o755 })),
  // It holds the folder lib.
  pipeline(packed("al2023.tar.br"), createBrotliDecompress(), extract("unpacked")),
  pipeline(packed("fonts.tar.br"), createBrotliDecompress(), extract("unpacked")),
]);
