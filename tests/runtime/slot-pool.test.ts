import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { waitUntil } from "../kit/wait-until.ts";
import { type BareWorker, startBareWorker } from "../kit/workerd.ts";

// The pool over real RPC: whoever holds or awaits a slot may leave, or be gone without a word.

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

async function ask(agent: string): Promise<string> {
  const name = `holder-${++lastId}`;
  await get(`ask/${name}/${agent}`);
  return name;
}

const waitForSlot = (name: string) =>
  waitUntil(`${name} to have a slot`, async () => (await get(`look/${name}`)).end === "has slot 0");
const waitForWaiting = (count: number) =>
  waitUntil(`${count} to wait`, async () => (await readStatus()).waiting === count);

beforeEach(async () => {
  await waitUntil("the slot to be free", async () =>
    (await readStatus()).slots.every(({ agent }) => agent === undefined),
  );
});

test("an agent keeps its process, another one gets another, and a lost one is replaced", async () => {
  const first = await ask("a");
  await waitForSlot(first);
  const { generation } = await readStatus();
  await get(`release/${first}`);
  const again = await ask("a");
  await waitForSlot(again);
  expect((await readStatus()).generation).toBe(generation);
  await get(`release/${again}`);
  const other = await ask("b");
  await waitForSlot(other);
  expect((await readStatus()).generation).toBe(generation + 1);
  expect(await get(`lose/${other}`)).toBe("asked");
  expect(await readStatus()).toMatchObject({ slots: [{}], generation: generation + 2 });
});

test("whoever wants a slot no more leaves the line at once, and those behind move up", async () => {
  const holder = await ask("a");
  await waitForSlot(holder);
  const [first, second] = [await ask("b"), await ask("c")];
  await waitForWaiting(2);
  await get(`abort/${first}`);
  await waitForWaiting(1);
  expect(await get(`look/${first}`)).toEqual({ end: "not any more", places: [0] });
  await waitUntil("the second to move up", async () => (await get(`look/${second}`)).places.join() === "1,0");
  await get(`release/${holder}`);
  await waitForSlot(second);
  await get(`release/${second}`);
});

test("a waiter that is gone without a word leaves the line", async () => {
  const holder = await ask("a");
  await waitForSlot(holder);
  const [first, second] = [await ask("b"), await ask("c")];
  await waitForWaiting(2);
  await get(`die/${first}`);
  await waitForWaiting(1);
  await get(`release/${holder}`);
  await waitForSlot(second);
  await get(`release/${second}`);
});

test("a holder that is gone without a word loses its slot at once, and its process goes", async () => {
  const holder = await ask("a");
  await waitForSlot(holder);
  const next = await ask("a");
  await waitForWaiting(1);
  const { generation } = await readStatus();
  await get(`die/${holder}`);
  await waitForSlot(next);
  expect((await readStatus()).generation).toBe(generation + 1);
  await get(`release/${next}`);
});

test("an agent that is no more loses its slot, and whoever held it gives back nothing", async () => {
  const holder = await ask("a");
  await waitForSlot(holder);
  await get("forget/a");
  expect((await readStatus()).slots).toEqual([{ runs: 0 }]);
  const next = await ask("b");
  await waitForSlot(next);
  await get(`release/${holder}`);
  await get(`look/${holder}`);
  expect((await readStatus()).slots).toMatchObject([{ agent: "b" }]);
  await get(`release/${next}`);
});

// workerd evicts other objects after ten seconds; nothing but time can show that this one stays.
test.runIf(process.env.LONG === "1")("the pool remembers whose process it is, however long nobody asks", async () => {
  const first = await ask("a");
  await waitForSlot(first);
  await get(`release/${first}`);
  const { generation } = await readStatus();
  await new Promise((resolve) => setTimeout(resolve, 20_000));
  const other = await ask("b");
  await waitForSlot(other);
  expect((await readStatus()).generation).toBe(generation + 1);
  await get(`release/${other}`);
});
