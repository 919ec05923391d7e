import type { AgentEvent, NewEvent } from "@thinkery/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createRandom } from "../kit/random.ts";
import { getRepeatCount } from "../kit/sample.ts";
import { type BareWorker, startBareWorker } from "../kit/workerd.ts";
import { createEventGenerator } from "./history.ts";

let worker: BareWorker;

beforeAll(async () => {
  worker = await startBareWorker(new URL("store.worker.ts", import.meta.url), { objects: ["Shelf"] });
});

afterAll(() => worker?.stop());

const on =
  (object: string) =>
  async (step: string, input: object = {}): Promise<any> => {
    const response = await fetch(`${worker.url}/${object}`, {
      method: "POST",
      body: JSON.stringify({ step, ...input }),
    });
    if (!response.ok) throw new Error(`${step}: ${await response.text()}`);
    return response.json();
  };

test("whatever happened, everything derived from the log comes out the same when it is derived anew", async () => {
  const chance = createRandom("store");
  for (let history = 0; history < getRepeatCount("random histories", { sample: 3, full: 8 }); history++) {
    const shelf = on(`history-${history}`);
    const invent = createEventGenerator(chance);
    for (let round = 0; round < 12; round++) {
      // What belongs together is recorded together; sometimes more than that comes at once.
      const groups = Array.from({ length: 1 + chance.below(20) }, () => invent.next());
      while (groups.length > 0) await shelf("record", { events: groups.splice(0, 1 + chance.below(3)).flat() });
      const [tables, draft] = [await shelf("tables"), await shelf("draft")];
      const [remembered, stored] = await shelf("inAll");
      expect(remembered, `history ${history}, round ${round}`).toEqual(stored);
      const crash = chance.chance(0.4);
      await shelf(crash ? "forget" : "rebuild");
      expect(await shelf("tables"), `history ${history}, round ${round}`).toEqual(tables);
      // A crash ends what was being said; the turn is taken up again and says it anew.
      if (!crash) expect(await shelf("draft"), `the draft of history ${history}, round ${round}`).toEqual(draft);
      const events = crash ? invent.resume() : [];
      if (events.length > 0) await shelf("record", { events });
      if (chance.chance(0.1)) {
        for (let events = invent.finish(); events.length > 0; events = invent.finish())
          await shelf("record", { events });
        await shelf("clear");
      }
    }
    const log: AgentEvent[] = await shelf("read", { limit: 100_000 });
    expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => (log[0]?.seq ?? 0) + index));
  }
});

const turn: NewEvent[] = [
  {
    type: "request.accepted",
    data: {
      runId: "t",
      idempotencyKey: "k",
      mode: "queue",
      position: 0,
      from: { user: "owner", context: {} },
      messages: [{ id: "m", role: "user", content: "hi" }],
    },
  },
  { type: "run.started", data: { runId: "t", model: "x:y", boot: "b" } },
  { type: "run.tick", data: { runId: "t", step: 1 } },
  { type: "model.started", data: { runId: "t", step: 1, messageId: "a", model: "x:y", attempt: 1 } },
];
const createDelta = (text: string): NewEvent => ({ type: "model.delta", data: { runId: "t", delta: text } });
const completed: NewEvent = {
  type: "model.completed",
  data: {
    runId: "t",
    step: 1,
    messageId: "a",
    model: "x:y",
    finish: "stop",
    usage: { inputTokens: 3, outputTokens: 2, costUsd: 0.5 },
    ms: 1,
    toolCalls: [],
  },
};

test("what is being said is known from the log as far as it was stored", async () => {
  const shelf = on("draft");
  await shelf("record", { events: turn });
  for (const word of ["one ", "two ", "three"]) await shelf("record", { events: [createDelta(word)] });
  await shelf("rebuild");
  expect(await shelf("draft")).toMatchObject({ messageId: "a", step: 1, text: "one two three" });
  await shelf("record", { events: [createDelta(" four"), completed] });
  expect((await shelf("tables")).messages).toMatchObject([{ id: "a", content: "one two three four" }, { id: "m" }]);
  expect(await shelf("draft")).toBe(null);
});

test("what a model said is read the same right after it is written, after a restart and after a failed write", async () => {
  const call = { id: "c", name: "add", input: { text: "ü" } };
  const said: [string, NewEvent[]][] = [
    ["plain", [createDelta("Grüße \u{1f600}")]],
    ["with calls and thoughts", [{ type: "model.delta", data: { runId: "t", delta: "x", reasoning: "why" } }]],
    ["half a character", [createDelta("a\ud83d")]],
    ["nothing", []],
  ];
  for (const [name, deltas] of said) {
    const shelf = on(`read-${name}`);
    const end = {
      ...completed,
      data: {
        ...completed.data,
        ...(name.startsWith("with") ? { toolCalls: [call], replay: { adapter: "x", data: 1 } } : {}),
      },
    };
    // A write that fails as a whole leaves nothing to read.
    await shelf("record", { events: [...turn, ...deltas] });
    await expect(shelf("record", { events: [end, end] })).rejects.toThrow();
    expect(await shelf("message", { id: "a" })).toBe(null);
    await shelf("forget");
    await shelf("rebuild");
    await shelf("record", { events: [end] });
    const right = await shelf("message", { id: "a" });
    expect(right).toMatchObject({ id: "a", role: "assistant", status: "complete", tokensInput: 3 });
    await shelf("forget");
    expect(right).toEqual(await shelf("message", { id: "a" }));
    await shelf("clear");
    expect(await shelf("message", { id: "a" })).toBe(null);
  }
});

test("the log is read in pages of any size, from any number", async () => {
  const chance = createRandom("pages");
  const shelf = on("pages");
  const written: AgentEvent[] = [];
  for (let group = 0; group < 80; group++) {
    written.push(
      ...(await shelf("record", {
        events: Array.from({ length: 1 + chance.below(9) }, (_, n) => createDelta(`${group}.${n}`)),
      })),
    );
  }
  for (let reading = 0; reading < 20; reading++) {
    const after = chance.below(written.length);
    const limit = 1 + chance.below(70);
    expect(await shelf("read", { after, limit })).toEqual(written.slice(after, after + limit));
  }
  expect(await shelf("read", { after: written.length })).toEqual([]);
});

test("events that do not go together are not stored at all", async () => {
  const shelf = on("atomic");
  await shelf("record", { events: turn });
  const [tables, log] = [await shelf("tables"), await shelf("read")];
  await shelf("inAll");
  // A second answer under the same id cannot be.
  await expect(
    shelf("record", {
      events: [createDelta("x"), completed, { type: "title.set", data: { title: "half" } }, completed],
    }),
  ).rejects.toThrow();
  expect(await shelf("tables")).toEqual(tables);
  expect(await shelf("read")).toEqual(log);
  expect(await shelf("inAll")).toEqual([
    { calls: 0, ms: 0 },
    { calls: 0, ms: 0 },
  ]);
  // Nor do they leave a gap.
  expect((await shelf("record", { events: [createDelta("y")] }))[0].seq).toBe(log.length + 1);
});

test("clearing forgets everything but what it cost, and no number comes twice", async () => {
  const shelf = on("clear");
  await shelf("record", {
    events: [
      ...turn,
      createDelta("hello"),
      completed,
      { type: "agent.completed", data: { runId: "t", result: "hello" } },
    ],
  });
  const usage = await shelf("usage");
  const last = (await shelf("read")).at(-1).seq;
  for (let time = 0; time < 2; time++) await shelf("clear");
  expect(await shelf("usage")).toEqual(usage);
  const tables = await shelf("tables");
  for (const name of ["turns", "inputs", "messages", "ledger", "actions", "facts", "blobs"])
    expect([name, tables[name]]).toEqual([name, []]);
  await shelf("rebuild");
  expect(await shelf("usage")).toEqual(usage);
  expect((await shelf("read")).map(({ type, seq }: AgentEvent) => [type, seq])).toEqual([
    ["history.cleared", last + 2],
  ]);
  await shelf("forget");
  expect((await shelf("record", { events: turn }))[0].seq).toBe(last + 3);
});

test("an app and the blob it lies in survive being cleared and derived anew, and one that was removed does not come back", async () => {
  const shelf = on("app");
  const app = (blob: string) => ({
    version: blob.slice(0, 3),
    blob,
    main: "main.ts",
    modules: ["lib/a.ts"],
    bytes: 12,
    by: "owner",
  });
  const [first] = await shelf("record", { events: [{ type: "app.set", data: app("one-blob") }] });
  expect(await shelf("app")).toEqual({ ...app("one-blob"), updatedAt: first.ts });
  const [second] = await shelf("record", {
    events: [
      { type: "app.set", data: app("two-blob") },
      { type: "title.set", data: { title: "x" } },
    ],
  });
  const kept = { ...app("two-blob"), updatedAt: second.ts };
  expect(await shelf("readable")).toEqual([
    { hash: "one-blob", media_type: "application/json" },
    { hash: "two-blob", media_type: "application/json" },
  ]);
  // Twice: what a clearing kept, the next one keeps too.
  for (const step of ["rebuild", "clear", "rebuild", "clear", "forget", "rebuild"]) {
    await shelf(step);
    expect([step, await shelf("app")]).toEqual([step, kept]);
  }
  expect(await shelf("readable")).toEqual([{ hash: "two-blob", media_type: "application/json" }]);
  await shelf("record", { events: [{ type: "app.removed", data: { by: "owner" } }] });
  for (const step of ["rebuild", "clear", "rebuild"]) {
    expect([step, await shelf("app")]).toEqual([step, null]);
    await shelf(step);
  }
  expect([await shelf("app"), await shelf("readable")]).toEqual([null, []]);
});

test("what was spent is kept by day and model, with the time of tools under none, and survives being cleared", async () => {
  const shelf = on("days");
  const usage = (tokens: number, costUsd: number | null) => ({
    inputTokens: tokens,
    outputTokens: 1,
    cachedInputTokens: 2,
    costUsd,
  });
  const at = (ts: string, event: NewEvent, seq: number) => ({ ...event, ts, seq, threadId: "global~test" });
  const call = (model: string, tokens: number, costUsd: number | null): NewEvent => ({
    type: "model.generated",
    data: { runId: "t", step: 1, role: "fast", model, purpose: "check", usage: usage(tokens, costUsd), ms: 1000 },
  });
  const log = [
    // Cleared long ago, when nobody kept days: it counts for the day on which it was cleared.
    at(
      "2026-01-02T00:00:00.000Z",
      { type: "history.cleared", data: { by: "owner", usage: [{ model: "x:old", calls: 3, ...usage(30, null) }] } },
      1,
    ),
    at("2026-01-02T23:59:59.999Z", call("x:a", 10, 0.5), 2),
    at("2026-01-03T00:00:00.000Z", call("x:a", 20, 0.25), 3),
    at("2026-01-03T01:00:00.000Z", call("x:a", 40, null), 4),
    at(
      "2026-01-03T02:00:00.000Z",
      {
        type: "tool.error",
        data: {
          runId: "t",
          callId: "c",
          toolName: "x",
          messageId: "m",
          error: "No.",
          errorCode: "threw",
          ms: 2500.4,
          action: "x",
        },
      },
      5,
    ),
  ];
  const { usage: seen } = await shelf("load", { log });
  expect(seen.byDay).toEqual([
    {
      day: "2026-01-02",
      calls: 4,
      inputTokens: 40,
      outputTokens: 2,
      cachedInputTokens: 4,
      costUsd: null,
      seconds: 1,
      byModel: [
        { model: "x:old", calls: 3, inputTokens: 30, outputTokens: 1, cachedInputTokens: 2, costUsd: null, seconds: 0 },
        { model: "x:a", calls: 1, inputTokens: 10, outputTokens: 1, cachedInputTokens: 2, costUsd: 0.5, seconds: 1 },
      ],
    },
    {
      day: "2026-01-03",
      calls: 2,
      inputTokens: 60,
      outputTokens: 2,
      cachedInputTokens: 4,
      costUsd: null,
      seconds: 4.5,
      byModel: [
        { model: "x:a", calls: 2, inputTokens: 60, outputTokens: 2, cachedInputTokens: 4, costUsd: null, seconds: 2 },
      ],
    },
  ]);
  const spending = (await shelf("tables")).spending;
  expect(
    spending.find(({ day, model }: { day: string; model: string }) => day === "2026-01-03" && model === "x:a"),
  ).toMatchObject({ cost_usd: 0.25, unknown: 1 });
  await shelf("clear");
  expect((await shelf("tables")).spending).toEqual(spending);
  await shelf("rebuild");
  expect((await shelf("tables")).spending).toEqual(spending);
});

test("how long a turn was worked on leaves out its wait in line, its pauses, and the time the host was down", async () => {
  const shelf = on("elapsed");
  const [accepted, ...started] = turn;
  const seconds: [number, NewEvent][] = [
    [0, accepted as NewEvent],
    // A minute in line.
    ...started.map((event): [number, NewEvent] => [60, event]),
    [62, completed],
    [63, { type: "run.paused", data: { runId: "t", reason: "deferred" } }],
    // An hour until the report.
    [3663, { type: "run.resumed", data: { runId: "t", reason: "resolved", attempt: 0, crashes: 0, boot: "b" } }],
    [3665, { type: "run.tick", data: { runId: "t", step: 2 } }],
    // Something of another turn does not count.
    [3670, { type: "run.canceled", data: { runId: "other" } }],
    // A day without the host.
    [90_000, { type: "run.resumed", data: { runId: "t", reason: "recovered", attempt: 1, crashes: 1, boot: "c" } }],
    [90_004, { type: "run.tick", data: { runId: "t", step: 2 } }],
  ];
  const log = seconds.map(([second, event], index) => ({
    ...event,
    seq: index + 1,
    ts: new Date(second * 1000).toISOString(),
    threadId: "global~test",
  }));
  await shelf("load", { log });
  expect(await shelf("elapsed")).toBe((3 + 2 + 4) * 1000);
});
