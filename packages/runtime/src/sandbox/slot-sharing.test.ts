import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createRandom } from "../../../../tests/kit/random.ts";
import type { Lease } from "./lease.ts";
import { createProcesses, createTerms } from "./slots.fixture.ts";
import type { LeaseTerms } from "./slots.ts";

// Requests of user agents: those of one owner share a process, and more owners than slots take turns.

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

function openSlots(count: number, limits: Parameters<typeof createProcesses>[1] = {}) {
  const processes = createProcesses(count, { restMs: 1000, memoryCheckMs: 10_000, ...limits });
  /** Requests a shared lease; the result is undefined until it is granted. */
  const ask = (agent: string, more: Partial<LeaseTerms> = {}) => {
    const asked: { lease?: Lease; error?: string } = {};
    processes.slots.lease(createTerms(agent, { shared: true, maxMs: 3_600_000, waitMs: 300_000, ...more })).then(
      (lease) => (asked.lease = lease),
      (error: Error) => (asked.error = error.message),
    );
    return asked;
  };
  const take = async (agent: string, more: Partial<LeaseTerms> = {}) => {
    const asked = ask(agent, more);
    await pass(10);
    if (!asked.lease) throw new Error(`${agent} has no lease: ${asked.error}`);
    return asked.lease;
  };
  return { ...processes, ask, take };
}

test("concurrent requests of an owner share a process, even if it must be started first", async () => {
  const { slots, ask, take, getProcess } = openSlots(4);
  for (const lease of await Promise.all(["b", "c", "d", "e"].map((owner) => take(owner)))) lease.release();
  await pass(1);
  const asked = Array.from({ length: 10 }, () => ask("a"));
  await pass(10);
  expect(new Set(asked.map(({ lease }) => lease && getProcess(lease)))).toEqual(new Set(["0:2"]));
  expect(slots.status().filter(({ agent }) => agent === "a")).toHaveLength(1);
});

test("a busy process with enough isolates takes no new requests, and is replaced once it has finished", async () => {
  const { take, getProcess, renewals } = openSlots(2, { isolates: 2 });
  const held = await take("a", { isolate: "x.1" });
  (await take("a", { isolate: "x.2" })).release();
  // Already loaded.
  const joined = await take("a", { isolate: "x.2" });
  expect(getProcess(joined)).toBe(getProcess(held));
  joined.release();
  const next = await take("a", { isolate: "x.3" });
  expect(getProcess(next)).toBe("1:1");
  expect(getProcess(await take("a", { isolate: "x.1" }))).toBe("1:1");
  expect(renewals).toEqual([]);
  held.release();
  await pass(10);
  expect(renewals).toEqual([0]);
});

test("with a single slot, a request that would load too many isolates waits for the others", async () => {
  const { ask, take, getProcess, renewals } = openSlots(1, { isolates: 1 });
  const held = await take("a", { isolate: "x.1" });
  const next = ask("a", { isolate: "x.2" });
  const behind = ask("a", { isolate: "x.2" });
  await pass(20_000);
  expect([next, behind, renewals]).toEqual([{}, {}, []]);
  held.release();
  await pass(10);
  expect([next, behind].map(({ lease }) => lease && getProcess(lease))).toEqual(["0:2", "0:2"]);
});

test("an idle process with enough isolates is replaced before it loads more", async () => {
  const { take, getProcess } = openSlots(1, { isolates: 1 });
  (await take("a", { isolate: "x.1" })).release();
  const again = await take("a", { isolate: "x.1" });
  expect(getProcess(again)).toBe("0:1");
  again.release();
  expect(getProcess(await take("a", { isolate: "x.2" }))).toBe("0:2");
});

test("a busy process with too much memory takes no new requests, and is replaced once it has finished", async () => {
  const { take, getProcess, setMemory, renewals } = openSlots(2);
  const held = await take("a");
  setMemory(2000);
  expect(getProcess(await take("a"))).toBe("0:1");
  await pass(12_000);
  setMemory(10);
  const next = await take("a");
  expect(getProcess(next)).toBe("1:1");
  expect(renewals).toEqual([]);
  held.release();
  expect(getProcess(await take("a"))).toBe("1:1");
});

test("a request joins its owner's process at once, even if another owner waits for a slot", async () => {
  const { ask, take } = openSlots(1, { fairMs: 5000 });
  await take("a");
  const other = ask("b");
  await pass(1000);
  expect(await take("a")).toBeDefined();
  expect(other).toEqual({});
});

test("an owner who waits gets a slot, however busy the others are, and then they go on", async () => {
  const { ask, take, getProcess } = openSlots(1, { fairMs: 5000 });
  let last = await take("a");
  const other = ask("b");
  const asked: { lease?: Lease }[] = [];
  for (let second = 0; second < 30 && !other.lease; second++) {
    const next = ask("a");
    await pass(1000);
    last.release();
    if (next.lease) last = next.lease;
    else asked.push(next);
  }
  expect(other.lease).toBeDefined();
  expect(asked.length).toBeLessThanOrEqual(2);
  const process = getProcess(other.lease as Lease);
  // The same holds the other way round.
  expect(getProcess(await take("b"))).toBe(process);
  await pass(5000);
  const late = ask("b");
  await pass(10);
  expect(late).toEqual({});
});

test("only as many busy processes are closed as needed, the one in use for longest first", async () => {
  const { ask, take, slots } = openSlots(3, { fairMs: 5000 });
  const first = await take("a");
  await take("b");
  await take("c");
  const waiting = ask("d");
  const canJoin = async () => {
    const asked = ["a", "b", "c"].map((agent) => ask(agent, { waitMs: 1 }));
    await pass(300);
    for (const { lease } of asked) lease?.release();
    await pass(1);
    return asked.map(({ lease }) => lease !== undefined);
  };
  expect(await canJoin()).toEqual([true, true, true]);
  await pass(5000);
  expect(await canJoin()).toEqual([false, true, true]);
  await pass(5000);
  expect(await canJoin()).toEqual([false, false, true]);
  const behind = ask("e");
  const joining = ask("b");
  await pass(300);
  expect([behind, joining]).toEqual([{}, {}]);
  first.release();
  await pass(10);
  expect(waiting.lease).toBeDefined();
  // The other one is open again, even for requests behind those of owners without a slot.
  expect(joining.lease).toBeDefined();
  expect(behind).toEqual({});
  expect(slots.waitingCount).toBe(1);
});

test("a closed process is open again when the caller that waited has left", async () => {
  const { ask, take } = openSlots(1, { fairMs: 5000 });
  await take("a");
  const leaving = new AbortController();
  ask("b", { signal: leaving.signal });
  await pass(6000);
  const joining = ask("a");
  await pass(7000);
  expect(joining).toEqual({});
  leaving.abort(new Error("left"));
  await pass(10);
  expect(joining.lease).toBeDefined();
});

test("a request that a running one waits for joins a process that takes no others", async () => {
  const { ask, take, getProcess } = openSlots(1, { fairMs: 5000, isolates: 1 });
  const held = await take("a", { isolate: "x.1" });
  ask("b");
  await pass(6000);
  const refused = ask("a", { isolate: "x.1" });
  await pass(300);
  expect(refused).toEqual({});
  expect(getProcess(await take("a", { isolate: "x.1", isAwaited: true }))).toBe(getProcess(held));
  expect(getProcess(await take("a", { isolate: "x.2", isAwaited: true }))).toBe(getProcess(held));
});

test("a request does not wait for long for requests of its own owner that do not end", async () => {
  const { ask, take, getProcess, renewals } = openSlots(1, { isolates: 1, drainMs: 60_000 });
  const held = await take("a", { isolate: "x.1" });
  const next = ask("a", { isolate: "x.2" });
  await pass(59_000);
  expect(next).toEqual({});
  await pass(1500);
  expect(next.lease && getProcess(next.lease)).toBe(getProcess(held));
  expect(renewals).toEqual([]);
});

test("a partition has a process of its own, for which it waits if there is a single slot", async () => {
  const { ask, take, getProcess } = openSlots(1, { fairMs: 5000 });
  const shared = await take("a", { isolate: "x.1" });
  const alone = ask("a", { isolate: "x.1", partition: "x.1" });
  await pass(6000);
  const next = ask("a", { isolate: "y.1" });
  await pass(300);
  expect([alone, next]).toEqual([{}, {}]);
  shared.release();
  await pass(10);
  expect(alone.lease && getProcess(alone.lease)).toBe("0:2");
  expect(next).toEqual({});
  alone.lease?.release();
  await pass(10);
  expect(next.lease && getProcess(next.lease)).toBe("0:3");
});

test("forgetting an owner ends all of its processes; forgetting an agent only those of its own", async () => {
  const { slots, take, getProcess } = openSlots(4);
  await take("a", { isolate: "x.1" });
  await take("a", { isolate: "x.1", partition: "x.1" });
  await take("a", { isolate: "y.1", partition: "y.1" });
  await take("b", { isolate: "x.1" });
  const forgetting = slots.forget("a", "x.");
  await pass(10);
  await forgetting;
  expect(slots.status().map(({ agent }) => agent)).toEqual(["a", undefined, "a", "b"]);
  expect(getProcess(await take("a", { isolate: "z.1" }))).toBe("0:1");
  await Promise.all([slots.forget("a"), pass(10)]);
  expect(slots.status().map(({ agent }) => agent)).toEqual([undefined, undefined, undefined, "b"]);
  expect(getProcess(await take("b"))).toBe("3:1");
});

test("a lease that is forgotten before its process is ready is not granted", async () => {
  const { slots, ask } = openSlots(1);
  const asked = ask("a");
  await Promise.all([slots.forget("a"), pass(10)]);
  expect(asked).toEqual({ error: "The sandbox was taken back." });
});

test("a holder that vanishes does not affect the other requests in its process", async () => {
  const { take, getProcess, renewals } = openSlots(1);
  const [vanished, held] = [await take("a"), await take("a")];
  vanished.abandon();
  expect(getProcess(await take("a"))).toBe(getProcess(held));
  expect(renewals).toEqual([]);
});

test("every holder of a lost process learns why it ended, and its successor goes on", async () => {
  const { take, crash, getProcess, renewals } = openSlots(2);
  const holders = await Promise.all(Array.from({ length: 10 }, () => take("a")));
  crash(0, "silence");
  const [first, ...others] = holders as [Lease, ...Lease[]];
  const losing = first.lose(true);
  await pass(10);
  expect(await losing).toBe("silence");
  const next = await take("a");
  expect(getProcess(next)).toBe("0:2");
  const [stale, last] = others.splice(-2) as [Lease, Lease];
  const causes = Promise.all([...others.map((lease) => lease.lose(true)), last.lose(false)]);
  await pass(10);
  expect(await causes).toEqual(Array.from({ length: 8 }, () => "silence"));
  expect(getProcess(await take("a"))).toBe("0:2");
  // Nor does what an earlier holder says of its process concern the successor.
  stale.release(true);
  expect(getProcess(await take("a"))).toBe("0:2");
  next.release();
  expect(renewals).toEqual([]);
});

test("a process that ended while it was idle is noticed before its successor's end is explained", async () => {
  const { take, crash } = openSlots(1);
  (await take("a", { isolate: "x.1" })).release();
  crash(0, "crash");
  await pass(6000);
  const lease = await take("a");
  crash(0, "silence");
  const losing = lease.lose(true);
  await pass(10);
  expect(await losing).toBe("silence");
});

test("a description has the memory and the isolates of the process that an owner's agents share", async () => {
  const { slots, take, crash } = openSlots(2, { isolates: 2 });
  expect(await slots.describe("a")).toBeUndefined();
  await take("a", { isolate: "x.1", partition: "x.1" });
  expect(await slots.describe("a")).toBeUndefined();
  for (const isolate of ["x.1", "y.1", "x.1"]) await take("a", { isolate });
  expect(await slots.describe("a")).toEqual({ isolates: 2, memoryBytes: 10 });
  crash(1);
  expect(await slots.describe("a")).toBeUndefined();
});

test("under random load of more owners than slots, all are served and no running request is interrupted", async () => {
  const { pick, below, chance } = createRandom("slot-sharing");
  const limits = { isolates: 4, fairMs: 200, drainMs: 5000 };
  const { slots, ask, getProcess, setMemory } = openSlots(3, { ...limits, memoryCheckMs: 300, restMs: 50 });
  const tenants = new Map<string, string>();
  let served = 0;
  const work = async (owner: string) => {
    for (let request = 0; request < 15; request++) {
      const isolate = `${pick(["x", "y", "z"])}.${below(4)}`;
      const partition = chance(0.1) ? { partition: isolate } : {};
      const asked = ask(owner, { isolate, ...partition });
      const begin = Date.now();
      while (!asked.lease) {
        expect(asked.error).toBeUndefined();
        expect(Date.now() - begin).toBeLessThan(60_000);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      const process = getProcess(asked.lease);
      const tenant = JSON.stringify([owner, partition]);
      expect(tenants.get(process) ?? tenant).toBe(tenant);
      tenants.set(process, tenant);
      await new Promise((resolve) => setTimeout(resolve, below(100)));
      setMemory(chance(0.1) ? 2000 : 10);
      // It still runs in the same process.
      expect(getProcess(asked.lease)).toBe(process);
      asked.lease.release();
      served++;
    }
  };
  let isDone = false;
  const all = Promise.all(Array.from({ length: 18 }, (_, index) => work(`owner-${index % 6}`))).finally(
    () => (isDone = true),
  );
  all.catch(() => {});
  while (!isDone) await pass(50);
  await all;
  expect(served).toBe(18 * 15);
  expect(slots.waitingCount).toBe(0);
});
