// `npm run bench:peers`: installs what the benches run beside us, and checks that the versions asked for are those that came.
import { readFile } from "node:fs/promises";
import { root } from "./root.mjs";
import { must } from "./run.mjs";

const folder = `${root}bench/peers`;
const read = async (file) => JSON.parse(await readFile(`${folder}/${file}`, "utf8"));

// Some peers name further packages that only other uses of them need.
await must("npm", ["ci", "--legacy-peer-deps", "--no-audit", "--no-fund"], { cwd: folder });
const { dependencies } = await read("package.json");
for (const [name, wanted] of Object.entries(dependencies)) {
  const { version } = await read(`node_modules/${name}/package.json`);
  if (version !== wanted) {
    console.error(`${name} should be ${wanted} and is ${version}. Remove bench/peers/node_modules and try again.`);
    process.exit(1);
  }
}
console.log("The peers are installed. `npm run bench -- turn` measures them beside us.");
