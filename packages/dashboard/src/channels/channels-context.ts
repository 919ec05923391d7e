import { createContext, useContext } from "react";
import type { Team } from "../api/team/team.ts";
import type { ChannelsPlace } from "../frame/navigation.ts";

/** What all parts of the channels view share. */
export interface OpenChannels {
  user: string;
  agency: string;
  team: Team;
  canWrite: boolean;
  /** Agents, by which messages link to them. */
  agents: ReadonlySet<string>;
  /** Everyone who can be mentioned. */
  names: ReadonlySet<string>;
  to(place: ChannelsPlace): string;
}

const context = createContext<OpenChannels | undefined>(undefined);

export const ChannelsProvider = context.Provider;

export function useChannels(): OpenChannels {
  const open = useContext(context);
  if (!open) throw new Error("useChannels must be used within a ChannelsProvider.");
  return open;
}
