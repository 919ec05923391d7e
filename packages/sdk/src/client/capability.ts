import type { AgentEvent, ToolErrorCode } from "../protocol/event.ts";

/** A call made by code that a tool call runs. */
export interface Capability {
  id: string;
  name: string;
  /** The beginning of the input as JSON. Empty if only the result is known. */
  input: string;
  /** `abandoned`: the run ended before the call returned. */
  state: "running" | "done" | "failed" | "abandoned";
  /** The number of the event that first mentioned it. */
  seq: number;
  ms?: number;
  /** A short form of the result. */
  summary?: string;
  error?: string;
  errorCode?: ToolErrorCode;
}

export type CapabilityEvent = Extract<AgentEvent, { type: "capability.called" | "capability.answered" }>;

const maxInputChars = 300;
const maxResultChars = 1000;

/** Applies an event to a call made by code. A call that is repeated after a crash of the host starts over. */
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
    ...(summary === undefined ? {} : { summary: summary.slice(0, maxResultChars) }),
    ...(error === undefined ? {} : { error: error.slice(0, maxResultChars) }),
    ...(errorCode === undefined ? {} : { errorCode }),
  };
}
