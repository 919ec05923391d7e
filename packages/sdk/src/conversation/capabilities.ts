import { type Capability, reduceCapability, type CapabilityEvent } from "../client/capability.ts";

/** The calls made by the code of one tool call, in order. */
export type Capabilities = readonly Capability[];

export type CapabilitiesByCall = Readonly<Record<string, Capabilities>>;

/** Equal to the number of calls that one run of code may make. */
const maxCapabilities = 1000;

export function addCapability(all: CapabilitiesByCall, event: CapabilityEvent): CapabilitiesByCall {
  return updateCapability(all, event, (known) => reduceCapability(known, event));
}

/** Adds an event from before we connected. What was received since is newer and takes precedence. */
export function backfillCapability(all: CapabilitiesByCall, event: CapabilityEvent): CapabilitiesByCall {
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
