import type { Mode } from "@thinkery/sdk";
import { type Talk, talk } from "@thinkery/sdk/client";
import { onRedial } from "../api/follow.ts";
import { call, socketAddress } from "../api/host.ts";
import { messageOf } from "../api/login.ts";
import { createStore, type Store } from "../api/store.ts";
import { blank, type Conversation, type Frame } from "./conversation.ts";
import { extended } from "./history.ts";
import { addToOutbox, type Pair, readOutbox, removeFromOutbox, type Unsent } from "./outbox.ts";
import { paced } from "./paced.ts";
import { forgotten, receive, spoken } from "./receive.ts";

export type Line = { state: "connecting" | "open" | "lost" } | { state: "refused"; reason: string };

/** The host ends a connection over a longer frame, so such a message would never get through. */
const longestMessage = 1_000_000;

/** A conversation that is followed, and what can be done in it. */
export interface OpenTalk {
  conversation: Store<Conversation>;
  line: Store<Line>;
  /** False when it cannot be sent at all; the conversation says why. */
  say(content: string, mode: Mode): boolean;
  /** Takes away what was refused. */
  takeBack(id: string): void;
  cancel(runId: string | undefined): void;
  loadOlder(): Promise<void>;
  close(): void;
}

export function openTalk(pair: Pair): OpenTalk {
  const { agency, agent } = pair;
  const params = { agency, agent };
  const conversation = createStore<Conversation>(blank);
  const line = createStore<Line>({ state: "connecting" });
  let after: number | undefined;
  let loading: Promise<void> | undefined;

  const change = (part: (now: Conversation) => Conversation) => conversation.set(part(conversation.get()));
  const frames = paced<Frame>((gathered) => {
    change((now) => gathered.reduce(receive, now));
    for (const frame of gathered) {
      if ("seq" in frame) continue;
      if (frame.type === "task-queued") removeFromOutbox(pair, [frame.id]);
      if (frame.type === "error" && frame.id !== undefined) removeFromOutbox(pair, [frame.id]);
    }
  });

  const dial = (): Talk => {
    const dialled = talk({
      url: socketAddress(`/agency/${encodeURIComponent(agency)}/agent/${encodeURIComponent(agent)}/ws`),
      ...(after === undefined ? {} : { after }),
      onFrame(frame) {
        if ("seq" in frame) after = Math.max(after ?? 0, frame.seq);
        frames.add(frame);
      },
      onConnection(state, reason) {
        line.set(state === "refused" ? { state, reason: reason ?? "The host does not let you in here." } : { state });
        if (state === "open") void look();
      },
    });
    for (const { id, content, mode, at } of readOutbox(pair)) {
      change((now) => spoken(now, id, content, at));
      dialled.send({ type: "chat", id, content, mode });
    }
    return dialled;
  };

  // The socket tells of changes; what was there before, such as the todos, is asked for when it opens.
  const look = async () => {
    const before = conversation.get();
    const answer = await call("getState", { params }).catch(() => undefined);
    if (!answer) return;
    frames.flush();
    const { todos, title, model } = answer.state;
    change((now) => ({
      ...now,
      model: now.model === before.model ? (model ?? now.model) : now.model,
      title: now.title ?? title,
      todos: now.todos === before.todos ? todos : now.todos,
    }));
  };

  let dialled = dial();
  const stopRedialling = onRedial(() => {
    dialled.close();
    dialled = dial();
  });

  const older = async () => {
    const seq = conversation.get().entries.find((entry) => entry.seq !== undefined)?.seq;
    if (seq === undefined || !conversation.get().older) return;
    try {
      const { messages, next } = await call("listMessages", { params, query: { before: seq, limit: 50 } });
      change((now) => extended(now, messages, next !== undefined));
    } catch (error) {
      change((now) => ({ ...now, trouble: { message: messageOf(error) } }));
    }
  };

  return {
    conversation,
    line,
    say(content, mode) {
      const size = JSON.stringify(content).length;
      if (size > longestMessage) {
        const message = `This is too long to be sent: it has ${size.toLocaleString("en")} characters, and ${longestMessage.toLocaleString("en")} is the most.`;
        change((now) => ({ ...now, trouble: { message, advice: "Shorten it, or send it in parts." } }));
        return false;
      }
      const unsent: Unsent = { id: newId(), content, mode, at: Date.now() };
      addToOutbox(pair, unsent);
      change((now) => spoken(now, unsent.id, content, unsent.at));
      dialled.send({ type: "chat", id: unsent.id, content, mode });
      return true;
    },
    takeBack(id) {
      removeFromOutbox(pair, [id]);
      change((now) => forgotten(now, id));
    },
    cancel(runId) {
      dialled.send({ type: "cancel", ...(runId === undefined ? {} : { runId }) });
    },
    loadOlder: () => (loading ??= older().finally(() => (loading = undefined))),
    close() {
      stopRedialling();
      frames.stop();
      dialled.close();
    },
  };
}

/** `crypto.randomUUID` is missing where the page does not come from this machine or over TLS. */
function newId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
