// Applies a reviewed patch to one file of a package while bundling. The file is minified, so it is formatted first: a
// patch against that can be read. Nothing is applied unless package, file and formatter are those the patch names.
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { transform, version as esbuildVersion } from "esbuild";

/** Returns the file of the package, formatted and patched. Throws if it is not the file that the patch is for. */
export async function patchPackageFile(packageFolder, patchFile) {
  const patch = await readFile(patchFile, "utf8");
  const { package: expectedPackage, file, sha256, formatter } = readHeader(patch);
  const { name, version } = JSON.parse(await readFile(`${packageFolder}/package.json`, "utf8"));
  const source = await readFile(`${packageFolder}/${file}`, "utf8");
  const found = { package: `${name} ${version}`, sha256: hash(source), formatter: `esbuild ${esbuildVersion}` };
  const expected = { package: expectedPackage, sha256, formatter };
  for (const key of Object.keys(expected)) {
    if (found[key] === expected[key]) continue;
    throw new Error(`${patchFile} is for ${key} "${expected[key]}", found "${found[key]}". ${howToUpgrade}`);
  }
  return applyPatch(await format(source), patch);
}

const howToUpgrade = "See docs/05-sandbox.md, “The shell's interpreter”, for how to make a new patch.";

const hash = (text) => createHash("sha256").update(text).digest("hex");

/** Prints minified code with one statement per line. The same esbuild always prints the same text. */
export async function format(source) {
  const { code } = await transform(source, { loader: "js", target: "esnext", charset: "utf8", legalComments: "inline" });
  return code;
}

/** The fields at the top of a patch, by their names in lower case and without hyphens: "SHA-256: …" is `sha256`. */
export function readHeader(patch) {
  const fields = Object.fromEntries(
    [...patch.split(/^---/m, 1)[0].matchAll(/^([\w-]+): (.+)$/gm)].map(([, name, value]) => [
      name.toLowerCase().replaceAll("-", ""),
      value,
    ]),
  );
  for (const name of ["package", "file", "sha256", "formatter"]) {
    if (!fields[name]) throw new Error(`The patch has no field "${name}".`);
  }
  return fields;
}

/**
 * Applies a unified diff whose hunks have names ("@@ -1,3 +1,4 @@ name"). Strict: every line has to be where the hunk
 * says, unlike with patch(1), which looks for it elsewhere.
 */
export function applyPatch(text, patch) {
  const lines = text.split("\n");
  const result = [];
  let next = 0;
  for (const { name, start, oldCount, newCount, body } of parseHunks(patch)) {
    const fail = (reason) => {
      throw new Error(`Hunk "${name}" does not apply: ${reason}. ${howToUpgrade}`);
    };
    if (start < next) fail(`it starts at line ${start + 1}, inside the hunk before it`);
    result.push(...lines.slice(next, start));
    next = start;
    const newStart = result.length;
    for (const line of body) {
      const content = line.slice(1);
      if (line[0] !== "+") {
        const found = lines[next];
        if (found !== content) fail(`line ${next + 1} should be ${quote(content)}, but is ${quote(found)}`);
        next++;
      }
      if (line[0] !== "-") result.push(content);
    }
    if (next - start !== oldCount || result.length - newStart !== newCount) fail("it has more or fewer lines than it says");
  }
  return [...result, ...lines.slice(next)].join("\n");
}

function parseHunks(patch) {
  const hunks = [];
  const names = new Set();
  for (const line of patch.replace(/\n$/, "").split("\n")) {
    const heading = /^@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@(?: (.*))?$/.exec(line);
    if (heading) {
      const [, start, oldCount = "1", newCount = "1", name] = heading;
      if (!name || names.has(name)) throw new Error(`Every hunk needs a name of its own: ${line}`);
      names.add(name);
      hunks.push({ name, start: Number(start) - 1, oldCount: Number(oldCount), newCount: Number(newCount), body: [] });
    } else if (hunks.length > 0) {
      if (!/^[ +-]/.test(line)) throw new Error(`Hunk "${hunks.at(-1).name}" has a line that is no part of it: ${quote(line)}`);
      hunks.at(-1).body.push(line);
    }
  }
  if (hunks.length === 0) throw new Error("The patch has no hunks.");
  return hunks;
}

function quote(line) {
  if (line === undefined) return "the end of the file";
  return JSON.stringify(line.length > 200 ? `${line.slice(0, 200)}…` : line);
}
