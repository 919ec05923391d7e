import { type Admission, type JobEvent, updatesFromBoth } from "@thinkery/sdk";
import type { AgentStore } from "../store/agent-store.ts";
import { isOver } from "../store/turns.ts";
import { jobEnd, jobEvent } from "./job-events.ts";
import type { Recorder } from "../turn/loop/recorder.ts";
import type { Audience, News } from "./audience.ts";
import { type EventStream, eventStream, sse } from "./stream.ts";

const maxEventsPerRead = 500;
const maxReadChars = 256_000;

/**
 * The log from a number on, and then as it grows. Whoever lags is not sent more than it reads: what it has not been
 * sent is read from the log when it is ready for it, so nothing piles up here. What calls show while they go on is in no
 * log: with `progress`, it is told to those who keep up.
 */
export function followEvents(store: AgentStore, audience: Audience, after: number | undefined, progress: boolean): ReadableStream<Uint8Array> {
  let position = after ?? store.log.last;
  const stream = eventStream(
    (news, self) => {
      if (self.lags()) return;
      const fresh = news.filter(({ event, frame }) => (event ? event.seq > position : progress && frame.type === "tool_progress"));
      const events = fresh.flatMap(({ event }) => event ?? []);
      if (events.length > 0 ? events[0]?.seq !== position + 1 : position !== store.log.last) return;
      if (fresh.length > 0) self.send(fresh.map(({ event, frame, text }) => sse((event ?? frame).type, text, event?.seq)).join(""));
      position = events.at(-1)?.seq ?? position;
    },
    (self) => audience.leave(self),
    (self) => {
      if (position >= store.log.last) return;
      const events = store.log.read(position, maxEventsPerRead, maxReadChars);
      self.send(events.map((event) => sse(event.type, JSON.stringify(event), event.seq)).join(""));
      position = events.at(-1)?.seq ?? position;
    },
  );
  audience.join(stream);
  // A number and no data: whoever is cut off before the first event knows where to go on.
  stream.send(`: welcome\nid: ${position}\n\n`);
  return stream.body;
}

/** One turn as it happens, and nothing else; whoever stops listening does not stop the turn. */
export function converse(
  store: AgentStore,
  audience: Audience,
  recorder: Recorder,
  agent: string,
  admit: () => Admission,
): ReadableStream<Uint8Array> {
  let runId = "";
  let heard = false;
  const tell = (self: EventStream, event: JobEvent) => self.send(sse(event.type, JSON.stringify(event)));

  const hear = (news: readonly News[], self: EventStream) => {
    for (const { event, frame } of news) {
      for (const update of updatesFromBoth(event ?? frame)) {
        if (update.kind === "turn-started" || update.kind === "turn-resumed") heard = update.runId === runId;
        const said = heard ? jobEvent(update, agent) : undefined;
        if (said) tell(self, said);
        if (update.kind !== "turn-ended" || update.runId !== runId) continue;
        tell(self, jobEnd(update.end.status, runId, agent, store));
        self.end();
        return;
      }
    }
  };

  const stream = eventStream(hear, (self) => audience.leave(self));
  audience.join(stream);
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
    const end = jobEnd(turn.status === "completed" || turn.status === "error" ? turn.status : "canceled", runId, agent, store);
    if (end.type === "done" && end.content) tell(stream, { type: "chunk", agent, text: end.content });
    tell(stream, end);
    stream.end();
  } else if (turn?.status === "running") {
    heard = true;
    const draft = recorder.draft();
    if (draft?.text) tell(stream, { type: "chunk", agent, text: draft.text });
  }
  return stream.body;
}
