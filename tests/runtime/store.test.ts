import type { AgentEvent, NewEvent } from "@thinkery/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createRandom } from "../kit/random.ts";
import { getRepeatCount } from "../kit/sample.ts";
import { type BareWorker, startBareWorker } from "../kit/workerd.ts";
import { createEventGenerator } from "./event-generator.ts";

let worker: BareWorker;

beforeAll(async () => {
  worker = await startBareWorker(new URL("store.worker.ts", import.meta.url), { objects: ["StoreObject"] });
});

afterAll(() => worker?.stop());

const openStore =
  (object: string) =>
  async (step: string, input: object = {}): Promise<any> => {
    const response = await fetch(`${worker.url}/${object}`, {
      method: "POST",
      body: JSON.stringify({ step, ...input }),
    });
    if (!response.ok) throw new Error(`${step}: ${await response.text()}`);
    return response.json();
  };

test("rebuilding everything from the log gives the same state, for any history", async () => {
  const chance = createRandom("store");
  for (let history = 0; history < getRepeatCount("random histories", { sample: 3, full: 8 }); history++) {
    const store = openStore(`history-${history}`);
    const generator = createEventGenerator(chance);
    for (let round = 0; round < 12; round++) {
      // A group of events is recorded together; sometimes several groups at once.
      const groups = Array.from({ length: 1 + chance.below(20) }, () => generator.next());
      while (groups.length > 0) await store("record", { events: groups.splice(0, 1 + chance.below(3)).flat() });
      const [tables, draft] = [await store("tables"), await store("draft")];
      const [cached, stored] = await store("totals");
      expect(cached, `history ${history}, round ${round}`).toEqual(stored);
      const crash = chance.chance(0.4);
      await store(crash ? "reopen" : "rebuild");
      expect(await store("tables"), `history ${history}, round ${round}`).toEqual(tables);
      // A crash discards the draft; the recovered turn starts it again.
      if (!crash) expect(await store("draft"), `the draft of history ${history}, round ${round}`).toEqual(draft);
      const events = crash ? generator.resume() : [];
      if (events.length > 0) await store("record", { events });
      if (chance.chance(0.1)) {
        for (let events = generator.finish(); events.length > 0; events = generator.finish())
          await store("record", { events });
        await store("clear");
      }
    }
    const log: AgentEvent[] = await store("read", { limit: 100_000 });
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

test("a rebuild restores the draft as far as it was stored", async () => {
  const store = openStore("draft");
  await store("record", { events: turn });
  for (const word of ["one ", "two ", "three"]) await store("record", { events: [createDelta(word)] });
  await store("rebuild");
  expect(await store("draft")).toMatchObject({ messageId: "a", step: 1, text: "one two three" });
  await store("record", { events: [createDelta(" four"), completed] });
  expect((await store("tables")).messages).toMatchObject([{ id: "a", content: "one two three four" }, { id: "m" }]);
  expect(await store("draft")).toBe(null);
});

test("a message reads the same right after it is written, after a restart and after a failed write", async () => {
  const call = { id: "c", name: "add", input: { text: "ü" } };
  const cases: [string, NewEvent[]][] = [
    ["plain", [createDelta("Grüße \u{1f600}")]],
    ["with calls and thoughts", [{ type: "model.delta", data: { runId: "t", delta: "x", reasoning: "why" } }]],
    ["half a character", [createDelta("a\ud83d")]],
    ["nothing", []],
  ];
  for (const [name, deltas] of cases) {
    const store = openStore(`read-${name}`);
    const end = {
      ...completed,
      data: {
        ...completed.data,
        ...(name.startsWith("with") ? { toolCalls: [call], replay: { adapter: "x", data: 1 } } : {}),
      },
    };
    // A failed write leaves nothing to read.
    await store("record", { events: [...turn, ...deltas] });
    await expect(store("record", { events: [end, end] })).rejects.toThrow();
    expect(await store("message", { id: "a" })).toBe(null);
    await store("reopen");
    await store("rebuild");
    await store("record", { events: [end] });
    const message = await store("message", { id: "a" });
    expect(message).toMatchObject({ id: "a", role: "assistant", status: "complete", tokensInput: 3 });
    await store("reopen");
    expect(message).toEqual(await store("message", { id: "a" }));
    await store("clear");
    expect(await store("message", { id: "a" })).toBe(null);
  }
});

test("the log can be read in pages of any size, from any sequence number", async () => {
  const chance = createRandom("pages");
  const store = openStore("pages");
  const written: AgentEvent[] = [];
  for (let group = 0; group < 80; group++) {
    written.push(
      ...(await store("record", {
        events: Array.from({ length: 1 + chance.below(9) }, (_, n) => createDelta(`${group}.${n}`)),
      })),
    );
  }
  for (let reading = 0; reading < 20; reading++) {
    const after = chance.below(written.length);
    const limit = 1 + chance.below(70);
    expect(await store("read", { after, limit })).toEqual(written.slice(after, after + limit));
  }
  expect(await store("read", { after: written.length })).toEqual([]);
});

test("an invalid group of events is not stored at all", async () => {
  const store = openStore("atomic");
  await store("record", { events: turn });
  const [tables, log] = [await store("tables"), await store("read")];
  await store("totals");
  // A second message with the same id is invalid.
  await expect(
    store("record", {
      events: [createDelta("x"), completed, { type: "title.set", data: { title: "half" } }, completed],
    }),
  ).rejects.toThrow();
  expect(await store("tables")).toEqual(tables);
  expect(await store("read")).toEqual(log);
  expect(await store("totals")).toEqual([
    { calls: 0, ms: 0 },
    { calls: 0, ms: 0 },
  ]);
  // Nor does it leave a gap.
  expect((await store("record", { events: [createDelta("y")] }))[0].seq).toBe(log.length + 1);
});

test("clearing keeps only the usage, and sequence numbers are not reused", async () => {
  const store = openStore("clear");
  await store("record", {
    events: [
      ...turn,
      createDelta("hello"),
      completed,
      { type: "agent.completed", data: { runId: "t", result: "hello" } },
    ],
  });
  const usage = await store("usage");
  const last = (await store("read")).at(-1).seq;
  for (let time = 0; time < 2; time++) await store("clear");
  expect(await store("usage")).toEqual(usage);
  const tables = await store("tables");
  for (const name of [
    "turns",
    "inputs",
    "messages",
    "ledger",
    "actions",
    "facts",
    "blobs",
    "tasks",
    "subagents",
    "approvals",
    "continuations",
  ])
    expect([name, tables[name]]).toEqual([name, []]);
  await store("rebuild");
  expect(await store("usage")).toEqual(usage);
  expect((await store("read")).map(({ type, seq }: AgentEvent) => [type, seq])).toEqual([
    ["history.cleared", last + 2],
  ]);
  await store("reopen");
  expect((await store("record", { events: turn }))[0].seq).toBe(last + 3);
});

test("an app and its blob survive clearing and rebuilding, and a removed app does not come back", async () => {
  const store = openStore("app");
  const app = (blob: string) => ({
    version: blob.slice(0, 3),
    blob,
    main: "main.ts",
    modules: ["lib/a.ts"],
    bytes: 12,
    by: "owner",
  });
  const [first] = await store("record", { events: [{ type: "app.set", data: app("one-blob") }] });
  expect(await store("app")).toEqual({ ...app("one-blob"), updatedAt: first.ts });
  const [second] = await store("record", {
    events: [
      { type: "app.set", data: app("two-blob") },
      { type: "title.set", data: { title: "x" } },
    ],
  });
  const current = { ...app("two-blob"), updatedAt: second.ts };
  expect(await store("blobs")).toEqual([
    { hash: "one-blob", media_type: "application/json" },
    { hash: "two-blob", media_type: "application/json" },
  ]);
  // Twice: a second clearing keeps the app too.
  for (const step of ["rebuild", "clear", "rebuild", "clear", "reopen", "rebuild"]) {
    await store(step);
    expect([step, await store("app")]).toEqual([step, current]);
  }
  expect(await store("blobs")).toEqual([{ hash: "two-blob", media_type: "application/json" }]);
  await store("record", { events: [{ type: "app.removed", data: { by: "owner" } }] });
  for (const step of ["rebuild", "clear", "rebuild"]) {
    expect([step, await store("app")]).toEqual([step, null]);
    await store(step);
  }
  expect([await store("app"), await store("blobs")]).toEqual([null, []]);
});

test("a long result of a sub-agent is needed from its report on, before its branch is merged", async () => {
  const store = openStore("reported");
  const usage = { calls: 1, inputTokens: 1, outputTokens: 1, costUsd: 0 };
  const child = { childThreadId: "a~b/c", taskId: "t" };
  const end = { status: "complete", result: "long…", resultBlob: "report", resultBytes: 9000, steps: 1, ms: 1, usage };
  await store("record", { events: [{ type: "subagent.reported", data: { ...child, ...end } }] });
  expect(await store("blobs")).toEqual([{ hash: "report", media_type: "text/plain" }]);
});

test("usage is kept by day and model, tool time without a model, and survives clearing", async () => {
  const store = openStore("days");
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
    // Cleared by a release without daily usage: counts for the day of clearing.
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
  const { usage: seen } = await store("load", { log });
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
  const spending = (await store("tables")).spending;
  expect(
    spending.find(({ day, model }: { day: string; model: string }) => day === "2026-01-03" && model === "x:a"),
  ).toMatchObject({ cost_usd: 0.25, unknown: 1 });
  await store("clear");
  expect((await store("tables")).spending).toEqual(spending);
  await store("rebuild");
  expect((await store("tables")).spending).toEqual(spending);
});

test("a turn's elapsed time excludes its time in the queue, its pauses, and the host's downtime", async () => {
  const store = openStore("elapsed");
  const [accepted, ...started] = turn;
  const seconds: [number, NewEvent][] = [
    [0, accepted as NewEvent],
    // A minute in the queue.
    ...started.map((event): [number, NewEvent] => [60, event]),
    [62, completed],
    [63, { type: "run.paused", data: { runId: "t", reason: "deferred" } }],
    // An hour until the deferred result, which is recorded before the turn resumes.
    [
      3663,
      {
        type: "continuation.resolved",
        data: { runId: "t", continuationId: "w", callId: "c", value: "x" },
      },
    ],
    [3663, { type: "run.resumed", data: { runId: "t", reason: "resolved", attempt: 0, crashes: 0, boot: "b" } }],
    [3665, { type: "run.tick", data: { runId: "t", step: 2 } }],
    // Events of another turn do not count.
    [3670, { type: "run.canceled", data: { runId: "other" } }],
    // The host is down for a day.
    [90_000, { type: "run.resumed", data: { runId: "t", reason: "recovered", attempt: 1, crashes: 1, boot: "c" } }],
    [90_004, { type: "run.tick", data: { runId: "t", step: 2 } }],
  ];
  const log = seconds.map(([second, event], index) => ({
    ...event,
    seq: index + 1,
    ts: new Date(second * 1000).toISOString(),
    threadId: "global~test",
  }));
  await store("load", { log });
  expect(await store("elapsed")).toBe((3 + 2 + 4) * 1000);
});
