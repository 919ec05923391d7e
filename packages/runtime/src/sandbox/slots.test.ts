import { expect, test } from "vitest";
import { createRandom } from "../../../../tests/kit/random.ts";
import type { Lease } from "./lease.ts";
import { type LeaseTerms, Slots } from "./slots.ts";

/** The daemon's side: generations, and who must never be found in the same process. */
function createProcesses(count: number, runsEach = 1000) {
  const generations = Array.from({ length: count }, () => 1);
  const ends = generations.map(() => new Map<number, "asked" | "crash">());
  const renewals: number[] = [];
  let broken = false;
  let bytes = 10;
  const slots = new Slots(
    count,
    {
      memory: async () => bytes,
      async renew(index, generation) {
        await new Promise((resolve) => setTimeout(resolve, 1));
        if (broken) throw new Error("cannot start");
        if (generation === generations[index]) {
          generations[index] = generation + 1;
          ends[index]?.set(generation, "asked");
          renewals.push(index);
        }
        const ended = ends[index]?.get(generation);
        return { generation: generations[index] as number, ...(ended ? { ended } : {}) };
      },
    },
    { runs: runsEach, bytes: 1000, restMs: 5 },
  );
  const processOf = ({ index }: Lease) => `${index}:${generations[index]}`;
  const crash = (index: number) => {
    const generation = generations[index] as number;
    ends[index]?.set(generation, "crash");
    generations[index] = generation + 1;
  };
  return {
    slots,
    renewals,
    processOf,
    crash,
    break: (now: boolean) => (broken = now),
    grow: (to: number) => (bytes = to),
  };
}

const terms = (agent: string, more: Partial<LeaseTerms> = {}): LeaseTerms => ({
  agent,
  shared: false,
  maxMs: 10_000,
  waitMs: 10_000,
  signal: new AbortController().signal,
  onPlace() {},
  ...more,
});

/** One after the other, so that what a timer begins has its own timers run in between, however busy the machine is. */
const settle = async () => {
  for (let round = 0; round < 6; round++) await new Promise((resolve) => setTimeout(resolve, 6));
};

test("an agent keeps its process from run to run, and no other agent ever gets it", async () => {
  const { slots, processOf } = createProcesses(1);
  const first = await slots.lease(terms("a"));
  const process = processOf(first);
  first.release();
  const again = await slots.lease(terms("a"));
  expect(processOf(again)).toBe(process);
  again.release();
  const other = await slots.lease(terms("b"));
  expect(processOf(other)).not.toBe(process);
  other.release();
});

test("with several slots, one that nobody has used is ready for whoever comes next", async () => {
  const { slots, renewals } = createProcesses(2);
  for (const agent of ["a", "b", "c"]) {
    const lease = await slots.lease(terms(agent));
    lease.release();
    await settle();
  }
  const before = renewals.length;
  const lease = await slots.lease(terms("d"));
  expect(renewals).toHaveLength(before);
  lease.release();
});

test("while one process is made ready for whoever comes next, not another one is", async () => {
  const { slots, renewals } = createProcesses(2);
  for (const agent of ["a", "b", "b"]) (await slots.lease(terms(agent))).release();
  await settle();
  expect(renewals).toEqual([0]);
});

test("what serves an app stays as it is while others run, and while another process is made ready", async () => {
  const { slots, processOf } = createProcesses(2);
  const use = async (agent: string, shared: boolean) => {
    const lease = await slots.lease(terms(agent, { shared }));
    const process = processOf(lease);
    lease.release();
    return process;
  };
  await use("b", false);
  const process = await use("a", true);
  // At once, while the other slot gets another process, and after that.
  expect(await use("a", true)).toBe(process);
  expect(await use("a", true)).toBe(process);
  for (const other of ["b", "c", "d"]) {
    await settle();
    await use(other, false);
    expect([other, await use("a", true)]).toEqual([other, process]);
  }
  // But nobody has to wait for it.
  const run = await slots.lease(terms("b"));
  expect(await use("c", false)).not.toBe(process);
  run.release();
});

test("who waits is told how many go first, in the order in which they came", async () => {
  const { slots } = createProcesses(1);
  const holder = await slots.lease(terms("a"));
  const places: Record<string, number[]> = { b: [], c: [] };
  const order: string[] = [];
  const wait = async (agent: string) => {
    const lease = await slots.lease(terms(agent, { onPlace: (before) => places[agent]?.push(before) }));
    order.push(agent);
    lease.release();
  };
  const waiting = [wait("b"), wait("c")];
  expect(slots.waitingCount).toBe(2);
  holder.release();
  // Whoever comes at the very moment is not served before those who wait.
  waiting.push(wait("d"));
  await Promise.all(waiting);
  expect(order).toEqual(["b", "c", "d"]);
  expect(places).toEqual({ b: [0], c: [1, 0] });
  expect(slots.waitingCount).toBe(0);
});

test("who has waited long enough, or wants it no more, leaves the line", async () => {
  const { slots } = createProcesses(1);
  const holder = await slots.lease(terms("a"));
  await expect(slots.lease(terms("b", { waitMs: 1 }))).rejects.toThrow("No sandbox was free");
  const stopping = new AbortController();
  const waiting = slots.lease(terms("c", { signal: stopping.signal }));
  stopping.abort(new Error("not any more"));
  await expect(waiting).rejects.toThrow("not any more");
  holder.release();
  (await slots.lease(terms("d"))).release();
});

test("a holder that is gone without a word loses its slot when its time is over, and its process goes", async () => {
  const { slots, processOf } = createProcesses(1);
  const forgotten = await slots.lease(terms("a", { maxMs: -20_000 }));
  const process = processOf(forgotten);
  const next = await slots.lease(terms("a"));
  expect(processOf(next)).not.toBe(process);
  // The old holder comes back late: it gives back nothing that is another's.
  forgotten.release();
  expect(slots.status()).toEqual([{ agent: "a", runs: 1 }]);
  next.release();
});

test("a holder that vanishes leaves no code running: its process is replaced at once, and whoever waits goes on", async () => {
  const { slots, processOf } = createProcesses(1);
  const vanished = await slots.lease(terms("a"));
  const process = processOf(vanished);
  const waiting = slots.lease(terms("a"));
  vanished.abandon();
  const next = await waiting;
  expect(processOf(next)).not.toBe(process);
  // Said twice, and after the slot is another's.
  vanished.abandon();
  expect(slots.status()).toEqual([{ agent: "a", runs: 1 }]);
  next.release();
  // What was given back, or is being lost, is not abandoned.
  next.abandon();
  const again = await slots.lease(terms("a"));
  expect(processOf(again)).toBe(processOf(next));
  const losing = again.lose(true);
  again.abandon();
  expect(await losing).toBe("asked");
  (await slots.lease(terms("a"))).release();
});

test("who leaves the line does so at once, and those behind move up", async () => {
  const { slots } = createProcesses(1);
  const holder = await slots.lease(terms("a"));
  const leaving = new AbortController();
  const first = slots.lease(terms("b", { signal: leaving.signal })).catch((error: Error) => error.message);
  const places: number[] = [];
  const second = slots.lease(terms("c", { onPlace: (before) => places.push(before) }));
  leaving.abort(new Error("left"));
  // Not when it would look again by itself.
  expect(await Promise.race([first, new Promise((resolve) => setTimeout(resolve, 50))])).toBe("left");
  expect(slots.waitingCount).toBe(1);
  await Promise.resolve();
  expect(places).toEqual([1, 0]);
  holder.release();
  (await second).release();
});

test("requests of one app share a process, runs of code share with nobody", async () => {
  const { slots, processOf } = createProcesses(2);
  const one = await slots.lease(terms("a", { shared: true }));
  const two = await slots.lease(terms("a", { shared: true }));
  expect(processOf(one)).toBe(processOf(two));
  const run = await slots.lease(terms("a"));
  expect(processOf(run)).not.toBe(processOf(one));
  const third = await slots.lease(terms("a", { shared: true }));
  expect(processOf(third)).toBe(processOf(one));
  third.release();
  // One of them loses it, and the other too; both say so, and only one process is replaced.
  const lost = processOf(one);
  expect(await one.lose(true)).toBe("asked");
  await two.lose(true);
  run.release();
  const after = await slots.lease(terms("a", { shared: true }));
  expect(processOf(after)).not.toBe(lost);
  after.release();
  // Nor does a request join a run of code.
  const busy = [await slots.lease(terms("a")), await slots.lease(terms("a"))];
  await expect(slots.lease(terms("a", { shared: true, waitMs: 1 }))).rejects.toThrow("No sandbox was free");
  for (const lease of busy) lease.release();
});

test("a process that ended unnoticed has a successor that is nobody's secret: it is ended too, or not shared", async () => {
  const { slots, processOf, crash } = createProcesses(1);
  const first = await slots.lease(terms("a"));
  first.release();
  crash(0);
  // What comes now runs in the successor without knowing it.
  const spinning = await slots.lease(terms("a"));
  const process = processOf(spinning);
  expect(await spinning.lose(false)).toBe("asked");
  const after = await slots.lease(terms("a"));
  expect(processOf(after)).not.toBe(process);
  after.release();
  crash(0);
  const again = await slots.lease(terms("a"));
  const used = processOf(again);
  again.release();
  const other = await slots.lease(terms("b"));
  expect(processOf(other)).not.toBe(used);
  other.release();
});

test("nothing is left for an agent of the same name", async () => {
  const { slots, processOf } = createProcesses(1);
  const first = await slots.lease(terms("a"));
  const process = processOf(first);
  first.release();
  await slots.forget("a");
  const second = await slots.lease(terms("a"));
  const next = processOf(second);
  expect(next).not.toBe(process);
  // Nor does its code go on, though nobody is left to give the slot back.
  await slots.forget("a");
  expect(processOf(second)).not.toBe(next);
  expect(slots.status()).toEqual([{ runs: 0 }]);
  second.release();
});

test("a process is replaced after so many runs", async () => {
  const { slots, processOf } = createProcesses(1, 3);
  const seen = new Set<string>();
  for (let run = 0; run < 7; run++) {
    const lease = await slots.lease(terms("a"));
    seen.add(processOf(lease));
    lease.release();
  }
  expect(seen.size).toBe(3);
});

test("a process that is given back as spent is not used again", async () => {
  const { slots, processOf } = createProcesses(1);
  const first = await slots.lease(terms("a"));
  const process = processOf(first);
  first.release(true);
  const next = await slots.lease(terms("a"));
  expect(processOf(next)).not.toBe(process);
  next.release();
});

test("a process that code has left swollen is replaced", async () => {
  const { slots, processOf, grow } = createProcesses(1);
  const first = await slots.lease(terms("a"));
  const process = processOf(first);
  grow(2000);
  first.release();
  await settle();
  grow(10);
  const next = await slots.lease(terms("a"));
  expect(processOf(next)).not.toBe(process);
  next.release();
});

test("a slot whose process cannot be replaced is refused to those who come, and works when it can", async () => {
  const { slots, break: breakDown } = createProcesses(1);
  breakDown(true);
  await expect(slots.lease(terms("a"))).rejects.toThrow("cannot start");
  breakDown(false);
  (await slots.lease(terms("a"))).release();
});

test("whatever many agents do, a process is only ever of one of them, and everybody gets their turn", async () => {
  const { pick, below, chance } = createRandom("slots");
  const { slots, processOf } = createProcesses(3, 5);
  const owners = new Map<string, string>();
  const busy = new Map<string, number>();
  const agent = async (name: string) => {
    for (let turn = 0; turn < 20; turn++) {
      const shared = chance(0.3);
      const lease = await slots.lease(terms(name, { shared }));
      const process = processOf(lease);
      expect(owners.get(process) ?? name).toBe(name);
      owners.set(process, name);
      if (!shared) expect(busy.get(process) ?? 0).toBe(0);
      busy.set(process, (busy.get(process) ?? 0) + 1);
      await new Promise((resolve) => setTimeout(resolve, below(3)));
      busy.set(process, (busy.get(process) ?? 1) - 1);
      if (!shared && chance(0.2)) await lease.lose(pick([true, false]));
      else lease.release();
    }
  };
  await Promise.all(Array.from({ length: 12 }, (_, index) => agent(`agent-${index % 6}`)));
  await settle();
  expect(slots.waitingCount).toBe(0);
  expect(slots.status().every((slot) => slot.agent === undefined)).toBe(true);
}, 30_000);
