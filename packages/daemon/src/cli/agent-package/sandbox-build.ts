import type { BuildOptions } from "esbuild";
import { standardDefines } from "./node-globals.ts";

/** How code is bundled that runs in a sandbox: one ES module that needs nothing of Node.js. */
export const sandboxBuild = {
  write: false,
  bundle: true,
  format: "esm",
  platform: "neutral",
  target: "es2024",
  // Many packages have a build without Node.js only for browsers.
  conditions: ["workerd", "worker", "browser", "import", "default"],
  mainFields: ["module", "main"],
  loader: { ".txt": "text", ".md": "text" },
  define: standardDefines,
  charset: "utf8",
  legalComments: "none",
  metafile: true,
  logLevel: "silent",
} satisfies BuildOptions;
