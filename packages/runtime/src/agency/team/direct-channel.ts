import type { SenderKind } from "@thinkery/sdk";

/** A member of a direct channel. */
export interface Participant {
  kind: SenderKind;
  name: string;
}

// `+` and `~` are in no name of a channel, an agent or a user, so these cannot be confused with anything.
const formatParticipant = ({ kind, name }: Participant) => (kind === "agent" ? name : `~${name}`);

/** Formats the name of the channel that two members share. The order of the members does not matter. */
export function formatDirectChannel(first: Participant, second: Participant): string {
  return [first, second]
    .map((one) => formatParticipant(one).toLowerCase())
    .sort()
    .join("+");
}

export const isDirectChannel = (name: string) => name.includes("+");

/** Returns the agents that share a direct channel. */
export const listDirectAgents = (name: string) => name.split("+").filter((part) => !part.startsWith("~"));
