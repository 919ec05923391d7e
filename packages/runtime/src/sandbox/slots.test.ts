import { expect, test } from "vitest";
import { createRandom } from "../../../../tests/kit/random.ts";
import { createProcesses, createTerms } from "./slots.fixture.ts";

/** Waits several times, so that timers started by timers fire as well, even on a busy machine. */
const settle = async () => {
  for (let round = 0; round < 6; round++) await new Promise((resolve) => setTimeout(resolve, 6));
};

test("an agent keeps its process between runs, and no other agent ever gets it", async () => {
  const { slots, getProcess } = createProcesses(1);
  const first = await slots.lease(createTerms("a"));
  const process = getProcess(first);
  first.release();
  const again = await slots.lease(createTerms("a"));
  expect(getProcess(again)).toBe(process);
  again.release();
  const other = await slots.lease(createTerms("b"));
  expect(getProcess(other)).not.toBe(process);
  other.release();
});

test("with several slots, an unused process is kept ready for the next agent", async () => {
  const { slots, renewals } = createProcesses(2);
  for (const agent of ["a", "b", "c"]) {
    const lease = await slots.lease(createTerms(agent));
    lease.release();
    await settle();
  }
  const before = renewals.length;
  const lease = await slots.lease(createTerms("d"));
  expect(renewals).toHaveLength(before);
  lease.release();
});

test("only one process at a time is prepared for the next agent", async () => {
  const { slots, renewals } = createProcesses(2);
  for (const agent of ["a", "b", "b"]) (await slots.lease(createTerms(agent))).release();
  await settle();
  expect(renewals).toEqual([0]);
});

test("a process that serves an app is kept while others run and while another process is prepared", async () => {
  const { slots, getProcess } = createProcesses(2);
  const use = async (agent: string, shared: boolean) => {
    const lease = await slots.lease(createTerms(agent, { shared }));
    const process = getProcess(lease);
    lease.release();
    return process;
  };
  await use("b", false);
  const process = await use("a", true);
  // At once while the other slot's process is replaced, and afterwards.
  expect(await use("a", true)).toBe(process);
  expect(await use("a", true)).toBe(process);
  for (const other of ["b", "c", "d"]) {
    await settle();
    await use(other, false);
    expect([other, await use("a", true)]).toEqual([other, process]);
  }
  // But it is replaced rather than making another agent wait.
  const run = await slots.lease(createTerms("b"));
  expect(await use("c", false)).not.toBe(process);
  run.release();
});

test("waiting callers are served in order and told how many are ahead", async () => {
  const { slots } = createProcesses(1);
  const holder = await slots.lease(createTerms("a"));
  const places: Record<string, number[]> = { b: [], c: [] };
  const order: string[] = [];
  const wait = async (agent: string) => {
    const lease = await slots.lease(createTerms(agent, { onPlace: (before) => places[agent]?.push(before) }));
    order.push(agent);
    lease.release();
  };
  const waiting = [wait("b"), wait("c")];
  expect(slots.waitingCount).toBe(2);
  holder.release();
  // A caller that arrives at this moment is not served before those who wait.
  waiting.push(wait("d"));
  await Promise.all(waiting);
  expect(order).toEqual(["b", "c", "d"]);
  expect(places).toEqual({ b: [0], c: [1, 0] });
  expect(slots.waitingCount).toBe(0);
});

test("callers leave the queue on timeout and on abort", async () => {
  const { slots } = createProcesses(1);
  const holder = await slots.lease(createTerms("a"));
  await expect(slots.lease(createTerms("b", { waitMs: 1 }))).rejects.toThrow("No sandbox was free");
  const stopping = new AbortController();
  const waiting = slots.lease(createTerms("c", { signal: stopping.signal }));
  stopping.abort(new Error("not any more"));
  await expect(waiting).rejects.toThrow("not any more");
  holder.release();
  (await slots.lease(createTerms("d"))).release();
});

test("an expired lease is reclaimed and its process replaced", async () => {
  const { slots, getProcess } = createProcesses(1);
  const expired = await slots.lease(createTerms("a", { maxMs: -20_000 }));
  const process = getProcess(expired);
  const next = await slots.lease(createTerms("a"));
  expect(getProcess(next)).not.toBe(process);
  // A late release by the old holder does not affect the new lease.
  expired.release();
  expect(slots.status()).toEqual([{ agent: "a", runs: 1 }]);
  next.release();
});

test("an abandoned lease has its process replaced at once, and the next caller proceeds", async () => {
  const { slots, getProcess } = createProcesses(1);
  const abandoned = await slots.lease(createTerms("a"));
  const process = getProcess(abandoned);
  const waiting = slots.lease(createTerms("a"));
  abandoned.abandon();
  const next = await waiting;
  expect(getProcess(next)).not.toBe(process);
  // Again, after the slot has been leased to another holder.
  abandoned.abandon();
  expect(slots.status()).toEqual([{ agent: "a", runs: 1 }]);
  next.release();
  // A lease that was released or is being lost cannot be abandoned.
  next.abandon();
  const again = await slots.lease(createTerms("a"));
  expect(getProcess(again)).toBe(getProcess(next));
  const losing = again.lose(true);
  again.abandon();
  expect(await losing).toBe("asked");
  (await slots.lease(createTerms("a"))).release();
});

test("an aborted caller leaves the queue at once, and those behind move up", async () => {
  const { slots } = createProcesses(1);
  const holder = await slots.lease(createTerms("a"));
  const leaving = new AbortController();
  const first = slots.lease(createTerms("b", { signal: leaving.signal })).catch((error: Error) => error.message);
  const places: number[] = [];
  const second = slots.lease(createTerms("c", { onPlace: (before) => places.push(before) }));
  leaving.abort(new Error("left"));
  // Not only at the next poll.
  expect(await Promise.race([first, new Promise((resolve) => setTimeout(resolve, 50))])).toBe("left");
  expect(slots.waitingCount).toBe(1);
  await Promise.resolve();
  expect(places).toEqual([1, 0]);
  holder.release();
  (await second).release();
});

test("requests of one app share a process, runs do not", async () => {
  const { slots, getProcess } = createProcesses(2);
  const one = await slots.lease(createTerms("a", { shared: true }));
  const two = await slots.lease(createTerms("a", { shared: true }));
  expect(getProcess(one)).toBe(getProcess(two));
  const run = await slots.lease(createTerms("a"));
  expect(getProcess(run)).not.toBe(getProcess(one));
  const third = await slots.lease(createTerms("a", { shared: true }));
  expect(getProcess(third)).toBe(getProcess(one));
  third.release();
  // Both report the loss, and only one process is replaced.
  const lost = getProcess(one);
  expect(await one.lose(true)).toBe("asked");
  await two.lose(true);
  run.release();
  const after = await slots.lease(createTerms("a", { shared: true }));
  expect(getProcess(after)).not.toBe(lost);
  after.release();
  // A request does not join a run either.
  const busy = [await slots.lease(createTerms("a")), await slots.lease(createTerms("a"))];
  await expect(slots.lease(createTerms("a", { shared: true, waitMs: 1 }))).rejects.toThrow("No sandbox was free");
  for (const lease of busy) lease.release();
});

test("the successor of a process that ended unnoticed is replaced as well", async () => {
  const { slots, getProcess, crash } = createProcesses(1);
  const first = await slots.lease(createTerms("a"));
  first.release();
  crash(0);
  // The next run uses the successor without knowing it.
  const spinning = await slots.lease(createTerms("a"));
  const process = getProcess(spinning);
  expect(await spinning.lose(false)).toBe("asked");
  const after = await slots.lease(createTerms("a"));
  expect(getProcess(after)).not.toBe(process);
  after.release();
  crash(0);
  const again = await slots.lease(createTerms("a"));
  const used = getProcess(again);
  again.release();
  const other = await slots.lease(createTerms("b"));
  expect(getProcess(other)).not.toBe(used);
  other.release();
});

test("a forgotten agent leaves nothing for another one of the same name", async () => {
  const { slots, getProcess } = createProcesses(1);
  const first = await slots.lease(createTerms("a"));
  const process = getProcess(first);
  first.release();
  await slots.forget("a");
  const second = await slots.lease(createTerms("a"));
  const next = getProcess(second);
  expect(next).not.toBe(process);
  // Its code is stopped, too, even though nobody releases the slot.
  await slots.forget("a");
  expect(getProcess(second)).not.toBe(next);
  expect(slots.status()).toEqual([{ runs: 0 }]);
  second.release();
});

test("a process is replaced after its maximum number of runs", async () => {
  const { slots, getProcess } = createProcesses(1, { runs: 3 });
  const seen = new Set<string>();
  for (let run = 0; run < 7; run++) {
    const lease = await slots.lease(createTerms("a"));
    seen.add(getProcess(lease));
    lease.release();
  }
  expect(seen.size).toBe(3);
});

test("a process released as spent is not used again", async () => {
  const { slots, getProcess } = createProcesses(1);
  const first = await slots.lease(createTerms("a"));
  const process = getProcess(first);
  first.release(true);
  const next = await slots.lease(createTerms("a"));
  expect(getProcess(next)).not.toBe(process);
  next.release();
});

test("a process with too much memory is replaced", async () => {
  const { slots, getProcess, setMemory } = createProcesses(1);
  const first = await slots.lease(createTerms("a"));
  const process = getProcess(first);
  setMemory(2000);
  first.release();
  await settle();
  setMemory(10);
  const next = await slots.lease(createTerms("a"));
  expect(getProcess(next)).not.toBe(process);
  next.release();
});

test("a lease fails while the process cannot be replaced, and works again afterwards", async () => {
  const { slots, setBroken } = createProcesses(1);
  setBroken(true);
  await expect(slots.lease(createTerms("a"))).rejects.toThrow("cannot start");
  setBroken(false);
  (await slots.lease(createTerms("a"))).release();
});

test("under random load, each process belongs to one agent and every agent gets its turn", async () => {
  const { pick, below, chance } = createRandom("slots");
  const { slots, getProcess } = createProcesses(3, { runs: 5 });
  const owners = new Map<string, string>();
  const busy = new Map<string, number>();
  const agent = async (name: string) => {
    for (let turn = 0; turn < 20; turn++) {
      const shared = chance(0.3);
      const lease = await slots.lease(createTerms(name, { shared }));
      const process = getProcess(lease);
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
