import type { AgentCodeInfo, AgentSettings } from "@thinkery/sdk";
import { pollWhileVisible } from "./follow.ts";
import { call } from "./host.ts";
import { createSource, type Source } from "./source.ts";

// Nothing tells the page when an agent's code does something or its settings change, so it asks.
const codeIntervalMs = 2500;
const settingsIntervalMs = 3000;

export interface AgentParams {
  agency: string;
  /** Name of the agent, or path of a sub-agent. */
  agent: string;
}

/** The code that an agent runs, and what it has used. */
export function createCodeSource(params: AgentParams): Source<AgentCodeInfo> {
  return createSource(() => call("getAgentCode", { params }), pollWhileVisible(codeIntervalMs));
}

export function createSettingsSource(params: AgentParams): Source<AgentSettings> {
  return createSource(() => call("getSettings", { params }), pollWhileVisible(settingsIntervalMs));
}
