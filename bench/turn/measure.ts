import type { ModelServer } from "../kit/model.ts";
import { canTrace, measureProcessorTime, countSyncsDuring } from "../kit/process.ts";
import type { RunningSubject, Subject } from "../kit/subject.ts";

const concurrentAgents = 32;
const turnsPerAgent = 4;
/** Throughput is measured only in some rounds, because it takes slow subjects long. */
const roundsPerThroughput = 3;
/** Turns per agent before and while measuring; few, so that histories stay short in every subject. */
const warmUpTurns = 2;
const measuredTurns = 10;
const tracedTurns = 10;

export interface Measured {
  subject: Subject;
  /** Milliseconds of each turn of a single agent. */
  alone: number[];
  /** Turns per second with 32 agents, and milliseconds of CPU time per turn, once per round. */
  throughput: number[];
  processor: number[];
  syncs: number | undefined;
  /** Kilobytes sent to the model in the first turn of an agent. */
  kilobytes: number;
}

interface RunningMeasurement extends Measured {
  running: RunningSubject;
}

/** Measures all subjects alternately, so that other load on the machine affects all of them. */
export async function measure(
  subjects: Subject[],
  model: ModelServer,
  deltas: number,
  rounds: number,
): Promise<Measured[]> {
  const measurements: RunningMeasurement[] = [];
  try {
    for (const subject of subjects) {
      const running = await subject.start(model.base, `zero-${deltas}`);
      measurements.push({
        subject,
        running,
        alone: [],
        throughput: [],
        processor: [],
        syncs: undefined,
        kilobytes: NaN,
      });
    }
    for (const measurement of measurements) await measureRequestSize(measurement, model);
    for (let round = 0; round < rounds; round++) {
      for (const measurement of measurements) await measureLatency(measurement, `alone-${round}`);
      if (round % roundsPerThroughput === 0)
        for (const measurement of measurements) await measureThroughput(measurement, `together-${round}`);
    }
    if (canTrace()) for (const measurement of measurements) await measureSyncs(measurement);
  } finally {
    await Promise.all(measurements.map(({ running }) => running.stop()));
  }
  return measurements;
}

async function measureRequestSize(measurement: RunningMeasurement, model: ModelServer): Promise<void> {
  await measurement.running.turn("warm");
  await model.reset();
  await measurement.running.turn("first");
  const { calls, bytes } = await model.stats();
  if (calls < 2)
    throw new Error(
      `${measurement.subject.name} finished a turn with only ${calls} model calls; its tool was not called.`,
    );
  measurement.kilobytes = bytes / 1024;
}

async function measureLatency(measurement: RunningMeasurement, agent: string): Promise<void> {
  for (let turn = 0; turn < warmUpTurns; turn++) await measurement.running.turn(agent);
  for (let turn = 0; turn < measuredTurns; turn++) {
    const startedAt = performance.now();
    await measurement.running.turn(agent);
    measurement.alone.push(performance.now() - startedAt);
  }
}

async function measureThroughput(
  { running, throughput, processor }: RunningMeasurement,
  prefix: string,
): Promise<void> {
  const agents = Array.from({ length: concurrentAgents }, (_, number) => `${prefix}-${number}`);
  await Promise.all(agents.map((agent) => running.turn(agent)));
  const processorTime = measureProcessorTime(running.pids());
  const startedAt = performance.now();
  await Promise.all(
    agents.map(async (agent) => {
      for (let turn = 0; turn < turnsPerAgent; turn++) await running.turn(agent);
    }),
  );
  const turns = concurrentAgents * turnsPerAgent;
  throughput.push((turns / (performance.now() - startedAt)) * 1000);
  processor.push((measureProcessorTime(running.pids()) - processorTime) / turns);
}

async function measureSyncs(measurement: RunningMeasurement): Promise<void> {
  const { running } = measurement;
  await running.turn("traced");
  const syncs = await countSyncsDuring(running.pids(), async () => {
    for (let turn = 0; turn < tracedTurns; turn++) await running.turn("traced");
  });
  measurement.syncs = syncs / tracedTurns;
}
