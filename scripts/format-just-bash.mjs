// Writes just-bash's interpreter to a folder, formatted as our patch expects it: once in a/, and once in b/ for
// editing. `diff -u a/browser.js b/browser.js` is then the patch; name each hunk by hand.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { applyPatch, format } from "../packages/runtime/patches/patch.mjs";
import { root } from "./root.mjs";

const [folder, patchFile] = process.argv.slice(2);
if (!folder) {
  console.error("Usage: node scripts/format-just-bash.mjs <folder> [<patch to start from>]");
  process.exit(2);
}

const formatted = await format(await readFile(join(root, "node_modules/just-bash/dist/bundle/browser.js"), "utf8"));
const changed = patchFile ? applyPatch(formatted, await readFile(patchFile, "utf8")) : formatted;
for (const [name, text] of Object.entries({ a: formatted, b: changed })) {
  await mkdir(join(folder, name), { recursive: true });
  await writeFile(join(folder, name, "browser.js"), text);
}
