import type { ChatFrame } from "@thinkery/sdk";
import type { AgentStore } from "../store/agent-store.ts";
import { toDraftMessage } from "../store/draft.ts";
import type { Recorder } from "../turn/loop/recorder.ts";
import { createStatus } from "./snapshot.ts";
import type { Socket } from "./socket.ts";

const maxMessages = 50;
/** Limits the history of conversations with long messages; older ones are fetched page by page. */
const maxHistoryChars = 1_000_000;
const maxEventsPerBatch = 500;
const maxBatchChars = 256_000;

/** Sends a new client the events it missed, the current state, and the message being generated. */
export function sendInitialFrames(
  socket: Socket,
  store: AgentStore,
  recorder: Recorder,
  after: number | undefined,
): void {
  if (after !== undefined && socket.state.only !== "chat") {
    for (let from = after; ;) {
      const events = store.log.read(from, maxEventsPerBatch, maxBatchChars);
      if (events.length === 0) break;
      socket.send(events.map((event) => JSON.stringify(event)));
      from = events.at(-1)?.seq ?? from;
    }
  }
  if (socket.state.only === "events") return;
  const { messages } = store.messages.page({ limit: maxMessages }, maxHistoryChars);
  const frames: ChatFrame[] = [
    { type: "sync", state: createStatus(store, ""), last: store.log.last },
    { type: "history", messages },
  ];
  const draft = recorder.getDraft();
  if (draft) frames.push({ type: "pending-message", message: toDraftMessage(draft, { checkpoint: store.log.last }) });
  socket.send(frames.map((frame) => JSON.stringify(frame)));
}
