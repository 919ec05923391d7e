import { type Capability, reduceCapability, type CapabilityEvent } from "../client/capability.ts";

/** What the code of one call has called, in order. */
export type Capabilities = readonly Capability[];

export type CapabilitiesByCall = Readonly<Record<string, Capabilities>>;

/** As many as one run of code may call. */
const maxCapabilities = 1000;

export function addCapability(all: CapabilitiesByCall, event: CapabilityEvent): CapabilitiesByCall {
  return updateCapability(all, event, (known) => reduceCapability(known, event));
}

/** The same for an event from before we looked on: what was heard since is newer. */
export function recallCapability(all: CapabilitiesByCall, event: CapabilityEvent): CapabilitiesByCall {
  return updateCapability(all, event, (known) => {
    if (!known || (known.state === "running" && event.type === "capability.answered"))
      return reduceCapability(known, event);
    const { input } = known.input === "" ? reduceCapability(undefined, event) : known;
    return { ...known, input, seq: Math.min(known.seq, event.seq) };
  });
}

function updateCapability(
  all: CapabilitiesByCall,
  event: CapabilityEvent,
  change: (known: Capability | undefined) => Capability,
): CapabilitiesByCall {
  const { parentCallId, callId } = event.data;
  const before = all[parentCallId] ?? [];
  const next = change(before.find(({ id }) => id === callId));
  const others = before.filter(({ id }) => id !== callId);
  const place = others.findLastIndex(({ seq }) => seq < next.seq) + 1;
  return { ...all, [parentCallId]: [...others.slice(0, place), next, ...others.slice(place)].slice(-maxCapabilities) };
}
