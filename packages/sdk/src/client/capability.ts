import type { AgentEvent, ToolErrorCode } from "../protocol/event.ts";

/** Something that code called while a tool call ran it. */
export interface Capability {
  id: string;
  name: string;
  /** What it was called with: the beginning of its JSON. Nothing where only its answer was heard of. */
  input: string;
  /** `abandoned`: the run was over before it had an answer. */
  state: "running" | "done" | "failed" | "abandoned";
  /** The number of the event that told of it. */
  seq: number;
  ms?: number;
  /** What came of it, in short. */
  summary?: string;
  error?: string;
  errorCode?: ToolErrorCode;
}

export type CapabilityEvent = Extract<AgentEvent, { type: "capability.called" | "capability.answered" }>;

const maxInputChars = 300;
const maxAnswerChars = 1000;

/** What is known of a call by code after this event. One that is made anew, because the host died, begins anew. */
export function reduceCapability(known: Capability | undefined, event: CapabilityEvent): Capability {
  const { callId: id, toolName: name } = event.data;
  if (event.type === "capability.called") {
    return {
      id,
      name,
      input: (JSON.stringify(event.data.args) ?? "").slice(0, maxInputChars),
      state: "running",
      seq: known?.seq ?? event.seq,
    };
  }
  const { ms, summary, error, errorCode } = event.data;
  return {
    id,
    name,
    input: known?.input ?? "",
    state: error === undefined ? "done" : "failed",
    seq: known?.seq ?? event.seq,
    ms,
    ...(summary === undefined ? {} : { summary: summary.slice(0, maxAnswerChars) }),
    ...(error === undefined ? {} : { error: error.slice(0, maxAnswerChars) }),
    ...(errorCode === undefined ? {} : { errorCode }),
  };
}
