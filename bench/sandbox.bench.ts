import { spawn } from "node:child_process";
import { once } from "node:events";
import http from "node:http";
import { send } from "../tests/kit/wire.ts";
import { startBareWorker } from "../tests/kit/workerd.ts";
import { type Bench, type Finding, getMedian, compareMedians } from "./kit/bench.ts";
import { openRunners, type Runners, runsATurn } from "./sandbox/runners.ts";

const rounds = 15;
/** The most that was used in the first and in the last of so many runs: in between, processes are replaced by new ones. */
const window = 200;
const runs = 2000;
const together = 4;

export const sandbox: Bench = {
  name: "sandbox",
  about:
    "one line of code by executeCode on a warm slot of a whole host; what it costs, how often it can be had, what it leaves",
  async run() {
    return [
      ...(await withRunners(together, oneLine)),
      ...(await withRunners(together, manyAgents)),
      ...(await withRunners(1, afterMany)),
    ];
  },
};

async function withRunners(slots: number, measure: (runners: Runners) => Promise<Finding[]>): Promise<Finding[]> {
  const runners = await openRunners(slots);
  try {
    return await measure(runners);
  } finally {
    await runners.stop();
  }
}

/** The call's own time, as the log has it, against a process of Node and against an isolate with nothing around it. */
async function oneLine(runners: Runners): Promise<Finding[]> {
  const loader = await startBareWorker(new URL("sandbox/loader.worker.ts", import.meta.url), {
    bindings: [`(name = "LOADER", workerLoader = (id = "bare"))`],
    sandbox: "service",
  });
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const bare = { port: Number(new URL(loader.url).port), path: "/", method: "POST", body: "return 1 + 1", agent };
  const runner = await runners.newRunner("one-line");
  await runner.turn();
  const [ours, node, isolate]: number[][] = [[], [], []];
  // In turns, so that whatever else the machine does falls on all.
  for (let round = 0; round < rounds; round++) {
    ours?.push(...(await runner.turn()));
    for (let number = 0; number < runsATurn / 8; number++)
      node?.push(
        await timed(() => once(spawn(process.execPath, ["-e", "console.log(1 + 1)"], { stdio: "ignore" }), "exit")),
      );
    for (let number = 0; number < runsATurn; number++) isolate?.push(await timed(() => send(bare)));
  }
  runner.close();
  agent.destroy();
  await loader.stop();
  const mine: [string, number[]] = ["executeCode, one line", ours ?? []];
  return [
    compareMedians("p50, ours / node -e", mine, ["node -e", node ?? []], 0.5),
    compareMedians("p50, ours / a bare isolate", mine, ["a bare isolate", isolate ?? []], 5),
  ];
}

/** Runs a second, of one agent and of as many as there are slots. */
async function manyAgents(runners: Runners): Promise<Finding[]> {
  const all = await Promise.all(Array.from({ length: together }, (_, index) => runners.newRunner(`together-${index}`)));
  const rates: number[][] = [];
  for (const those of [all.slice(0, 1), all]) {
    await Promise.all(those.map((runner) => runner.turn()));
    const samples: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const ms = await timed(() => Promise.all(those.map((runner) => runner.turn())));
      samples.push((those.length * runsATurn * 1000) / ms);
    }
    rates.push(samples);
  }
  for (const runner of all) runner.close();
  const [one = [], several = []] = rates;
  return [
    {
      what: `${together} agents / one`,
      unit: "runs/s",
      samples: { "one agent": one, [`${together} agents`]: several },
      figure: getMedian(several) / getMedian(one),
      goal: 1,
      atLeast: true,
    },
  ];
}

async function afterMany(runners: Runners): Promise<Finding[]> {
  const runner = await runners.newRunner("many");
  const seen: Record<"slots" | "main", [first: number[], last: number[]]> = { slots: [[], []], main: [[], []] };
  for (let made = 0; made < runs; made += runsATurn) {
    let isOver = false;
    const turn = runner.turn().finally(() => (isOver = true));
    const when = made < window ? 0 : made >= runs - window ? 1 : undefined;
    while (when !== undefined && !isOver) {
      const { slots, main } = await runners.megabytes();
      seen.slots[when].push(slots);
      seen.main[when].push(main);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    await turn;
  }
  runner.close();
  return Object.entries(seen).map(([who, [first, last]]) => {
    const name = who === "main" ? "main" : "the slot";
    return {
      what: `memory of ${name}, last / first`,
      unit: "MB" as const,
      samples: { [`${name}, first ${window} of ${runs} runs`]: first, [`${name}, last ${window}`]: last },
      figure: Math.max(...last) / Math.max(...first),
      goal: 1.1,
    };
  });
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}
