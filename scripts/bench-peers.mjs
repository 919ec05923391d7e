// `npm run bench:peers`: installs the packages that the benchmarks compare with, and verifies their versions.
import { readFile } from "node:fs/promises";
import { root } from "./root.mjs";
import { runOrExit } from "./run.mjs";

const folder = `${root}bench/peers`;
const readJson = async (file) => JSON.parse(await readFile(`${folder}/${file}`, "utf8"));

// Some of them have peer dependencies that are not needed here.
await runOrExit("npm", ["ci", "--legacy-peer-deps", "--no-audit", "--no-fund"], { cwd: folder });
const { dependencies } = await readJson("package.json");
for (const [name, wanted] of Object.entries(dependencies)) {
  const { version } = await readJson(`node_modules/${name}/package.json`);
  if (version !== wanted) {
    console.error(`Expected ${name} ${wanted}, found ${version}. Remove bench/peers/node_modules and try again.`);
    process.exit(1);
  }
}
console.log("Installed. `npm run bench -- turn` includes them.");
