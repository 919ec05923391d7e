import { findHomeProcesses, findMain } from "../../tests/kit/processes.ts";
import { compareMedians, type Finding, getMedian } from "../kit/bench.ts";
import type { ModelServer } from "../kit/model.ts";
import { measureResidentMegabytes } from "../kit/process.ts";
import { AgentSocket, type Subject } from "../kit/subject.ts";
import { startTeam } from "./ours.ts";

const childMs = 200;
const warmUpTurns = 2;

/**
 * Milliseconds of turns that delegate to so many sub-agents and wait for all of them. All subjects and sizes take
 * turns, so that other load on the machine affects all of them.
 */
export async function measureTeams(
  subjects: readonly Subject[],
  model: ModelServer,
  sizes: readonly number[],
  rounds: number,
): Promise<{ name: string; samples: Map<number, number[]> }[]> {
  const running = await Promise.all(
    subjects.map(async (subject) => ({
      name: subject.name,
      samples: new Map(sizes.map((size) => [size, [] as number[]])),
      ...(await subject.start(model.base, `fan-${childMs}`)),
    })),
  );
  try {
    for (const { name, turn } of running) {
      for (const size of sizes) {
        await turn(`warm-${size}`);
        await model.reset();
        await turn(`warm-${size}`);
        const { calls } = await model.stats();
        // The parent twice, and each sub-agent at least once.
        if (calls < size + 2) throw new Error(`${name} made ${calls} model calls for ${size} sub-agents.`);
      }
    }
    for (let round = 0; round < rounds; round++) {
      for (const size of sizes) {
        for (const { turn, samples } of running) {
          await turn(`team-${size}-${round}`);
          const startedAt = performance.now();
          await turn(`team-${size}-${round}`);
          samples.get(size)?.push(performance.now() - startedAt);
        }
      }
    }
  } finally {
    await Promise.all(running.map(({ stop }) => stop()));
  }
  return running;
}

/** From the call of the tool to the first model call of the sub-agent, compared with creating an agent and writing to it. */
export async function measureSpawn(model: ModelServer, rounds: number): Promise<Finding> {
  const team = await startTeam(model.base, "fan-0");
  const spawned: number[] = [];
  const created: number[] = [];
  const getTime = () => performance.timeOrigin + performance.now();
  try {
    for (let round = 0; round < rounds + warmUpTurns; round++) {
      await team.turn(`parent-1-${round}`);
      await model.reset();
      await team.turn(`parent-1-${round}`);
      const { arrivals, delegatedAt } = await model.stats();
      const first = arrivals.find((at) => at >= delegatedAt) ?? NaN;

      await model.reset();
      const startedAt = getTime();
      await team.subject.create(`new-${round}`, "fan-0");
      const socket = await AgentSocket.open(team.subject.dial(`new-${round}`));
      await socket.runTurn("Say one word.");
      socket.close();
      const { arrivals: top } = await model.stats();
      if (round < warmUpTurns) continue;
      spawned.push(first - delegatedAt);
      created.push((top[0] ?? NaN) - startedAt);
    }
  } finally {
    await team.stop();
  }
  return compareMedians(
    "spawn to first model call / new agent",
    ["a sub-agent", spawned],
    ["a new agent", created],
    1.5,
  );
}

/** What 32 sub-agents that each run one command need: memory of main, and sandbox processes. */
export async function measureResources(model: ModelServer, rounds: number): Promise<Finding[]> {
  const count = 32;
  const team = await startTeam(model.base, `fan-${childMs}-bash`);
  const { host } = team.subject;
  const countSandboxes = () =>
    findHomeProcesses(host.home).filter(({ command }) => /^\S*workerd serve .*sandbox-\d+/.test(command)).length;
  const readSlots = async () => {
    const response = await fetch(`${host.url}/health`, { headers: { authorization: `Bearer ${host.token}` } });
    return ((await response.json()) as { sandboxes: unknown[] }).sandboxes.length;
  };
  const megabytes: number[] = [];
  let sandboxes = 0;
  let slots = 0;
  try {
    for (let round = 0; round <= warmUpTurns; round++) await team.turn(`warm-${count}`);
    slots = await readSlots();
    for (let round = 0; round < rounds; round++) {
      await team.turn(`team-${count}-${round}`);
      const pids = [findMain(host.home)?.pid ?? 0];
      const before = measureResidentMegabytes(pids);
      let peak = before;
      const timer = setInterval(() => {
        peak = Math.max(peak, measureResidentMegabytes(pids));
        sandboxes = Math.max(sandboxes, countSandboxes());
      }, 50);
      await team.turn(`team-${count}-${round}`);
      clearInterval(timer);
      megabytes.push((Math.max(peak, measureResidentMegabytes(pids)) - before) / count);
    }
  } finally {
    await team.stop();
  }
  return [
    {
      what: `main per sub-agent with a command, ${count} at once`,
      unit: "MB",
      samples: { ours: megabytes },
      figure: getMedian(megabytes),
      goal: 2,
    },
    {
      what: `sandbox processes / slots, ${count} at once`,
      unit: "processes",
      samples: { processes: [sandboxes], slots: [slots] },
      figure: sandboxes / slots,
      goal: 1,
    },
  ];
}
