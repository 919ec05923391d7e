import { fileURLToPath } from "node:url";
import { agents } from "../agents.bench.ts";
import { fanout } from "../fanout.bench.ts";
import { guard } from "../guard.bench.ts";
import { hook } from "../hook.bench.ts";
import { memory } from "../memory.bench.ts";
import { middleware } from "../middleware.bench.ts";
import { sandbox } from "../sandbox.bench.ts";
import { start } from "../start.bench.ts";
import { stream } from "../stream.bench.ts";
import { turn } from "../turn.bench.ts";
import { workspace } from "../workspace.bench.ts";
import { tree } from "./process.ts";
import { report } from "./report.ts";

const all = [start, memory, guard, turn, middleware, fanout, stream, agents, hook, sandbox, workspace];
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !all.some((bench) => bench.name === name));
if (unknown.length > 0) {
  console.error(`There is no bench ${unknown.join(", ")}. There are: ${all.map((bench) => bench.name).join(", ")}.`);
  process.exit(2);
}
// Whoever stops a bench stops what it started.
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    for (const pid of tree([process.pid])) if (pid !== process.pid) process.kill(pid, "SIGKILL");
    process.exit(130);
  });
}
const folder = fileURLToPath(new URL("../results", import.meta.url));
const met = await report(all.filter((bench) => wanted.length === 0 || wanted.includes(bench.name)), folder);
process.exit(met ? 0 : 1);
