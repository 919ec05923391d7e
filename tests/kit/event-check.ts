import { type AgentEvent, eventSchema } from "@thinkery/sdk";
import { expect } from "vitest";

/** Fails unless every event is what its schema says: nothing missing, and at no depth a key that it does not know. */
export function expectValidEvents(events: readonly AgentEvent[]): void {
  for (const event of events) {
    const parsed = eventSchema.safeParse(event);
    if (!parsed.success) expect.fail(`${event.type} (${event.seq}) is not valid: ${parsed.error.message}`);
    // Parsing drops what the schema does not know.
    expect(parsed.data, `${event.type} (${event.seq})`).toStrictEqual(event);
  }
}

/** The same for a log that is read again and again; events that were checked are not checked twice. */
export function createEventCheck(): (events: readonly AgentEvent[]) => void {
  let checked = 0;
  return (events) => {
    expectValidEvents(events.filter(({ seq }) => seq > checked));
    checked = Math.max(checked, events.at(-1)?.seq ?? 0);
  };
}
