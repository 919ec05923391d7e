import { z } from "zod";
import { priceSchema } from "../protocol/models.ts";
import { modelIdSchema } from "../protocol/name-schemas.ts";
import { modelRolesSchema, roleEffortsSchema } from "../protocol/roles.ts";
import {
  defaultLinuxLimits,
  defaultSandboxLimits,
  defaultSubagentLimits,
  defaultTurnLimits,
  defaultWorkspaceLimits,
} from "./default-limits.ts";

/** The JSON bindings that the daemon passes to its Worker, and the configuration they are read from. */

const baseRule = "expected the URL of an API, for example https://api.groq.com/openai/v1";
const keyVariableRule =
  "expected an environment variable whose name ends in _KEY, _TOKEN or _SECRET, for example GROQ_API_KEY";

/** The wire formats that Thinkery implements itself. */
export const wires = ["chat", "responses", "messages"] as const;

export const providerSettingSchema = z.strictObject({
  baseUrl: z
    .string(baseRule)
    .max(2000, baseRule)
    .refine(isBaseUrl, baseRule)
    .meta({ description: "The base URL of the API including its version: everything before /chat/completions." }),
  // Only names that are clearly keys, because the variable becomes a binding of the Worker next to the host's own.
  apiKeyVariable: z
    .string(keyVariableRule)
    .max(100, keyVariableRule)
    .regex(/^(?!THINKERY_|SIGNING_KEY$)[A-Z][A-Z0-9_]*_(?:KEY|TOKEN|SECRET)$/, keyVariableRule)
    .optional()
    .meta({ description: "The environment variable that contains the API key. Without it, no key is sent." }),
  wire: z
    .enum(wires, `expected ${wires.join(", ")}`)
    .optional()
    .meta({
      description:
        "The API format: OpenAI's chat completions (the default), OpenAI's responses, or Anthropic's messages.",
    }),
});

const contextRule = "expected a whole number of tokens, 1000 or more";

/** The size of a model's context window. */
export const contextTokensSchema = z.int(contextRule).min(1000, contextRule);

/** The models of roles in the host's configuration. `model` is that of the primary role. */
export const configuredRolesSchema = modelRolesSchema.omit({ primary: true });

export const modelConfigSchema = z.object({
  model: modelIdSchema.optional(),
  models: configuredRolesSchema.optional(),
  reasoning: roleEffortsSchema.optional(),
  providers: z.record(z.string(), providerSettingSchema),
  prices: z.record(z.string(), priceSchema),
  contextTokens: z.record(z.string(), contextTokensSchema).optional(),
});

export type ModelConfig = z.infer<typeof modelConfigSchema>;

const createIntegerSetting = (min: number, max: number, defaultValue: number, description: string) => {
  const rule = `expected a whole number from ${min} to ${max}`;
  return z.int(rule).min(min, rule).max(max, rule).default(defaultValue).meta({ description });
};

/** Limits of a turn. */
export const turnLimitsSchema = z.strictObject({
  noProgressSeconds: createIntegerSetting(
    1,
    86_400,
    defaultTurnLimits.noProgressSeconds,
    "A turn fails after this many seconds without progress.",
  ),
  maxAttempts: createIntegerSetting(
    1,
    20,
    defaultTurnLimits.maxAttempts,
    "How often an interrupted turn is resumed without making progress.",
  ),
  maxCrashes: createIntegerSetting(
    1,
    20,
    defaultTurnLimits.maxCrashes,
    "A turn fails after this many crashes of the host.",
  ),
  heartbeatSeconds: createIntegerSetting(
    1,
    300,
    defaultTurnLimits.heartbeatSeconds,
    "Interval at which a running turn records that it is alive.",
  ),
  toolTimeoutSeconds: createIntegerSetting(1, 86_400, defaultTurnLimits.toolTimeoutSeconds, "Timeout of a tool call."),
  hookTimeoutSeconds: createIntegerSetting(
    1,
    3600,
    defaultTurnLimits.hookTimeoutSeconds,
    "Timeout of a middleware hook.",
  ),
  maxSteps: createIntegerSetting(1, 10_000, defaultTurnLimits.maxSteps, "Maximum number of model calls in a turn."),
});

export type TurnLimits = z.infer<typeof turnLimitsSchema>;

/** Limits of sub-agents. */
export const subagentLimitsSchema = z.strictObject({
  maxSteps: createIntegerSetting(
    1,
    10_000,
    defaultSubagentLimits.maxSteps,
    "Maximum number of model calls of a sub-agent.",
  ),
  timeoutSeconds: createIntegerSetting(
    1,
    86_400,
    defaultSubagentLimits.timeoutSeconds,
    "A sub-agent that has worked for this long fails, unless its parent set another time.",
  ),
  initialCheckSeconds: createIntegerSetting(
    1,
    86_400,
    defaultSubagentLimits.initialCheckSeconds,
    "When a working sub-agent is first checked.",
  ),
  checkIntervalSeconds: createIntegerSetting(
    1,
    86_400,
    defaultSubagentLimits.checkIntervalSeconds,
    "Interval of the checks after the first one.",
  ),
  maxChecks: createIntegerSetting(
    1,
    10_000,
    defaultSubagentLimits.maxChecks,
    "A sub-agent that does not respond in this many checks in a row is marked as interrupted.",
  ),
  maxActive: createIntegerSetting(
    1,
    200,
    defaultSubagentLimits.maxActive,
    "Maximum number of sub-agents of an agent that work at the same time. Others wait.",
  ),
  maxPerTurn: createIntegerSetting(
    1,
    10_000,
    defaultSubagentLimits.maxPerTurn,
    "Maximum number of sub-agents that a turn can delegate to.",
  ),
  maxDepth: createIntegerSetting(1, 3, defaultSubagentLimits.maxDepth, "How deep sub-agents can be nested."),
  maxRetained: createIntegerSetting(
    1,
    1000,
    defaultSubagentLimits.maxRetained,
    "Maximum number of finished sub-agents of an agent to keep. The oldest are deleted; their reports stay.",
  ),
  mergeCheckSeconds: createIntegerSetting(
    1,
    86_400,
    defaultSubagentLimits.mergeCheckSeconds,
    "Timeout of the command that checks a merge.",
  ),
  streamThrottleMs: createIntegerSetting(
    0,
    60_000,
    defaultSubagentLimits.streamThrottleMs,
    "Minimum time between two batches of a sub-agent's stream.",
  ),
  broadcastToolCalls: z
    .boolean("expected true or false")
    .default(defaultSubagentLimits.broadcastToolCalls)
    .meta({ description: "Whether the stream of a sub-agent also shows its tool calls and their results." }),
});

export type SubagentLimits = z.infer<typeof subagentLimitsSchema>;

/** Limits of a run of code. */
export const sandboxLimitsSchema = z.strictObject({
  timeoutSeconds: createIntegerSetting(
    1,
    3600,
    defaultSandboxLimits.timeoutSeconds,
    "Default timeout of a run of code.",
  ),
  maxTimeoutSeconds: createIntegerSetting(
    1,
    3600,
    defaultSandboxLimits.maxTimeoutSeconds,
    "Maximum timeout that a call may request.",
  ),
  queueTimeoutSeconds: createIntegerSetting(
    1,
    3600,
    defaultSandboxLimits.queueTimeoutSeconds,
    "How long a run may wait for a free sandbox.",
  ),
  stallTimeoutSeconds: createIntegerSetting(
    1,
    3600,
    defaultSandboxLimits.stallTimeoutSeconds,
    "A sandbox that is busy or unresponsive for this long is killed.",
  ),
  memoryMb: createIntegerSetting(64, 4096, defaultSandboxLimits.memoryMb, "Maximum memory of the JavaScript of a run."),
  maxRunsPerSlot: createIntegerSetting(
    1,
    100_000,
    defaultSandboxLimits.maxRunsPerSlot,
    "A sandbox is replaced after this many runs.",
  ),
});

export type SandboxLimits = z.infer<typeof sandboxLimitsSchema>;

/** Limits of commands in the Linux sandbox. */
export const linuxLimitsSchema = z.strictObject({
  timeoutSeconds: createIntegerSetting(1, 86_400, defaultLinuxLimits.timeoutSeconds, "Default timeout of a command."),
  maxTimeoutSeconds: createIntegerSetting(
    1,
    86_400,
    defaultLinuxLimits.maxTimeoutSeconds,
    "Maximum timeout that a call may request.",
  ),
  memoryMb: createIntegerSetting(
    16,
    1_000_000,
    defaultLinuxLimits.memoryMb,
    "Maximum memory of a command, with everything it started.",
  ),
  maxProcessesPerCommand: createIntegerSetting(
    8,
    10_000,
    defaultLinuxLimits.maxProcessesPerCommand,
    "Maximum number of processes and threads of a command.",
  ),
  maxProcesses: createIntegerSetting(
    1,
    100,
    defaultLinuxLimits.maxProcesses,
    "Maximum number of background processes of an agent.",
  ),
  network: z
    .boolean("expected true or false")
    .default(defaultLinuxLimits.network)
    .meta({ description: "Whether commands may access the network." }),
});

export type LinuxLimits = z.infer<typeof linuxLimitsSchema>;

/** Size limits of a workspace, and the retention of its versions. */
export const workspaceLimitsSchema = z.strictObject({
  maxFileMb: createIntegerSetting(1, 100, defaultWorkspaceLimits.maxFileMb, "Maximum size of a file."),
  maxTextFileKb: createIntegerSetting(
    1,
    1024,
    defaultWorkspaceLimits.maxTextFileKb,
    "Maximum size of a text file. Larger ones are treated as binary: concurrent edits are not merged.",
  ),
  maxFiles: createIntegerSetting(
    1,
    100_000,
    defaultWorkspaceLimits.maxFiles,
    "Maximum number of files in a workspace.",
  ),
  maxTotalMb: createIntegerSetting(
    1,
    100_000,
    defaultWorkspaceLimits.maxTotalMb,
    "Maximum size of all files together.",
  ),
  maxTextMb: createIntegerSetting(
    1,
    1024,
    defaultWorkspaceLimits.maxTextMb,
    "Maximum size of all text files together.",
  ),
  maxBlobMb: createIntegerSetting(
    1,
    1_000_000,
    defaultWorkspaceLimits.maxBlobMb,
    "Maximum size of all blobs of an agent: large files with their old versions, attachments and outputs.",
  ),
  retainDays: createIntegerSetting(
    0,
    36_500,
    defaultWorkspaceLimits.retainDays,
    "Older versions are deleted, but never the current files. 0 keeps all.",
  ),
  retainVersions: createIntegerSetting(
    0,
    1_000_000,
    defaultWorkspaceLimits.retainVersions,
    "Maximum number of versions to keep. 0 keeps all.",
  ),
  blobGraceSeconds: createIntegerSetting(
    1,
    1_000_000,
    defaultWorkspaceLimits.blobGraceSeconds,
    "A blob is only collected if it was stored this long ago, and if nothing was cleared or pruned since.",
  ),
});

export type WorkspaceLimits = z.infer<typeof workspaceLimitsSchema>;

/** One start of main, and how the one before it ended. */
export const bootSchema = z.object({ id: z.string(), after: z.enum(["stop", "crash"]) });

export type Boot = z.infer<typeof bootSchema>;

function isBaseUrl(text: string): boolean {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) return false;
  const { username, password, search, hash } = new URL(text);
  return !username && !password && !search && !hash;
}
