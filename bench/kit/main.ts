import { fileURLToPath } from "node:url";
import { guard } from "../guard.bench.ts";
import { memory } from "../memory.bench.ts";
import { start } from "../start.bench.ts";
import { report } from "./report.ts";

const all = [start, memory, guard];
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !all.some((bench) => bench.name === name));
if (unknown.length > 0) {
  console.error(`There is no bench ${unknown.join(", ")}. There are: ${all.map((bench) => bench.name).join(", ")}.`);
  process.exit(2);
}
const folder = fileURLToPath(new URL("../results", import.meta.url));
const met = await report(all.filter((bench) => wanted.length === 0 || wanted.includes(bench.name)), folder);
process.exit(met ? 0 : 1);
