import { spawn } from "node:child_process";
import { once } from "node:events";
import http from "node:http";
import { send } from "../tests/kit/wire.ts";
import { startBareWorker } from "../tests/kit/workerd.ts";
import { type Bench, type Finding, getMedian, compareMedians } from "./kit/bench.ts";
import { openRunners, type Runners, runsPerTurn } from "./sandbox/runners.ts";

const rounds = 15;
/** Memory is compared between the first and the last runs; in between, processes are replaced. */
const windowRuns = 200;
const runs = 2000;
const concurrentAgents = 4;

export const sandbox: Bench = {
  name: "sandbox",
  about: "one line of code by executeCode on a warm slot of a whole host: latency, throughput and memory",
  async run() {
    return [
      ...(await withRunners(concurrentAgents, measureLatency)),
      ...(await withRunners(concurrentAgents, measureThroughput)),
      ...(await withRunners(1, measureMemory)),
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

/** Compares the duration of a call, as logged, with a Node process and with a bare isolate. */
async function measureLatency(runners: Runners): Promise<Finding[]> {
  const loader = await startBareWorker(new URL("sandbox/loader.worker.ts", import.meta.url), {
    bindings: [`(name = "LOADER", workerLoader = (id = "bare"))`],
    sandbox: "service",
  });
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const bare = { port: Number(new URL(loader.url).port), path: "/", method: "POST", body: "return 1 + 1", agent };
  const runner = await runners.newRunner("one-line");
  await runner.turn();
  const [ours, node, isolate]: number[][] = [[], [], []];
  // Alternating, so that other load on the machine affects all.
  for (let round = 0; round < rounds; round++) {
    ours?.push(...(await runner.turn()));
    for (let number = 0; number < runsPerTurn / 8; number++)
      node?.push(
        await measureMs(() => once(spawn(process.execPath, ["-e", "console.log(1 + 1)"], { stdio: "ignore" }), "exit")),
      );
    for (let number = 0; number < runsPerTurn; number++) isolate?.push(await measureMs(() => send(bare)));
  }
  runner.close();
  agent.destroy();
  await loader.stop();
  const calls: [string, number[]] = ["executeCode, one line", ours ?? []];
  return [
    compareMedians("p50, ours / node -e", calls, ["node -e", node ?? []], 0.5),
    compareMedians("p50, ours / a bare isolate", calls, ["a bare isolate", isolate ?? []], 5),
  ];
}

/** Compares the runs per second of one agent with those of as many agents as there are slots. */
async function measureThroughput(runners: Runners): Promise<Finding[]> {
  const all = await Promise.all(
    Array.from({ length: concurrentAgents }, (_, index) => runners.newRunner(`runner-${index}`)),
  );
  const rates: number[][] = [];
  for (const active of [all.slice(0, 1), all]) {
    await Promise.all(active.map((runner) => runner.turn()));
    const samples: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const ms = await measureMs(() => Promise.all(active.map((runner) => runner.turn())));
      samples.push((active.length * runsPerTurn * 1000) / ms);
    }
    rates.push(samples);
  }
  for (const runner of all) runner.close();
  const [one = [], several = []] = rates;
  return [
    {
      what: `${concurrentAgents} agents / one`,
      unit: "runs/s",
      samples: { "one agent": one, [`${concurrentAgents} agents`]: several },
      figure: getMedian(several) / getMedian(one),
      goal: 1,
      atLeast: true,
    },
  ];
}

/** Compares the memory of the slot and of main during the first and the last runs. */
async function measureMemory(runners: Runners): Promise<Finding[]> {
  const runner = await runners.newRunner("many");
  const megabytes: Record<"slots" | "main", [first: number[], last: number[]]> = { slots: [[], []], main: [[], []] };
  for (let count = 0; count < runs; count += runsPerTurn) {
    let isOver = false;
    const turn = runner.turn().finally(() => (isOver = true));
    const phase = count < windowRuns ? 0 : count >= runs - windowRuns ? 1 : undefined;
    while (phase !== undefined && !isOver) {
      const { slots, main } = await runners.megabytes();
      megabytes.slots[phase].push(slots);
      megabytes.main[phase].push(main);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    await turn;
  }
  runner.close();
  return Object.entries(megabytes).map(([process, [first, last]]) => {
    const name = process === "main" ? "main" : "the slot";
    return {
      what: `memory of ${name}, last / first`,
      unit: "MB" as const,
      samples: { [`${name}, first ${windowRuns} of ${runs} runs`]: first, [`${name}, last ${windowRuns}`]: last },
      figure: Math.max(...last) / Math.max(...first),
      goal: 1.1,
    };
  });
}

async function measureMs(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}
