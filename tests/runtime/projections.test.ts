import { type AgentEvent, type ChatFrame, type JobEvent, type NewEvent, eventToUpdates } from "@thinkery/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Transcript } from "../../packages/daemon/src/cli/talk/transcript.ts";
import { reduceDraft, type Draft } from "../../packages/runtime/src/store/draft.ts";
import { type TurnEvent, TurnReader } from "../../packages/sdk/src/client/turn-event.ts";
import { emptyConversation, type Conversation } from "../../packages/sdk/src/conversation/conversation.ts";
import { receive } from "../../packages/sdk/src/conversation/receive.ts";
import { createTurnState, reduceTurn, type TurnState } from "../../packages/sdk/src/conversation/turn-state.ts";
import { expectValidEvents } from "../kit/event-check.ts";
import { createRandom } from "../kit/random.ts";
import { type BareWorker, startBareWorker } from "../kit/workerd.ts";
import { createEventGenerator } from "./history.ts";
import type { Deed, Played } from "./projections.ts";

// One log, told by everybody who tells it: the socket, `/run`, the client, the page, the command line and the server.

let worker: BareWorker;

beforeAll(async () => {
  worker = await startBareWorker(new URL("projections.worker.ts", import.meta.url), { objects: ["Player"] });
});

afterAll(() => worker?.stop());

type Frame = ChatFrame | AgentEvent;

interface PlayResult {
  events: AgentEvent[];
  frames: Frame[];
  runs: Map<string, JobEvent[]>;
  outcomes: Played["outcomes"];
}

async function playDeeds(object: string, deeds: readonly Deed[]): Promise<PlayResult> {
  const response = await fetch(`${worker.url}/${object}`, { method: "POST", body: JSON.stringify(deeds) });
  expect(response.status).toBe(200);
  const played = (await response.json()) as Played;
  const frames = played.frames.map((text) => JSON.parse(text) as Frame);
  const events = frames.filter((frame): frame is AgentEvent => "seq" in frame);
  expect(
    events.map(({ seq }) => seq),
    "each event once and in order",
  ).toEqual(events.map((_, index) => index + 1));
  const runs = Object.entries(played.runs).map(([runId, text]) => [runId, parseJobEvents(text)] as const);
  return { events, frames, runs: new Map(runs), outcomes: played.outcomes };
}

function parseJobEvents(text: string): JobEvent[] {
  return [...text.matchAll(/^data: (.*)$/gm)].map(([, data = ""]) => JSON.parse(data) as JobEvent);
}

interface Call {
  id: string;
  output: string | undefined;
  failed: boolean;
}

/** A turn as one of them tells it: the texts of its messages that are not empty, and its calls. */
interface View {
  texts: string[];
  calls: Call[];
}

const sortCalls = (calls: Call[]) => calls.toSorted((one, other) => one.id.localeCompare(other.id));

/** What the client reads from the log. */
function readTurn({ events }: PlayResult, runId: string, messageId: string) {
  const reader = new TurnReader("alice", runId, messageId);
  const told: TurnEvent[] = [];
  for (const event of events) if (!reader.outcome) told.push(...reader.read(event));
  const texts = new Map<string, string>();
  for (const event of told) {
    if (event.type === "text") texts.set(event.messageId, (texts.get(event.messageId) ?? "") + event.text);
    if (event.type === "unsaid") texts.delete(event.messageId);
  }
  const calls = told.flatMap((event) =>
    event.type === "tool_result" ? [{ id: event.callId, output: event.output, failed: event.failed ?? false }] : [],
  );
  return { reader, told, texts, calls: sortCalls(calls) };
}

/** What the page shows. */
function showOnPage({ frames }: PlayResult): Conversation {
  return frames.reduce(receive, emptyConversation);
}

function viewPage({ entries }: Conversation, runId: string): View {
  const own = entries.filter((entry) => entry.runId === runId && entry.role === "assistant");
  const calls = own.flatMap((entry) =>
    entry.calls.map(({ id, result }) => ({ id, output: result?.output, failed: result?.failed ?? false })),
  );
  return { texts: own.map(({ text }) => text).filter(Boolean), calls: sortCalls(calls) };
}

/** What the command line prints for somebody who waits for this turn. */
function printTurn({ frames }: PlayResult, runId: string): View & { restarts: number } {
  const texts = [""];
  const calls: Call[] = [];
  let restarts = 0;
  const transcript = new Transcript(
    {
      onText: (piece) => void (texts[texts.length - 1] += piece),
      onParagraph: () => void texts.push(""),
      onRestart: () => {
        texts[texts.length - 1] = "";
        restarts++;
      },
      onCall: ({ id = "" }, { output, failed = false }) => void calls.push({ id, output, failed }),
    },
    (run) => run === runId,
  );
  for (const frame of frames) {
    if (frame.type === "history") transcript.catchUp(frame.messages);
    else transcript.handleFrame(frame);
  }
  return { texts: texts.filter(Boolean), calls: sortCalls(calls), restarts };
}

/** What `/run` streams. */
function viewStream(told: readonly JobEvent[]) {
  const text = told.flatMap((event) => (event.type === "chunk" ? event.text : [])).join("");
  const calls = told.flatMap((event) =>
    event.type === "tool_result" ? [{ id: event.callId, output: event.output, failed: event.failed ?? false }] : [],
  );
  return {
    text,
    calls: sortCalls(calls),
    opened: told.flatMap((event) => (event.type === "tool_call" ? event.call : [])),
    end: told.at(-1),
  };
}

const listKinds = (events: readonly AgentEvent[], runId: string) =>
  new Set(
    events
      .flatMap(eventToUpdates)
      .flatMap((update) => ("runId" in update && update.runId === runId ? update.kind : [])),
  );

/** Everybody tells each turn that was asked for by a request of its own alike. Returns how many of them there were. */
function expectAgreement(told: PlayResult, name: string): number {
  expectValidEvents(told.events);
  const page = showOnPage(told);
  const requests = told.events.flatMap((event) =>
    event.type === "request.accepted" && !event.data.joined ? event.data : [],
  );
  for (const { runId, messages } of requests) {
    const what = `${name}, ${runId}`;
    const { reader, told: turnEvents, texts, calls } = readTurn(told, runId, messages.at(-1)!.id);
    const { outcome } = reader;
    if (!outcome) expect.fail(`${what} has no outcome`);
    const kinds = listKinds(told.events, runId);
    // A failed turn leaves no unfinished message behind. The client has told what there was of it.
    const completed = new Set(
      told.events.flatMap((event) => (event.type === "model.completed" ? event.data.messageId : [])),
    );
    const kept = [...texts].filter(([id]) => outcome.status !== "error" || completed.has(id)).map(([, text]) => text);

    expect(viewPage(page, runId), `the page, ${what}`).toEqual({ texts: kept, calls });

    const printed = printTurn(told, runId);
    expect(printed.calls, `the command line, ${what}`).toEqual(calls);
    // What was printed of a message that was never finished cannot be taken back.
    if (!kinds.has("draft-discarded") && outcome.status !== "error")
      expect(printed.texts, `the command line, ${what}`).toEqual(kept);
    const finals = [...texts].filter(([id]) => completed.has(id)).map(([, text]) => text);
    expect(
      printed.texts.filter((text) => finals.includes(text)),
      `the command line, ${what}`,
    ).toEqual(finals);

    const run = viewStream(told.runs.get(runId) ?? []);
    expect(run.calls, `/run, ${what}`).toEqual(calls);
    expect(run.opened, `/run, ${what}`).toEqual(
      turnEvents.flatMap((event) => (event.type === "tool_call" ? event.call : [])),
    );
    if (!kinds.has("draft-discarded")) expect(run.text, `/run, ${what}`).toBe([...texts.values()].join(""));
    const { status, content, failure } = outcome;
    if (status === "error")
      expect(run.end, `/run, ${what}`).toMatchObject({
        type: "error",
        runId,
        code: failure?.code,
        message: failure?.message,
      });
    else expect(run.end, `/run, ${what}`).toEqual({ type: "done", agent: "alice", runId, status, content });

    const server = told.outcomes.find((one) => one.runId === runId);
    expect(server, `the server, ${what}`).toMatchObject({
      status,
      ...(status === "error" ? { failure } : { content }),
      toolCalls: outcome.toolCalls,
    });
    expect(server?.usage.inputTokens, `the server, ${what}`).toBe(outcome.usage.inputTokens);
    expect(server?.usage.costUsd === null, `the server, ${what}`).toBe(outcome.usage.costUsd === null);
    expect(server?.usage.costUsd ?? 0, `the server, ${what}`).toBeCloseTo(outcome.usage.costUsd ?? 0);
  }
  expectSameDrafts(told.events, name);
  return requests.length;
}

/** The store keeps the draft of the running step, by rules of its own for speed. */
function expectSameDrafts(events: readonly AgentEvent[], name: string): void {
  let stored: Draft | undefined;
  let turns = new Map<string, TurnState>();
  for (const event of events) {
    stored = reduceDraft(stored, event);
    for (const update of eventToUpdates(event)) {
      if (!("runId" in update) || update.runId === undefined) continue;
      const turn = turns.get(update.runId) ?? createTurnState(update.runId);
      turns = turns.set(update.runId, reduceTurn(turn, update));
    }
    const open = [...turns.values()]
      .filter(({ draft, end }) => draft && !end)
      .map(({ runId, draft }) => [runId, draft?.messageId, draft?.text]);
    expect(open, `${name}, event ${event.seq}`).toEqual(stored ? [[stored.runId, stored.messageId, stored.text]] : []);
  }
}

const accept = (runId: string, id: string, joined = false): NewEvent => ({
  type: "request.accepted",
  data: {
    runId,
    idempotencyKey: id,
    mode: joined ? "steer" : "queue",
    ...(joined ? { joined } : {}),
    position: 0,
    from: { user: "owner", context: {} },
    messages: [{ id, role: "user", content: id }],
  },
});
const start = (runId: string): NewEvent => ({ type: "run.started", data: { runId, model: "x:y", boot: "b" } });
const begin = (runId: string, messageId: string, step = 1): NewEvent => ({
  type: "model.started",
  data: { runId, step, messageId, model: "x:y", attempt: 1 },
});
const text = (runId: string, delta: string): NewEvent => ({ type: "model.delta", data: { runId, delta } });
const usage = { inputTokens: 3, outputTokens: 2, costUsd: 0.5 };
const complete = (runId: string, messageId: string, calls: string[] = [], step = 1): NewEvent => ({
  type: "model.completed",
  data: {
    runId,
    step,
    messageId,
    model: "x:y",
    finish: "stop",
    usage,
    ms: 1,
    toolCalls: calls.map((id) => ({ id, name: "echo", input: { id } })),
  },
});
const settle = (runId: string, callId: string, output: string): NewEvent => ({
  type: "tool.output",
  data: {
    runId,
    callId,
    toolName: "echo",
    messageId: `${callId}-m`,
    output,
    result: { callId, name: "echo", summary: output, preview: output, size: output.length },
    ms: 1,
    action: "echo",
  },
});
const finish = (runId: string, result: string): NewEvent => ({ type: "agent.completed", data: { runId, result } });
const cancel = (runId: string): NewEvent => ({ type: "run.canceled", data: { runId, reason: "canceled" } });
const resume = (runId: string): NewEvent => ({
  type: "run.resumed",
  data: { runId, reason: "recovered", attempt: 1, crashes: 1, boot: "c" },
});
const fail = (runId: string, retryInMs?: number): NewEvent => ({
  type: "model.failed",
  data: {
    runId,
    step: 1,
    attempt: 1,
    kind: "overloaded",
    error: "busy",
    ...(retryInMs === undefined ? {} : { retryInMs }),
  },
});

const toDeeds = (...events: NewEvent[]): Deed[] =>
  events.map((event) => ({ events: [event], store: true, tell: true }));

const logs: Record<string, Deed[]> = {
  "a turn with a tool": toDeeds(
    accept("r", "q"),
    start("r"),
    begin("r", "a"),
    text("r", "Let me "),
    text("r", "look."),
    complete("r", "a", ["c"]),
    settle("r", "c", "noon"),
    begin("r", "b", 2),
    text("r", "Noon."),
    complete("r", "b", [], 2),
    finish("r", "Noon."),
  ),
  "a retry": toDeeds(
    accept("r", "q"),
    start("r"),
    begin("r", "a"),
    text("r", "one"),
    fail("r", 5),
    begin("r", "b"),
    text("r", "uno"),
    complete("r", "b"),
    finish("r", "uno"),
  ),
  "a retry that says something else under the same id": toDeeds(
    accept("r", "q"),
    start("r"),
    begin("r", "a"),
    text("r", "one"),
    fail("r", 5),
    begin("r", "a"),
    text("r", "uno"),
    text("r", " dos"),
    complete("r", "a"),
    finish("r", "uno dos"),
  ),
  "a failure after retries": toDeeds(accept("r", "q"), start("r"), begin("r", "a"), text("r", "one"), fail("r"), {
    type: "agent.error",
    data: { runId: "r", error: "Busy.", code: "model_overloaded", advice: "Wait." },
  }),
  "a recovery": toDeeds(
    accept("r", "q"),
    start("r"),
    begin("r", "a"),
    text("r", "one two"),
    resume("r"),
    begin("r", "b"),
    text("r", "one two three"),
    complete("r", "b"),
    finish("r", "one two three"),
  ),
  "a cancelation in mid-sentence": toDeeds(
    accept("r", "q"),
    start("r"),
    begin("r", "a"),
    text("r", "I was "),
    text("r", "saying"),
    cancel("r"),
  ),
  "a cancelation before the second message has a word": toDeeds(
    accept("r", "q"),
    start("r"),
    begin("r", "a"),
    text("r", "First."),
    complete("r", "a", ["c"]),
    settle("r", "c", "x"),
    begin("r", "b", 2),
    cancel("r"),
  ),
  "a cancelation between a failed call and its retry": toDeeds(
    accept("r", "q"),
    start("r"),
    begin("r", "a"),
    text("r", "void"),
    fail("r", 500),
    cancel("r"),
  ),
  "a cancelation right after a recovery": toDeeds(
    accept("r", "q"),
    start("r"),
    begin("r", "a"),
    text("r", "void"),
    resume("r"),
    cancel("r"),
  ),
  "a message that joined": toDeeds(
    accept("r", "q"),
    start("r"),
    begin("r", "a"),
    text("r", "Going"),
    accept("r", "q2", true),
    complete("r", "a"),
    { type: "message.delivered", data: { runId: "r", messageIds: ["q2"] } },
    begin("r", "b", 2),
    text("r", "Left"),
    complete("r", "b", [], 2),
    finish("r", "Left"),
  ),
  "a message that joined too late": toDeeds(
    accept("r", "q"),
    start("r"),
    begin("r", "a"),
    text("r", "Going"),
    accept("r", "q2", true),
    { type: "message.requeued", data: { runId: "s", fromRunId: "r", messageIds: ["q2"] } },
    cancel("r"),
    start("s"),
    begin("s", "b"),
    text("s", "Yes"),
    complete("s", "b"),
    finish("s", "Yes"),
  ),
  "a turn that was canceled while it waited": toDeeds(
    accept("r", "q"),
    start("r"),
    begin("r", "a"),
    text("r", "One"),
    accept("s", "q2"),
    cancel("s"),
    text("r", " more"),
    complete("r", "a"),
    finish("r", "One more"),
  ),
  "a connection that is lost in mid-sentence": [
    ...toDeeds(accept("r", "q"), start("r"), begin("r", "a"), text("r", "one ")),
    { connection: "lost" },
    ...toDeeds(
      text("r", "two "),
      complete("r", "a", ["c"]),
      settle("r", "c", "x"),
      begin("r", "b", 2),
      text("r", "three "),
    ),
    { connection: "open" },
    ...toDeeds(text("r", "four"), complete("r", "b", [], 2), finish("r", "three four")),
  ],
};

test.each(Object.entries(logs))("everybody tells %s alike", async (name, deeds) => {
  const told = await playDeeds(name, deeds);
  expect(expectAgreement(told, name)).toBeGreaterThan(0);
});

test("a message that moved to another turn is followed there", async () => {
  const told = await playDeeds("followed", logs["a message that joined too late"]!);
  const { reader, texts } = readTurn(told, "r", "q2");
  expect(reader.outcome).toMatchObject({ runId: "s", status: "completed", content: "Yes" });
  expect([...texts.values()]).toEqual(["Yes"]);
  expect(showOnPage(told).entries.find(({ id }) => id === "q2")).toMatchObject({ runId: "s", stage: "done" });
});

test("everybody tells whatever may happen alike", async () => {
  const chance = createRandom("projections");
  let turns = 0;
  for (let world = 0; world < 25; world++) {
    const invent = createEventGenerator(chance);
    const deeds: Deed[] = [];
    const happen = (events: NewEvent[]) => deeds.push({ events, store: chance.chance(0.3), tell: chance.chance(0.5) });
    // Few enough for one history to hold them all.
    for (let step = 0; step < 60; step++) {
      happen(invent.next());
      if (chance.chance(0.04)) {
        const resumed = invent.resume();
        if (resumed.length > 0) happen(resumed);
      }
      if (chance.chance(0.05)) {
        deeds.push({ connection: "lost" });
        for (let missed = chance.below(6); missed > 0; missed--) happen(invent.next());
        deeds.push({ connection: "open" });
      }
    }
    for (let events = invent.finish(); events.length > 0; events = invent.finish()) happen(events);
    const told = await playDeeds(`world-${world}`, deeds);
    turns += expectAgreement(told, `world ${world}`);
  }
  expect(turns).toBeGreaterThan(25);
});
