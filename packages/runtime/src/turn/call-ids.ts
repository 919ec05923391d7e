import { newCallId, type ToolCall } from "../model/model.ts";
import type { Ledger } from "../store/ledger.ts";

/** Some models number their calls from zero in every answer; an id must mean one call for ever. */
export function withOwnIds(calls: readonly ToolCall[], ledger: Ledger): ToolCall[] {
  const taken = new Set<string>();
  return calls.map((call) => {
    const free = call.id && !taken.has(call.id) && !ledger.has(call.id);
    const id = free ? call.id : newCallId();
    taken.add(id);
    return { ...call, id };
  });
}
