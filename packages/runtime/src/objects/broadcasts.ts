import { type Admission, type ChatFrame, type ConversationUpdate, type JobEvent, toUpdates } from "@thinkery/sdk";
import type { AgentStore } from "../store/agent-store.ts";
import { isOver } from "../store/turns.ts";
import type { Recorder } from "../turn/loop/recorder.ts";
import type { Broadcaster, Frame } from "./broadcaster.ts";
import { createJobEnd, listWaitEvents, toJobEvent } from "./job-events.ts";
import { type EventStream, createEventStream, formatSse } from "./stream.ts";

const maxEventsPerRead = 500;
const maxReadChars = 256_000;

/**
 * Streams the log from a sequence number on, and then as it grows. A lagging reader is not sent more than it reads: the
 * rest is read from the log when it is ready, so nothing accumulates here. The progress of running calls and of
 * sub-agents that stream is not logged; with `progress`, readers that keep up receive it.
 */
export function followEvents(
  store: AgentStore,
  broadcaster: Broadcaster,
  after: number | undefined,
  progress: boolean,
  onEnd: () => void,
): EventStream {
  let position = after ?? store.log.last;
  const stream = createEventStream(
    (frames, self) => {
      if (self.isLagging()) return;
      const newFrames = frames.filter(({ event, frame }) =>
        event ? event.seq > position : progress && isProgress(frame),
      );
      const events = newFrames.flatMap(({ event }) => event ?? []);
      if (events.length > 0 ? events[0]?.seq !== position + 1 : position !== store.log.last) return;
      if (newFrames.length > 0)
        self.send(
          newFrames.map(({ event, frame, text }) => formatSse((event ?? frame).type, text, event?.seq)).join(""),
        );
      position = events.at(-1)?.seq ?? position;
    },
    (self) => {
      broadcaster.unsubscribe(self);
      onEnd();
    },
    (self) => {
      if (position >= store.log.last) return;
      const events = store.log.read(position, maxEventsPerRead, maxReadChars);
      self.send(events.map((event) => formatSse(event.type, JSON.stringify(event), event.seq)).join(""));
      position = events.at(-1)?.seq ?? position;
    },
  );
  stream.wantsSubagents = progress;
  broadcaster.subscribe(stream);
  // An id without data, so that a client disconnected before the first event knows where to resume.
  stream.send(`: welcome\nid: ${position}\n\n`);
  return stream;
}

const isProgress = ({ type }: ChatFrame) => type === "tool_progress" || type.startsWith("subagent_");

/** Streams one turn as it happens. Canceling the stream does not stop the turn. */
export function converse(
  store: AgentStore,
  broadcaster: Broadcaster,
  recorder: Recorder,
  agent: string,
  admit: () => Admission,
  onEnd: () => void,
): EventStream {
  let runId = "";
  let isOwnTurn = false;
  const send = (self: EventStream, event: JobEvent) => self.send(formatSse(event.type, JSON.stringify(event)));

  const receive = (frames: readonly Frame[], self: EventStream) => {
    for (const { event, frame } of frames) {
      for (const update of toUpdates(event ?? frame)) {
        if (update.kind === "turn-started" || update.kind === "turn-resumed") isOwnTurn = update.runId === runId;
        const jobEvent = isOwnTurn ? toJobEvent(update, agent) : undefined;
        if (jobEvent) send(self, jobEvent);
        if (update.kind !== "turn-ended" || update.runId !== runId) continue;
        send(self, createJobEnd(update.end.status, runId, agent, store));
        self.end();
        return;
      }
    }
  };

  const stream = createEventStream(receive, (self) => {
    broadcaster.unsubscribe(self);
    onEnd();
  });
  broadcaster.subscribe(stream);
  let admission: Admission;
  try {
    admission = admit();
  } catch (error) {
    stream.end();
    throw error;
  }
  runId = admission.runId;
  const turn = store.turns.get(runId);
  if (turn && isOver(turn)) {
    const end = createJobEnd(
      turn.status === "completed" || turn.status === "error" ? turn.status : "canceled",
      runId,
      agent,
      store,
    );
    if (end.type === "done" && end.content) send(stream, { type: "chunk", agent, text: end.content });
    send(stream, end);
    stream.end();
  } else if (turn?.status === "running") {
    isOwnTurn = true;
    const draft = recorder.getDraft();
    if (draft?.text) send(stream, { type: "chunk", agent, text: draft.text });
  }
  for (const event of listWaitEvents(runId, agent, store)) send(stream, event);
  return stream;
}

/** Streams all turns of an agent from now on, for those who follow its team. */
export function followWork(store: AgentStore, broadcaster: Broadcaster, agent: string, onEnd: () => void): EventStream {
  const toEvents = (update: ConversationUpdate): JobEvent[] => {
    if (update.kind !== "turn-ended") return [toJobEvent(update, agent) ?? []].flat();
    const { runId } = update;
    const { status } = update.end;
    const content = store.turns.get(runId)?.result ?? store.messages.getLastText(runId);
    return [{ type: "turn_end", agent, runId, status, content }];
  };
  const stream = createEventStream(
    (frames, self) => {
      const events = frames.flatMap(({ event, frame }) => toUpdates(event ?? frame).flatMap(toEvents));
      if (events.length > 0) self.send(events.map((event) => formatSse(event.type, JSON.stringify(event))).join(""));
    },
    (self) => {
      broadcaster.unsubscribe(self);
      onEnd();
    },
  );
  broadcaster.subscribe(stream);
  return stream;
}
