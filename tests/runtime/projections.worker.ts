import type { ChatFrame, NewEvent } from "@thinkery/sdk";
import { Redactor } from "@thinkery/sdk/internal";
import { DurableObject } from "cloudflare:workers";
import { Broadcaster, type Subscriber } from "../../packages/runtime/src/objects/broadcaster.ts";
import { converse } from "../../packages/runtime/src/objects/broadcasts.ts";
import { sendInitialFrames } from "../../packages/runtime/src/objects/initial-frames.ts";
import type { Socket } from "../../packages/runtime/src/objects/socket.ts";
import { AgentStore } from "../../packages/runtime/src/store/agent-store.ts";
import { migrate } from "../../packages/runtime/src/store/migrate.ts";
import { thinkSchema } from "../../packages/runtime/src/store/schema/think.ts";
import { isOver } from "../../packages/runtime/src/store/turns.ts";
import { createOutcome } from "../../packages/runtime/src/turn/admission/outcome.ts";
import { Recorder } from "../../packages/runtime/src/turn/loop/recorder.ts";
import type { PlaybackResult, PlaybackStep } from "./projection-playback.ts";

/** An agent's store and its subscribers, without a model or tools. Plays back a list of steps. */
export class Player extends DurableObject {
  override async fetch(request: Request): Promise<Response> {
    migrate(this.ctx.storage, thinkSchema);
    const store = new AgentStore(this.ctx.storage, "global~alice", new Redactor([]));
    const broadcaster = new Broadcaster(store, () => {});
    const recorder = new Recorder(store, broadcaster, new Redactor([]));
    const frames: string[] = [];
    const send = (texts: readonly string[]) => frames.push(...texts);
    const subscriber: Subscriber = { receive: (frames) => send(frames.map(({ text }) => text)) };
    const runStreams: Record<string, Promise<string>> = {};

    const record = (events: readonly NewEvent[], stored: boolean) => {
      const [first] = events;
      if (first?.type === "model.delta") {
        const { runId, delta = "", reasoning = "" } = first.data;
        recorder.appendDelta(runId, delta, reasoning);
        if (stored && delta + reasoning !== "") recorder.record();
        return;
      }
      // Like the turn and its recovery: unstored text is discarded.
      if (first?.type === "model.failed" || (first?.type === "run.resumed" && first.data.reason === "recovered"))
        recorder.discardText();
      if (first?.type !== "request.accepted" || first.data.joined) return recorder.record(...events);
      const { runId, position, messages } = first.data;
      const admit = () => {
        recorder.record(...events);
        return { runId, messageId: messages.at(-1)?.id ?? "", status: "registered" as const, position };
      };
      const { body } = converse(store, broadcaster, recorder, "alice", admit, () => {});
      runStreams[runId] = new Response(body).text();
    };

    const connect = () => {
      sendInitialFrames({ state: {}, send } as unknown as Socket, store, recorder, findLastSeq(frames));
      broadcaster.subscribe(subscriber);
    };

    connect();
    for (const step of (await request.json()) as PlaybackStep[]) {
      if ("connection" in step) {
        if (step.connection === "open") connect();
        else broadcaster.unsubscribe(subscriber);
        continue;
      }
      record(step.events, step.store ?? false);
      if (step.flush) broadcaster.flush();
    }
    broadcaster.flush();
    const turns = Object.keys(runStreams)
      .flatMap((runId) => store.turns.get(runId) ?? [])
      .filter(isOver);
    const runs = await Promise.all(Object.entries(runStreams).map(async ([runId, text]) => [runId, await text]));
    const result: PlaybackResult = {
      frames,
      runs: Object.fromEntries(runs),
      outcomes: turns.map((turn) => createOutcome(store, "alice", turn)),
    };
    return Response.json(result);
  }
}

/** The sequence number of the last event a client has received. */
function findLastSeq(frames: readonly string[]): number | undefined {
  for (const text of frames.toReversed()) {
    const frame = JSON.parse(text) as ChatFrame | { seq: number };
    if ("seq" in frame) return frame.seq;
    if (frame.type === "sync") return frame.last;
  }
  return undefined;
}

export default {
  fetch(request: Request, env: { Player: DurableObjectNamespace<Player> }): Promise<Response> | Response {
    if (request.method === "GET") return new Response("alive");
    return env.Player.getByName(new URL(request.url).pathname).fetch(request);
  },
};
