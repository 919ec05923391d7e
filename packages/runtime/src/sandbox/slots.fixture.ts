import type { Lease } from "./lease.ts";
import { type LeaseTerms, type SlotLimits, Slots } from "./slots.ts";

/** A daemon that only counts generations of processes. */
export function createProcesses(count: number, limits: Partial<SlotLimits> = {}) {
  const generations = Array.from({ length: count }, () => 1);
  const ends = generations.map(() => new Map<number, "asked" | "crash" | "silence">());
  const renewals: number[] = [];
  let isBroken = false;
  let bytes = 10;
  const slots = new Slots(
    count,
    {
      inspect: async () => generations.map((generation) => ({ generation, memoryBytes: bytes })),
      async renew(index, generation) {
        await new Promise((resolve) => setTimeout(resolve, 1));
        if (isBroken) throw new Error("cannot start");
        if (generation === generations[index]) {
          generations[index] = generation + 1;
          ends[index]?.set(generation, "asked");
          renewals.push(index);
        }
        const ended = ends[index]?.get(generation);
        return { generation: generations[index] as number, ...(ended ? { ended } : {}) };
      },
    },
    {
      runs: 1000,
      bytes: 1000,
      isolates: 1000,
      restMs: 5,
      memoryCheckMs: 5,
      fairMs: 60_000,
      drainMs: 60_000,
      ...limits,
    },
  );
  const getProcess = ({ index }: Lease) => `${index}:${generations[index]}`;
  const crash = (index: number, cause: "crash" | "silence" = "crash") => {
    const generation = generations[index] as number;
    ends[index]?.set(generation, cause);
    generations[index] = generation + 1;
  };
  return {
    slots,
    renewals,
    getProcess,
    crash,
    setBroken: (value: boolean) => (isBroken = value),
    setMemory: (value: number) => (bytes = value),
  };
}

export const createTerms = (agent: string, more: Partial<LeaseTerms> = {}): LeaseTerms => ({
  agent,
  shared: false,
  maxMs: 10_000,
  waitMs: 10_000,
  signal: new AbortController().signal,
  onPlace() {},
  ...more,
});
