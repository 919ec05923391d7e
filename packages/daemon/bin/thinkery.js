#!/usr/bin/env node
// There before anything is built, so that npm can link it when it installs.
import { existsSync } from "node:fs";

const program = new URL("../dist/thinkery.js", import.meta.url);

if (existsSync(program)) await import(program.href);
else {
  console.error("Thinkery is not built yet: run `npm run build` in its folder.");
  process.exitCode = 1;
}
