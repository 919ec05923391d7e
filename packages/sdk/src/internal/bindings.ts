import { z } from "zod";
import { priceSchema } from "../protocol/models.ts";
import { modelIdSchema } from "../protocol/name-schemas.ts";
import { modelRolesSchema } from "../protocol/roles.ts";
import {
  defaultLinuxLimits,
  defaultSandboxLimits,
  defaultTurnLimits,
  defaultWorkspaceLimits,
} from "./default-limits.ts";

/** The JSON bindings that the daemon passes to its Worker, and the configuration they are read from. */

const baseRule = "expected the address of an API, for example https://api.groq.com/openai/v1";
const keyVariableRule =
  "expected the name of an environment variable that ends in _KEY, _TOKEN or _SECRET, for example GROQ_API_KEY";

/** The wire formats that we speak ourselves. */
export const wires = ["chat", "responses", "messages"] as const;

export const providerSettingSchema = z.strictObject({
  baseUrl: z
    .string(baseRule)
    .max(2000, baseRule)
    .refine(isBaseUrl, baseRule)
    .meta({ description: "Where its API is, with the version: what stands in front of /chat/completions." }),
  // Only names that are plainly keys: this one becomes a binding of the Worker beside those we make.
  apiKeyVariable: z
    .string(keyVariableRule)
    .max(100, keyVariableRule)
    .regex(/^(?!THINKERY_|SIGNING_KEY$)[A-Z][A-Z0-9_]*_(?:KEY|TOKEN|SECRET)$/, keyVariableRule)
    .optional()
    .meta({ description: "The environment variable with its key. Without one, no key is sent." }),
  wire: z
    .enum(wires, `expected ${wires.join(", ")}`)
    .optional()
    .meta({
      description: "Its format: OpenAI's chat completions (the default), OpenAI's responses, or Anthropic's messages.",
    }),
});

const contextRule = "expected a whole number of tokens, 1000 or more";

/** How much a model reads at once. */
export const contextTokensSchema = z.int(contextRule).min(1000, contextRule);

/** What the host says of roles; `model` says it of the primary one. */
export const configuredRolesSchema = modelRolesSchema.omit({ primary: true });

export const modelConfigSchema = z.object({
  model: modelIdSchema.optional(),
  models: configuredRolesSchema.optional(),
  providers: z.record(z.string(), providerSettingSchema),
  prices: z.record(z.string(), priceSchema),
  contextTokens: z.record(z.string(), contextTokensSchema).optional(),
});

export type ModelConfig = z.infer<typeof modelConfigSchema>;

const createIntegerSetting = (least: number, most: number, otherwise: number, description: string) => {
  const rule = `expected a whole number from ${least} to ${most}`;
  return z.int(rule).min(least, rule).max(most, rule).default(otherwise).meta({ description });
};

/** How long and how often a turn may try. */
export const turnLimitsSchema = z.strictObject({
  noProgressSeconds: createIntegerSetting(
    1,
    86_400,
    defaultTurnLimits.noProgressSeconds,
    "A turn that brings nothing new for so long fails.",
  ),
  maxAttempts: createIntegerSetting(
    1,
    20,
    defaultTurnLimits.maxAttempts,
    "How often a turn that was interrupted is taken up again without progress.",
  ),
  maxCrashes: createIntegerSetting(
    1,
    20,
    defaultTurnLimits.maxCrashes,
    "A turn during which the host crashed so often fails.",
  ),
  heartbeatSeconds: createIntegerSetting(
    1,
    300,
    defaultTurnLimits.heartbeatSeconds,
    "How often a running turn notes that it lives.",
  ),
  toolTimeoutSeconds: createIntegerSetting(
    1,
    86_400,
    defaultTurnLimits.toolTimeoutSeconds,
    "How long one tool call may take.",
  ),
  hookTimeoutSeconds: createIntegerSetting(
    1,
    3600,
    defaultTurnLimits.hookTimeoutSeconds,
    "How long one hook of a middleware may take.",
  ),
  maxSteps: createIntegerSetting(
    1,
    10_000,
    defaultTurnLimits.maxSteps,
    "How many calls to the model one turn may make.",
  ),
});

export type TurnLimits = z.infer<typeof turnLimitsSchema>;

/** What a run of code may use. */
export const sandboxLimitsSchema = z.strictObject({
  timeoutSeconds: createIntegerSetting(
    1,
    3600,
    defaultSandboxLimits.timeoutSeconds,
    "How long a run of code may take where the call does not say.",
  ),
  maxTimeoutSeconds: createIntegerSetting(
    1,
    3600,
    defaultSandboxLimits.maxTimeoutSeconds,
    "The longest that a call may ask for.",
  ),
  queueTimeoutSeconds: createIntegerSetting(
    1,
    3600,
    defaultSandboxLimits.queueTimeoutSeconds,
    "How long a run waits for a free sandbox.",
  ),
  stallTimeoutSeconds: createIntegerSetting(
    1,
    3600,
    defaultSandboxLimits.stallTimeoutSeconds,
    "A sandbox that spins, or is silent otherwise, for so long is killed.",
  ),
  memoryMb: createIntegerSetting(
    64,
    4096,
    defaultSandboxLimits.memoryMb,
    "How much memory the JavaScript of a run may use.",
  ),
  maxRunsPerSlot: createIntegerSetting(
    1,
    100_000,
    defaultSandboxLimits.maxRunsPerSlot,
    "A sandbox is replaced after so many runs.",
  ),
});

export type SandboxLimits = z.infer<typeof sandboxLimitsSchema>;

/** What a command in the Linux sandbox may use. */
export const linuxLimitsSchema = z.strictObject({
  timeoutSeconds: createIntegerSetting(
    1,
    86_400,
    defaultLinuxLimits.timeoutSeconds,
    "How long a command may take where the call does not say.",
  ),
  maxTimeoutSeconds: createIntegerSetting(
    1,
    86_400,
    defaultLinuxLimits.maxTimeoutSeconds,
    "The longest that a call may ask for.",
  ),
  memoryMb: createIntegerSetting(16, 1_000_000, defaultLinuxLimits.memoryMb, "How much memory one process may use."),
  maxProcesses: createIntegerSetting(
    1,
    100,
    defaultLinuxLimits.maxProcesses,
    "How many processes of one agent may go on at a time.",
  ),
  network: z
    .boolean("expected true or false")
    .default(defaultLinuxLimits.network)
    .meta({ description: "May commands reach the network?" }),
});

export type LinuxLimits = z.infer<typeof linuxLimitsSchema>;

/** What a workspace may hold, and how long it remembers. */
export const workspaceLimitsSchema = z.strictObject({
  maxFileMb: createIntegerSetting(1, 100, defaultWorkspaceLimits.maxFileMb, "How large one file may be."),
  maxTextFileKb: createIntegerSetting(
    1,
    1024,
    defaultWorkspaceLimits.maxTextFileKb,
    "Text that is larger is kept whole, like a picture: two who edit it at once are not merged.",
  ),
  maxFiles: createIntegerSetting(1, 100_000, defaultWorkspaceLimits.maxFiles, "How many files a workspace may have."),
  maxTotalMb: createIntegerSetting(
    1,
    100_000,
    defaultWorkspaceLimits.maxTotalMb,
    "How large all files together may be.",
  ),
  maxTextMb: createIntegerSetting(
    1,
    1024,
    defaultWorkspaceLimits.maxTextMb,
    "How large all text that is merged may be together.",
  ),
  retainDays: createIntegerSetting(
    0,
    36_500,
    defaultWorkspaceLimits.retainDays,
    "Versions that are older are dropped, the files of now excepted. 0 keeps all.",
  ),
  retainVersions: createIntegerSetting(
    0,
    1_000_000,
    defaultWorkspaceLimits.retainVersions,
    "Only so many versions are kept. 0 keeps all.",
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
