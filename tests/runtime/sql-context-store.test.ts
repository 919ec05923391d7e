import { afterAll, beforeAll, expect, test } from "vitest";
import type { ItemPatch, MessageFilter } from "../../packages/runtime/src/agency/team/context-store.ts";
import { MemoryContextStore } from "../../packages/runtime/src/agency/team/memory-context-store.ts";
import { createRandom, type Random } from "../kit/random.ts";
import { getRepeatCount, isLongRun } from "../kit/sample.ts";
import { type BareWorker, startBareWorker } from "../kit/workerd.ts";
import { StepGenerator } from "./context-store-generator.ts";
import { createStep, type Outcome, runSteps, type Step } from "./context-store-steps.ts";

let worker: BareWorker;

beforeAll(async () => {
  worker = await startBareWorker(new URL("context-store.worker.ts", import.meta.url), { objects: ["StoreObject"] });
});

afterAll(() => worker?.stop());

interface StoreResponse {
  outcomes: Outcome[];
  rows: number;
  plans: { query: string; plan: string[] }[];
}

async function run(object: string, steps: Step[]): Promise<StoreResponse> {
  const response = await fetch(`${worker.url}/${object}`, { method: "POST", body: JSON.stringify({ steps }) });
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as StoreResponse;
}

const throughJson = <Value>(value: Value): Value => JSON.parse(JSON.stringify(value)) as Value;

/** Makes up steps, and runs them in memory. */
class MemoryRun {
  readonly #store = new MemoryContextStore();
  readonly #generator: StepGenerator;
  steps: Step[] = [];
  outcomes: Outcome[] = [];

  constructor(random: Random) {
    this.#generator = new StepGenerator(random, this.#store);
  }

  /** Runs this many steps, and those that read everything. */
  run(count: number): void {
    this.steps = [];
    this.outcomes = [];
    for (let index = 0; index < count; index++) this.#runStep(this.#generator.next());
    for (const step of this.#generator.createDump()) this.#runStep(step);
  }

  #runStep(step: Step): void {
    this.steps.push(step);
    this.outcomes.push(...throughJson(runSteps(this.#store, [throughJson(step)])));
  }
}

test("random steps have the same outcomes in SQLite as in memory, and none of their queries reads a whole table", async () => {
  const random = createRandom("context stores");
  const plans = new Map<string, string[]>();
  const rounds = getRepeatCount("context stores", { sample: 4, full: 60 });
  for (let round = 0; round < rounds; round++) {
    const memory = new MemoryRun(random);
    for (let part = 0; part < 4; part++) {
      memory.run(400);
      const { steps } = memory;
      const sql = await run(`random-${round}`, steps);
      for (const [index, step] of steps.entries())
        expect([round, part, index, step, sql.outcomes[index]]).toEqual([
          round,
          part,
          index,
          step,
          memory.outcomes[index],
        ]);
      for (const { query, plan } of sql.plans) plans.set(query, plan);
    }
  }
  const scans = [...plans].flatMap(([query, plan]) =>
    plan.filter((detail) => /SCAN|TEMP B-TREE/.test(detail)).map((detail) => `${query.trim().slice(0, 11)}… ${detail}`),
  );
  expect(scans.sort()).toEqual([
    // One row, the last of the index.
    "INSERT INTO… SCAN channel_messages USING COVERING INDEX channel_messages_clock",
    // The items of a channel that is deleted.
    "INSERT INTO… USE TEMP B-TREE FOR GROUP BY",
    // Deliveries that are not closed.
    "SELECT * FR… SCAN inbox_deliveries",
    // Items whose time has come.
    "SELECT * FR… USE TEMP B-TREE FOR ORDER BY",
    // One row of all that are open.
    "SELECT 1 FR… SCAN inbox_counts USING COVERING INDEX inbox_counts_open",
    // Agents with open items.
    "SELECT DIST… SCAN counts USING COVERING INDEX inbox_counts_open",
    // Channels that are being deleted.
    "SELECT name… SCAN channels USING COVERING INDEX channels_hidden",
  ]);
});

test("what was stored is there after a crash", async () => {
  const memory = new MemoryRun(createRandom("context store crash"));
  memory.run(400);
  expect((await run("crash", memory.steps)).outcomes).toEqual(memory.outcomes);
  await worker.restart();
  memory.run(0);
  expect((await run("crash", memory.steps)).outcomes).toEqual(memory.outcomes);
});

const maxTime = 10 ** 13;

/** Posts a message, puts it into ann's inbox, and handles most of those. Every other answers the first, three the fifth. */
function createMessageSteps(number: number): Step[] {
  const message = { channel: "general", from: "bob", fromKind: "agent" as const, content: "Hi", to: ["ann"] };
  const thread = number % 2 === 0 ? 1 : [7, 9, 11].includes(number) ? 5 : undefined;
  const patches: ItemPatch[] = [
    { status: "acked" },
    {},
    { status: "acked" },
    {},
    { status: "deferred", dueAt: maxTime },
  ];
  return [
    createStep("insertMessage", { ...message, thread, key: `${number}`, priority: "normal", createdAt: number }),
    createStep("insertItem", { agent: "ann", message: number, priority: "normal", createdAt: 1, status: "pending" }),
    createStep("updateItem", "ann", number, patches[number % patches.length] ?? {}),
  ];
}

async function fillStore(object: string, messages: number): Promise<void> {
  await run(object, [createStep("insertChannel", { name: "general", kind: "channel", createdBy: "x", createdAt: 1 })]);
  for (let number = 1; number <= messages; number += 1000)
    await run(object, [
      { transaction: Array.from({ length: 1000 }, (_, index) => createMessageSteps(number + index)).flat() },
    ]);
}

/** Counts the rows that each call reads and writes in a history of this length. */
async function measureCalls(messages: number): Promise<Record<string, number>> {
  const object = `history-${messages}`;
  await fillStore(object, messages);
  const middle = messages / 2;
  const listMessages = (filter: Partial<MessageFilter>) =>
    (["oldest", "newest"] as const).map((order) => createStep("listMessages", { limit: 10, order, ...filter }));
  const steps = [
    ...createMessageSteps(messages + 1),
    ...createMessageSteps(messages + 2),
    createStep("findMessageByKey", `${middle}`),
    createStep("listChannels", "", 10),
    ...listMessages({ channel: "general" }),
    ...listMessages({ channel: "general", after: middle }),
    ...listMessages({ channel: "general", before: middle, after: 3 }),
    ...listMessages({ channel: "general", since: middle }),
    ...listMessages({ channel: "general", until: middle, after: 3 }),
    ...listMessages({ thread: 1 }),
    ...listMessages({ thread: 1, channel: "general", after: middle }),
    ...listMessages({ thread: 1, since: middle }),
    ...listMessages({ thread: 5, channel: "general" }),
    ...listMessages({ since: middle, until: middle + 5 }),
    createStep("listItems", { agent: "ann", statuses: ["pending", "seen", "deferred"], after: 0, limit: 10 }),
    createStep("listItems", { agent: "ann", statuses: ["acked"], after: middle, limit: 10 }),
    createStep("listDueAgents", 9),
    createStep("listDueItems", "ann", 9, 10),
    createStep("getNextDueAt", 9),
    createStep("countItems", "ann"),
    createStep("hasOpenItems"),
  ];
  const costs: Record<string, number> = {};
  for (const [index, step] of steps.entries()) {
    const { outcomes, rows } = await run(object, [step]);
    expect(outcomes[0]).not.toHaveProperty("errorCode");
    const { call, input } = step as Extract<Step, { call: unknown }>;
    costs[`${index} ${call} ${JSON.stringify(input).replaceAll(/\d{3,}/g, "…")}`] = rows;
  }
  return costs;
}

test("each call reads and writes as many rows in a long history as in a short one", async () => {
  const short = await measureCalls(1000);
  expect(Math.min(...Object.values(short))).toBeGreaterThan(0);
  expect(Math.max(...Object.values(short))).toBeLessThan(60);
  expect(await measureCalls(isLongRun() ? 100_000 : 10_000)).toEqual(short);
});
