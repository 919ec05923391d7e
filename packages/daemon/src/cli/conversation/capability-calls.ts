import type { ConversationUpdate } from "@thinkery/sdk";
import { type Capability, reduceCapability } from "@thinkery/sdk/client";

/** The calls that code makes and that have no result yet. */
export class CapabilityCalls {
  /** By the id of the call, with the tool call that runs the code. */
  readonly #open = new Map<string, { parentCallId: string; capability: Capability }>();

  /** Returns the call once it has its result. */
  apply({ callId: parentCallId, event }: Extract<ConversationUpdate, { kind: "capability" }>): Capability | undefined {
    const { callId } = event.data;
    const capability = reduceCapability(this.#open.get(callId)?.capability, event);
    if (capability.state === "running") this.#open.set(callId, { parentCallId, capability });
    else this.#open.delete(callId);
    return capability.state === "running" ? undefined : capability;
  }

  /** Returns the tool call that runs the code which made this call, or the call itself. */
  findParent(callId: string): string {
    return this.#open.get(callId)?.parentCallId ?? callId;
  }
}
