import { type AgentEvent, type ChatFrame, type JobEvent, eventToUpdates } from "@thinkery/sdk";
import { afterAll, beforeAll, expect } from "vitest";
import { Transcript } from "../../packages/daemon/src/cli/conversation/transcript.ts";
import { reduceDraft, type Draft } from "../../packages/runtime/src/store/draft.ts";
import { findOutcome } from "../../packages/sdk/src/client/outcome.ts";
import { type TurnEvent, TurnReader } from "../../packages/sdk/src/client/turn-event.ts";
import { emptyConversation, type Conversation } from "../../packages/sdk/src/conversation/conversation.ts";
import { receive } from "../../packages/sdk/src/conversation/receive.ts";
import { createTurnState, reduceTurn, type TurnState } from "../../packages/sdk/src/conversation/turn-state.ts";
import { expectValidEvents } from "../kit/event-check.ts";
import { type BareWorker, startBareWorker } from "../kit/workerd.ts";
import type { PlaybackResult, PlaybackStep } from "./projection-playback.ts";

// Plays a log back and compares how the socket, `/run`, the client, the page, the CLI and the server present it.

type Frame = ChatFrame | AgentEvent;

/** A playback's output, parsed. */
interface Playback {
  events: AgentEvent[];
  frames: Frame[];
  runs: Map<string, JobEvent[]>;
  outcomes: PlaybackResult["outcomes"];
}

/** Starts a Worker for the tests of a file; returns a function that plays steps back in a new object. */
export function usePlayback(): (object: string, steps: readonly PlaybackStep[]) => Promise<Playback> {
  let worker: BareWorker | undefined;
  beforeAll(async () => {
    worker = await startBareWorker(new URL("projections.worker.ts", import.meta.url), { objects: ["Player"] });
  });
  afterAll(() => worker?.stop());

  return async (object, steps) => {
    const response = await fetch(`${worker?.url}/${object}`, { method: "POST", body: JSON.stringify(steps) });
    expect(response.status).toBe(200);
    const result = (await response.json()) as PlaybackResult;
    const frames = result.frames.map((text) => JSON.parse(text) as Frame);
    const events = frames.filter((frame): frame is AgentEvent => "seq" in frame);
    expect(
      events.map(({ seq }) => seq),
      "each event once and in order",
    ).toEqual(events.map((_, index) => index + 1));
    const runs = Object.entries(result.runs).map(([runId, text]) => [runId, parseJobEvents(text)] as const);
    return { events, frames, runs: new Map(runs), outcomes: result.outcomes };
  };
}

function parseJobEvents(text: string): JobEvent[] {
  return [...text.matchAll(/^data: (.*)$/gm)].map(([, data = ""]) => JSON.parse(data) as JobEvent);
}

interface Call {
  id: string;
  output: string | undefined;
  failed: boolean;
}

/** One presentation of a turn: its non-empty message texts, and its tool calls. */
interface View {
  texts: string[];
  calls: Call[];
}

const sortCalls = (calls: Call[]) => calls.toSorted((a, b) => a.id.localeCompare(b.id));

/** A turn as the client reads it from the log. */
export function readTurn({ events }: Playback, runId: string, messageId: string) {
  const reader = new TurnReader("alice", runId, messageId);
  const turnEvents: TurnEvent[] = [];
  for (const event of events) if (!reader.outcome) turnEvents.push(...reader.read(event));
  const texts = new Map<string, string>();
  for (const event of turnEvents) {
    if (event.type === "text") texts.set(event.messageId, (texts.get(event.messageId) ?? "") + event.text);
    if (event.type === "discarded") texts.delete(event.messageId);
  }
  const calls = turnEvents.flatMap((event) =>
    event.type === "tool_result" ? [{ id: event.callId, output: event.output, failed: event.failed ?? false }] : [],
  );
  return { reader, turnEvents, texts, calls: sortCalls(calls) };
}

/** The conversation as the page shows it. */
export function showOnPage({ frames }: Playback): Conversation {
  return frames.reduce(receive, emptyConversation);
}

function viewPage({ entries }: Conversation, runId: string): View {
  const turnEntries = entries.filter((entry) => entry.runId === runId && entry.role === "assistant");
  const calls = turnEntries.flatMap((entry) =>
    entry.calls.map(({ id, result }) => ({ id, output: result?.output, failed: result?.failed ?? false })),
  );
  return { texts: turnEntries.map(({ text }) => text).filter(Boolean), calls: sortCalls(calls) };
}

/** A turn as the CLI prints it for a user who waits for it. */
function printTurn({ frames }: Playback, runId: string): View & { restarts: number } {
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

/** A turn as `/run` streams it. */
function viewStream(jobEvents: readonly JobEvent[]) {
  const text = jobEvents.flatMap((event) => (event.type === "chunk" ? event.text : [])).join("");
  const calls = jobEvents.flatMap((event) =>
    event.type === "tool_result" ? [{ id: event.callId, output: event.output, failed: event.failed ?? false }] : [],
  );
  return {
    text,
    calls: sortCalls(calls),
    opened: jobEvents.flatMap((event) => (event.type === "tool_call" ? event.call : [])),
    end: jobEvents.at(-1),
  };
}

const listUpdateKinds = (events: readonly AgentEvent[], runId: string) =>
  new Set(
    events
      .flatMap(eventToUpdates)
      .flatMap((update) => ("runId" in update && update.runId === runId ? update.kind : [])),
  );

/** Checks that all presentations of each separately requested turn agree. Returns the number of these turns. */
export function expectAgreement(playback: Playback, name: string): number {
  expectValidEvents(playback.events);
  const page = showOnPage(playback);
  const requests = playback.events.flatMap((event) =>
    event.type === "request.accepted" && !event.data.joined ? event.data : [],
  );
  for (const { runId, messages } of requests) {
    const label = `${name}, ${runId}`;
    const { reader, turnEvents, texts, calls } = readTurn(playback, runId, messages.at(-1)!.id);
    const { outcome } = reader;
    if (!outcome) expect.fail(`${label} has no outcome`);
    const kinds = listUpdateKinds(playback.events, runId);
    // A failed turn leaves no unfinished message behind; the client has received its text, though.
    const completed = new Set(
      playback.events.flatMap((event) =>
        event.type === "model.completed" || event.type === "reply.completed" ? event.data.messageId : [],
      ),
    );
    const finalTexts = [...texts]
      .filter(([id]) => outcome.status !== "error" || completed.has(id))
      .map(([, text]) => text);

    expect(viewPage(page, runId), `the page, ${label}`).toEqual({ texts: finalTexts, calls });

    const printed = printTurn(playback, runId);
    expect(printed.calls, `the CLI, ${label}`).toEqual(calls);
    // Printed text of a message that was never completed cannot be removed.
    if (!kinds.has("draft-discarded") && outcome.status !== "error")
      expect(printed.texts, `the CLI, ${label}`).toEqual(finalTexts);
    const completedTexts = [...texts].filter(([id]) => completed.has(id)).map(([, text]) => text);
    expect(
      printed.texts.filter((text) => completedTexts.includes(text)),
      `the CLI, ${label}`,
    ).toEqual(completedTexts);

    const run = viewStream(playback.runs.get(runId) ?? []);
    expect(run.calls, `/run, ${label}`).toEqual(calls);
    expect(run.opened, `/run, ${label}`).toEqual(
      turnEvents.flatMap((event) => (event.type === "tool_call" ? event.call : [])),
    );
    if (!kinds.has("draft-discarded")) expect(run.text, `/run, ${label}`).toBe([...texts.values()].join(""));
    const { status, content, failure } = outcome;
    if (status === "error")
      expect(run.end, `/run, ${label}`).toMatchObject({
        type: "error",
        runId,
        code: failure?.code,
        message: failure?.message,
      });
    else expect(run.end, `/run, ${label}`).toEqual({ type: "done", agent: "alice", runId, status, content });

    const server = playback.outcomes.find((candidate) => candidate.runId === runId);
    expect(server, `the server, ${label}`).toMatchObject({
      status,
      ...(status === "error" ? { failure } : { content }),
      toolCalls: outcome.toolCalls,
    });
    // Sub-agents may go on after the turn.
    const usage = findOutcome(playback.events, reader.runId, "alice")?.usage;
    expect(server?.usage.inputTokens, `the server, ${label}`).toBe(usage?.inputTokens);
    expect(server?.usage.costUsd === null, `the server, ${label}`).toBe(usage?.costUsd === null);
    expect(server?.usage.costUsd ?? 0, `the server, ${label}`).toBeCloseTo(usage?.costUsd ?? 0);
  }
  expectSameDrafts(playback.events, name);
  return requests.length;
}

/** Checks that the store's draft, which is computed separately for speed, equals that of the turn's state. */
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
