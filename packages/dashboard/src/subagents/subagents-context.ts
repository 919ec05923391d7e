import type { Subagent } from "@thinkery/sdk";
import { createContext, useContext } from "react";

const context = createContext<readonly Subagent[]>([]);

/** Provides the sub-agents of the agent whose conversation is shown. */
export const SubagentsProvider = context.Provider;

export function useSubagents(): readonly Subagent[] {
  return useContext(context);
}
