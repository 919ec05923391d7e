import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { agents } from "../agents.bench.ts";
import { busy } from "../busy.bench.ts";
import { compare } from "../compare.bench.ts";
import { fanout } from "../fanout.bench.ts";
import { guard } from "../guard.bench.ts";
import { hook } from "../hook.bench.ts";
import { memory } from "../memory.bench.ts";
import { middleware } from "../middleware.bench.ts";
import { sandbox } from "../sandbox.bench.ts";
import { start } from "../start.bench.ts";
import { stream } from "../stream.bench.ts";
import { subagents } from "../subagents.bench.ts";
import { team } from "../team.bench.ts";
import { turn } from "../turn.bench.ts";
import { userAgent } from "../user-agent.bench.ts";
import { waiting } from "../waiting.bench.ts";
import { workspace } from "../workspace.bench.ts";
import type { Bench } from "./bench.ts";
import { listProcessTree } from "./process.ts";
import { report } from "./report.ts";

const all = [
  start,
  memory,
  guard,
  turn,
  subagents,
  middleware,
  fanout,
  stream,
  agents,
  hook,
  sandbox,
  workspace,
  busy,
  waiting,
  userAgent,
  team,
];
const names = [...all, { name: "compare" }].map(({ name }) => name).join(", ");
const help = `Usage: npm run bench -- [name ...]

Runs the named benchmarks, or all but "compare" if none is named:
  ${names}

  npm run bench -- compare --base <folder> [--pairs <n>]

Measures the CPU time per turn of this build and of another one alternately, and fails if a median ratio is above 1.10.

  --base <folder>  another checkout of this repository, installed and built (npm ci && npm run build)
  --pairs <n>      how often both builds are measured (default 10)
  --help           show this help`;

const selected = readArguments();
// Stopping a benchmark also stops the processes it started.
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    for (const pid of listProcessTree([process.pid])) if (pid !== process.pid) process.kill(pid, "SIGKILL");
    process.exit(130);
  });
}
const folder = fileURLToPath(new URL("../results", import.meta.url));
const allGoalsMet = await report(selected, folder);
process.exit(allGoalsMet ? 0 : 1);

function readArguments(): Bench[] {
  const options = {
    base: { type: "string" },
    pairs: { type: "string", default: "10" },
    help: { type: "boolean" },
  } as const;
  let parsed: ReturnType<typeof parseArgs<{ options: typeof options; allowPositionals: true }>>;
  try {
    parsed = parseArgs({ options, allowPositionals: true });
  } catch (error) {
    return exitWithUsage((error as Error).message);
  }
  const { values, positionals } = parsed;
  if (values.help) {
    console.log(help);
    process.exit(0);
  }
  const unknown = positionals.filter((name) => name !== "compare" && !all.some((bench) => bench.name === name));
  if (unknown.length > 0) return exitWithUsage(`Unknown benchmark: ${unknown.join(", ")}.`);
  const chosen: Bench[] = all.filter((bench) => positionals.length === 0 || positionals.includes(bench.name));
  if (!positionals.includes("compare"))
    return values.base ? exitWithUsage("--base is only valid with the benchmark compare.") : chosen;
  const pairs = Number(values.pairs);
  if (!values.base) return exitWithUsage("compare needs --base <folder>: the checkout to compare with.");
  if (!Number.isInteger(pairs) || pairs < 1) return exitWithUsage("--pairs must be a positive integer.");
  return [...chosen, compare({ base: values.base, pairs })];
}

function exitWithUsage(reason: string): never {
  console.error(`${reason}\n\n${help}`);
  process.exit(2);
}
