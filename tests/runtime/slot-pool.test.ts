import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { waitUntil } from "../kit/wait-until.ts";
import { type BareWorker, startBareWorker } from "../kit/workerd.ts";

// The pool over real RPC: holders and waiters may abort, or vanish without notice.

let worker: BareWorker;
let lastId = 0;

beforeAll(async () => {
  worker = await startBareWorker(new URL("slot-pool.worker.ts", import.meta.url), {
    objects: ["Holder"],
    bindings: [`(name = "SANDBOX_0", text = "slot 0")`],
    slots: 1,
  });
});

afterAll(() => worker?.stop());

interface Status {
  slots: { agent?: string; runs: number }[];
  waiting: number;
  generation: number;
}

const get = async (path: string) => (await fetch(`${worker.url}/${path}`)).json() as Promise<any>;
const readStatus = (): Promise<Status> => get("status");

async function requestSlot(agent: string): Promise<string> {
  const name = `holder-${++lastId}`;
  await get(`requestSlot/${name}/${agent}`);
  return name;
}

const waitForSlot = (name: string) =>
  waitUntil(`${name} to have a slot`, async () => (await get(`inspect/${name}`)).status === "has slot 0");
const waitForWaiting = (count: number) =>
  waitUntil(`${count} to wait`, async () => (await readStatus()).waiting === count);

beforeEach(async () => {
  await waitUntil("the slot to be free", async () =>
    (await readStatus()).slots.every(({ agent }) => agent === undefined),
  );
});

test("an agent keeps its process, another agent gets a new one, and a lost process is replaced", async () => {
  const first = await requestSlot("a");
  await waitForSlot(first);
  const { generation } = await readStatus();
  await get(`release/${first}`);
  const again = await requestSlot("a");
  await waitForSlot(again);
  expect((await readStatus()).generation).toBe(generation);
  await get(`release/${again}`);
  const other = await requestSlot("b");
  await waitForSlot(other);
  expect((await readStatus()).generation).toBe(generation + 1);
  expect(await get(`lose/${other}`)).toBe("asked");
  expect(await readStatus()).toMatchObject({ slots: [{}], generation: generation + 2 });
});

test("a waiter that aborts leaves the queue at once, and those behind it move up", async () => {
  const holder = await requestSlot("a");
  await waitForSlot(holder);
  const [first, second] = [await requestSlot("b"), await requestSlot("c")];
  await waitForWaiting(2);
  await get(`abort/${first}`);
  await waitForWaiting(1);
  expect(await get(`inspect/${first}`)).toEqual({ status: "aborted by the test", positions: [0] });
  await waitUntil("the second to move up", async () => (await get(`inspect/${second}`)).positions.join() === "1,0");
  await get(`release/${holder}`);
  await waitForSlot(second);
  await get(`release/${second}`);
});

test("a waiter that vanishes leaves the queue", async () => {
  const holder = await requestSlot("a");
  await waitForSlot(holder);
  const [first, second] = [await requestSlot("b"), await requestSlot("c")];
  await waitForWaiting(2);
  await get(`die/${first}`);
  await waitForWaiting(1);
  await get(`release/${holder}`);
  await waitForSlot(second);
  await get(`release/${second}`);
});

test("a holder that vanishes loses its slot at once, and its process is replaced", async () => {
  const holder = await requestSlot("a");
  await waitForSlot(holder);
  const next = await requestSlot("a");
  await waitForWaiting(1);
  const { generation } = await readStatus();
  await get(`die/${holder}`);
  await waitForSlot(next);
  expect((await readStatus()).generation).toBe(generation + 1);
  await get(`release/${next}`);
});

test("a deleted agent loses its slot, and a late release by its holder has no effect", async () => {
  const holder = await requestSlot("a");
  await waitForSlot(holder);
  await get("forget/a");
  expect((await readStatus()).slots).toEqual([{ runs: 0 }]);
  const next = await requestSlot("b");
  await waitForSlot(next);
  await get(`release/${holder}`);
  await get(`inspect/${holder}`);
  expect((await readStatus()).slots).toMatchObject([{ agent: "b" }]);
  await get(`release/${next}`);
});

// workerd evicts other objects after ten seconds; only waiting can show that this one stays.
test.runIf(process.env.LONG === "1")(
  "the pool remembers which agent a process belongs to, however long it is idle",
  async () => {
    const first = await requestSlot("a");
    await waitForSlot(first);
    await get(`release/${first}`);
    const { generation } = await readStatus();
    await new Promise((resolve) => setTimeout(resolve, 20_000));
    const other = await requestSlot("b");
    await waitForSlot(other);
    expect((await readStatus()).generation).toBe(generation + 1);
    await get(`release/${other}`);
  },
);
