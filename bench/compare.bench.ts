import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Bench, type Finding, getMedian } from "./kit/bench.ts";
import { openHostSubject, type HostSubject } from "./kit/host-subject.ts";
import { type ModelServer, startModelServer } from "./kit/model.ts";
import { measureProcessorTime } from "./kit/process.ts";
import { SocketPool } from "./kit/subject.ts";

/** How much slower than the base a figure may be. */
const maxRatio = 1.1;
const agentsAtOnce = 32;
const turnsEach = 4;

export interface CompareOptions {
  /** Another checkout of this repository, already built. */
  base: string;
  /** How often both builds are measured, one right after the other. */
  pairs: number;
}

interface Build {
  name: "base" | "this";
  subject: HostSubject;
  sockets: SocketPool;
}

/** CPU time in ms: for creating an agent and its first turn, and for each further turn. */
interface Sample {
  first: number;
  turn: number;
}

/**
 * Measures this build against another one. Other work on the machine changes wall times a lot and CPU time a little,
 * so both builds run side by side, take turns in alternating order, and each pair gives one ratio.
 */
export function compare({ base, pairs }: CompareOptions): Bench {
  return {
    name: "compare",
    about: `CPU time per turn against the build in ${base}, ${agentsAtOnce} agents at once, median of ${pairs} pairs`,
    async run() {
      const program = join(resolve(base), "packages/daemon/dist/thinkery.js");
      if (!existsSync(program))
        throw new Error(`No build found in ${base}. Run \`npm ci && npm run build\` there first.`);
      const model = await startModelServer();
      try {
        return [...(await compareAt(8, model, program, pairs)), ...(await compareAt(200, model, program, pairs))];
      } finally {
        await model.stop();
      }
    },
  };
}

async function compareAt(deltas: number, model: ModelServer, program: string, pairs: number): Promise<Finding[]> {
  const builds: Build[] = [];
  const samples: Record<Build["name"], Sample[]> = { base: [], this: [] };
  try {
    for (const name of ["base", "this"] as const) {
      const subject = await openHostSubject(model.base, name === "base" ? program : undefined);
      builds.push({ name, subject, sockets: new SocketPool(subject.dial) });
    }
    for (const build of builds) await takeSample(build, "warm-up", deltas);
    for (let pair = 0; pair < pairs; pair++) {
      for (const build of pair % 2 ? builds.toReversed() : builds) {
        samples[build.name].push(await takeSample(build, `pair-${pair}`, deltas));
      }
    }
  } finally {
    for (const { sockets, subject } of builds) {
      await sockets.close();
      await subject.host.stop();
    }
  }
  return [
    createFinding(`CPU per turn, ${deltas} deltas`, samples, ({ turn }) => turn),
    createFinding(`CPU per agent and first turn, ${deltas} deltas`, samples, ({ first }) => first),
  ];
}

async function takeSample({ subject, sockets }: Build, prefix: string, deltas: number): Promise<Sample> {
  const agents = Array.from({ length: agentsAtOnce }, (_, number) => `${prefix}-${number}`);
  const start = measureProcessorTime(subject.pids());
  await Promise.all(
    agents.map(async (agent) => {
      await subject.create(agent, `zero-${deltas}`);
      await sockets.runTurn(agent);
    }),
  );
  const created = measureProcessorTime(subject.pids());
  await Promise.all(
    agents.map(async (agent) => {
      for (let turn = 0; turn < turnsEach; turn++) await sockets.runTurn(agent);
    }),
  );
  const end = measureProcessorTime(subject.pids());
  return { first: (created - start) / agentsAtOnce, turn: (end - created) / (agentsAtOnce * turnsEach) };
}

function createFinding(
  what: string,
  { base, this: ours }: Record<Build["name"], Sample[]>,
  pick: (sample: Sample) => number,
): Finding {
  const [before, after] = [base.map(pick), ours.map(pick)];
  const ratios = after.map((value, pair) => value / (before[pair] ?? NaN));
  return {
    what,
    unit: "ms",
    samples: { base: before, "this build": after },
    figure: getMedian(ratios),
    goal: maxRatio,
  };
}
