import type { ModelServer } from "../kit/model.ts";
import { canTrace, measureProcessorTime, countSyncsDuring } from "../kit/process.ts";
import type { RunningSubject, Subject } from "../kit/subject.ts";

const agentsAtOnce = 32;
const turnsEach = 4;
/** Every so many rounds all agents work at once, which takes slow subjects long. */
const togetherEvery = 3;
/** Turns that an agent takes before the clock counts, and those it then takes: memories stay short, in every subject alike. */
const warmUp = 2;
const timed = 10;
const traced = 10;

export interface Measured {
  subject: Subject;
  /** Milliseconds of every single turn of an agent that is alone. */
  alone: number[];
  /** Turns a second with 32 agents, and milliseconds of processor time a turn, once a round. */
  throughput: number[];
  processor: number[];
  syncs: number | undefined;
  /** Kilobytes to the model for the first turn of an agent, all calls together. */
  kilobytes: number;
}

interface Entrant extends Measured {
  running: RunningSubject;
}

/** Runs all subjects side by side, in turns, so that whatever else the machine does falls on all of them. */
export async function measure(
  subjects: Subject[],
  model: ModelServer,
  deltas: number,
  rounds: number,
): Promise<Measured[]> {
  const entrants: Entrant[] = [];
  try {
    for (const subject of subjects) {
      const running = await subject.start(model.base, `zero-${deltas}`);
      entrants.push({ subject, running, alone: [], throughput: [], processor: [], syncs: undefined, kilobytes: NaN });
    }
    for (const entrant of entrants) await first(entrant, model);
    for (let round = 0; round < rounds; round++) {
      for (const entrant of entrants) await alone(entrant, `alone-${round}`);
      if (round % togetherEvery === 0) for (const entrant of entrants) await together(entrant, `together-${round}`);
    }
    if (canTrace()) for (const entrant of entrants) await trace(entrant);
  } finally {
    await Promise.all(entrants.map(({ running }) => running.stop()));
  }
  return entrants;
}

async function first(entrant: Entrant, model: ModelServer): Promise<void> {
  await entrant.running.turn("warm");
  await model.reset();
  await entrant.running.turn("first");
  const { calls, bytes } = await model.stats();
  if (calls < 2)
    throw new Error(`${entrant.subject.name} took a turn with ${calls} calls of the model: its tool was not called.`);
  entrant.kilobytes = bytes / 1024;
}

async function alone(entrant: Entrant, agent: string): Promise<void> {
  for (let turn = 0; turn < warmUp; turn++) await entrant.running.turn(agent);
  for (let turn = 0; turn < timed; turn++) {
    const begun = performance.now();
    await entrant.running.turn(agent);
    entrant.alone.push(performance.now() - begun);
  }
}

async function together({ running, throughput, processor }: Entrant, prefix: string): Promise<void> {
  const agents = Array.from({ length: agentsAtOnce }, (_, number) => `${prefix}-${number}`);
  await Promise.all(agents.map((agent) => running.turn(agent)));
  const used = measureProcessorTime(running.pids());
  const begun = performance.now();
  await Promise.all(
    agents.map(async (agent) => {
      for (let turn = 0; turn < turnsEach; turn++) await running.turn(agent);
    }),
  );
  const turns = agentsAtOnce * turnsEach;
  throughput.push((turns / (performance.now() - begun)) * 1000);
  processor.push((measureProcessorTime(running.pids()) - used) / turns);
}

async function trace(entrant: Entrant): Promise<void> {
  const { running } = entrant;
  await running.turn("traced");
  const syncs = await countSyncsDuring(running.pids(), async () => {
    for (let turn = 0; turn < traced; turn++) await running.turn("traced");
  });
  entrant.syncs = syncs / traced;
}
