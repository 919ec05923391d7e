import type { ChatFrame, NewEvent } from "@thinkery/sdk";
import { DurableObject } from "cloudflare:workers";
import { Broadcaster, type Subscriber } from "../../packages/runtime/src/objects/broadcaster.ts";
import { converse } from "../../packages/runtime/src/objects/broadcasts.ts";
import { sendInitialFrames } from "../../packages/runtime/src/objects/initial-frames.ts";
import type { Socket } from "../../packages/runtime/src/objects/socket.ts";
import { AgentStore } from "../../packages/runtime/src/store/agent-store.ts";
import { migrate } from "../../packages/runtime/src/store/migrate.ts";
import { createRedactor } from "../../packages/runtime/src/store/redact.ts";
import { thinkSchema } from "../../packages/runtime/src/store/schema/think.ts";
import { isOver } from "../../packages/runtime/src/store/turns.ts";
import { createOutcome } from "../../packages/runtime/src/turn/admission/outcome.ts";
import { Recorder } from "../../packages/runtime/src/turn/loop/recorder.ts";
import type { Deed, Played } from "./projections.ts";

/** An agent's store with everybody who listens to it, without a model or tools. */
export class Player extends DurableObject {
  override async fetch(request: Request): Promise<Response> {
    migrate(this.ctx.storage, thinkSchema);
    const store = new AgentStore(this.ctx.storage, "global~alice", createRedactor([]));
    const audience = new Broadcaster(store, () => {});
    const recorder = new Recorder(store, audience);
    const frames: string[] = [];
    const send = (texts: readonly string[]) => frames.push(...texts);
    const ear: Subscriber = { receive: (news) => send(news.map(({ text }) => text)) };
    const runs: Record<string, Promise<string>> = {};

    const record = (events: readonly NewEvent[], stored: boolean) => {
      const [first] = events;
      if (first?.type === "model.delta") {
        const { runId, delta = "", reasoning = "" } = first.data;
        recorder.say(runId, delta, reasoning);
        if (stored && delta + reasoning !== "") recorder.record();
        return;
      }
      // As the turn and its recovery do: what was not stored is lost.
      if (first?.type === "model.failed" || (first?.type === "run.resumed" && first.data.reason === "recovered"))
        recorder.discardText();
      if (first?.type !== "request.accepted" || first.data.joined) return recorder.record(...events);
      const { runId, position, messages } = first.data;
      const stream = converse(store, audience, recorder, "alice", () => {
        recorder.record(...events);
        return { runId, messageId: messages.at(-1)?.id ?? "", status: "registered", position };
      });
      runs[runId] = new Response(stream).text();
    };

    const connect = () => {
      sendInitialFrames({ state: {}, send } as unknown as Socket, store, recorder, findLastSeq(frames));
      audience.subscribe(ear);
    };

    connect();
    for (const deed of (await request.json()) as Deed[]) {
      if ("connection" in deed) {
        if (deed.connection === "open") connect();
        else audience.unsubscribe(ear);
        continue;
      }
      record(deed.events, deed.store ?? false);
      if (deed.tell) audience.flush();
    }
    audience.flush();
    const turns = Object.keys(runs)
      .flatMap((runId) => store.turns.get(runId) ?? [])
      .filter(isOver);
    const told = await Promise.all(Object.entries(runs).map(async ([runId, text]) => [runId, await text]));
    const played: Played = {
      frames,
      runs: Object.fromEntries(told),
      outcomes: turns.map((turn) => createOutcome(store, "alice", turn)),
    };
    return Response.json(played);
  }
}

/** The number of the last event that a client knows of. */
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
