import type { PolicyRule } from "@thinkery/sdk";
import {
  defaultLinuxLimits,
  defaultSandboxLimits,
  defaultSubagentLimits,
  defaultTurnLimits,
  defaultWorkspaceLimits,
  type ModelConfig,
} from "@thinkery/sdk/internal";

/** Used for keys that no file sets. Separate from the schema, which is only loaded to validate a file. */
export const defaultConfig = {
  sandboxSlots: 2,
  agentSlots: 4,
  maxFailuresPerMinute: 5,
  stallTimeoutSeconds: 10,
  startTimeoutSeconds: 30,
  allowedHosts: [] as string[],
  allowedOrigins: [] as string[],
  toolOrigins: [] as string[],
  models: {} as NonNullable<ModelConfig["models"]>,
  reasoning: {} as NonNullable<ModelConfig["reasoning"]>,
  providers: {} as ModelConfig["providers"],
  prices: {} as ModelConfig["prices"],
  contextTokens: {} as NonNullable<ModelConfig["contextTokens"]>,
  policy: [] as PolicyRule[],
  turn: defaultTurnLimits,
  subagents: defaultSubagentLimits,
  sandbox: defaultSandboxLimits,
  linux: defaultLinuxLimits,
  workspace: defaultWorkspaceLimits,
};
