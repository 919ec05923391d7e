import { type AgentEvent, eventSchema } from "@thinkery/sdk";
import { expect } from "vitest";

/** Fails unless every event matches its schema exactly: no missing and no unknown keys, at any depth. */
export function expectValidEvents(events: readonly AgentEvent[]): void {
  for (const event of events) {
    const parsed = eventSchema.safeParse(event);
    if (!parsed.success) expect.fail(`${event.type} (${event.seq}) is not valid: ${parsed.error.message}`);
    // Parsing drops unknown keys.
    expect(parsed.data, `${event.type} (${event.seq})`).toStrictEqual(event);
  }
}

/** Returns a check for a log that is read repeatedly; it checks each event only once. */
export function createEventCheck(): (events: readonly AgentEvent[]) => void {
  let checked = 0;
  return (events) => {
    expectValidEvents(events.filter(({ seq }) => seq > checked));
    checked = Math.max(checked, events.at(-1)?.seq ?? 0);
  };
}
