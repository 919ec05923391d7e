import type { EventData, NewEvent, WaitOptions } from "@thinkery/sdk";

type CallNames = Pick<EventData["continuation.created"], "runId" | "callId" | "toolName">;

/** Creates the event that says what a call waits for. */
export function createContinuation(wait: WaitOptions, names: CallNames): NewEvent {
  const { kind, state } = wait;
  return {
    type: "continuation.created",
    data: {
      ...names,
      continuationId: crypto.randomUUID(),
      kind,
      ...(wait.kind === "input" ? { prompt: wait.prompt } : {}),
      ...(wait.kind === "input" && wait.schema ? { schema: wait.schema } : {}),
      ...(wait.kind === "webhook" ? { hook: wait.hook } : {}),
      ...toDueAt(wait),
      ...(state === undefined ? {} : { state }),
    },
  };
}

function toDueAt(wait: WaitOptions): { dueAt?: string } {
  if (wait.kind === "timer") return { dueAt: wait.until.toISOString() };
  if (wait.kind === "input" || wait.timeoutSeconds === undefined) return {};
  return { dueAt: new Date(Date.now() + wait.timeoutSeconds * 1000).toISOString() };
}
