import { z } from "zod";
import { agentCapabilities, logLevels } from "./choices.ts";
import { agentNameSchema } from "./name-schemas.ts";
import { nextSchema } from "./page.ts";
import type { SettingValue } from "./setting-values.ts";
import { settingsSchemaSchema } from "./setting.ts";

// Agents that users write: packages of code, and what the code of one agent says and does.

/** Characters of a bundle and of its source map. What a version takes when compressed is limited too. */
export const maxBundleChars = 2 * 1024 * 1024;
export const maxSourceMapChars = 6 * 1024 * 1024;

export const capabilitySchema = z.enum(agentCapabilities, {
  error: ({ input }) =>
    `unknown capability ${JSON.stringify(input)}; there are ${agentCapabilities.join(", ")}. Reply, state, storage and log need none`,
});

const capabilitiesSchema = z
  .array(capabilitySchema)
  .max(agentCapabilities.length)
  .refine((names) => new Set(names).size === names.length, { error: "names a capability twice" });

/** The key `thinkery` of an agent's package.json. */
export const manifestSchema = z
  .strictObject({
    type: z.literal("agent", { error: 'expected "agent"' }),
    runtime: z.literal("isolate", { error: 'expected "isolate"' }),
    displayName: z.string().min(1).max(100).optional(),
    capabilities: capabilitiesSchema.default([]),
    settings: settingsSchemaSchema.optional(),
  })
  .meta({ id: "AgentManifest", description: "The key `thinkery` of an agent's package.json." });

export type AgentManifest = z.infer<typeof manifestSchema>;

export const newDeploySchema = z
  .strictObject({
    name: agentNameSchema.meta({ description: "The name of the package, of its blueprint and of its first agent." }),
    description: z.string().max(2000).default(""),
    manifest: manifestSchema,
    code: z
      .string()
      .min(1)
      .max(maxBundleChars)
      .meta({ description: "One ES module, whose default export is an agent." }),
    sourceMap: z.string().max(maxSourceMapChars).optional(),
    dryRun: z.boolean().default(false).meta({ description: "Only checks it, and says what it would grant." }),
    createAgent: z
      .boolean()
      .default(true)
      .meta({ description: "Whether an agent named after the package is created if there is none." }),
  })
  .meta({ id: "NewDeploy" });

export type NewDeploy = z.infer<typeof newDeploySchema>;

const toolSummarySchema = z.object({ name: z.string(), description: z.string() });

export const deploySchema = z
  .object({
    id: z.string(),
    name: z.string(),
    version: z.number(),
    isNew: z.boolean().meta({ description: "False if the current version has the same code and manifest." }),
    capabilities: z.array(capabilitySchema).meta({ description: "Everything that this version may use." }),
    added: z.array(capabilitySchema).meta({ description: "What the version before it was not granted." }),
    removed: z.array(capabilitySchema),
    tools: z.array(toolSummarySchema).meta({ description: "Offered to the agency's other agents." }),
    settings: z.array(z.string()),
    bytes: z.number(),
    blueprint: z.string(),
    agent: z.object({ name: z.string(), isNew: z.boolean() }).optional().meta({
      description: "The agent named after the package, unless that name belongs to an agent of another kind.",
    }),
    warnings: z.array(z.string()),
    dryRun: z.boolean(),
  })
  .meta({ id: "Deploy" });

export type Deploy = z.infer<typeof deploySchema>;

export const packageVersionSchema = z
  .object({
    version: z.number(),
    hash: z.string(),
    bytes: z.number(),
    capabilities: z.array(capabilitySchema),
    deployedAt: z.string(),
    deployedBy: z.string(),
    isCurrent: z.boolean(),
  })
  .meta({ id: "PackageVersion" });

export type PackageVersion = z.infer<typeof packageVersionSchema>;

const packageFields = {
  name: z.string(),
  displayName: z.string(),
  description: z.string(),
  version: z.number().meta({ description: "The current version." }),
  capabilities: z.array(capabilitySchema),
  tools: z.array(toolSummarySchema),
  settings: settingsSchemaSchema,
  agents: z.array(z.string()).meta({ description: "The agents that run it, at most 100." }),
  deployedAt: z.string(),
  deployedBy: z.string(),
};

export const packageSchema = z
  .object({ ...packageFields, versions: z.array(packageVersionSchema).meta({ description: "Newest first." }) })
  .meta({ id: "Package" });

export type Package = z.infer<typeof packageSchema>;

export const packageSummarySchema = z.object(packageFields).meta({ id: "PackageSummary" });

export type PackageSummary = z.infer<typeof packageSummarySchema>;

export const packageListSchema = z.object({ packages: z.array(packageSummarySchema), next: nextSchema });

export const rollbackSchema = z
  .strictObject({
    version: z
      .int()
      .min(1)
      .optional()
      .meta({ description: "Defaults to the one before the current one. State and settings stay as they are." }),
  })
  .meta({ id: "Rollback" });

const settingValueSchema: z.ZodType<SettingValue> = z.union([z.string().max(10_000), z.number(), z.boolean()]);

export const settingsSchema = z
  .object({
    settings: z.record(z.string(), settingValueSchema).meta({ description: "The values that apply." }),
    set: z
      .record(z.string(), settingValueSchema)
      .meta({ description: "Those of them that were set; others are defaults." }),
    schema: settingsSchemaSchema,
  })
  .meta({ id: "AgentSettings" });

export type AgentSettings = z.infer<typeof settingsSchema>;

export const settingsChangeSchema = z
  .strictObject({
    settings: z
      .record(z.string().max(64), settingValueSchema.nullable())
      .refine((settings) => Object.keys(settings).length <= 50, { error: "more than 50 settings" }),
  })
  .meta({ id: "AgentSettingsChange", description: "The values to set; null sets one to its default." });

export const agentLogLineSchema = z
  .object({
    seq: z.number(),
    at: z.string(),
    level: z.enum(logLevels),
    text: z.string(),
    version: z.number(),
    runId: z.string().optional(),
  })
  .meta({ id: "AgentLogLine" });

export type AgentLogLine = z.infer<typeof agentLogLineSchema>;

export const agentLogSchema = z.object({
  logs: z.array(agentLogLineSchema).meta({ description: "Oldest first." }),
  last: z.number().meta({ description: "Pass it as `after` to get what comes next." }),
});

export const agentLogQuerySchema = z.strictObject({
  after: z.coerce
    .number()
    .int()
    .min(0)
    .optional()
    .meta({ description: "Only lines after this one. Without it, the latest lines." }),
  limit: z.coerce.number().int().min(1).max(500).default(100),
  level: z.enum(logLevels).optional().meta({ description: "Only lines of this level." }),
});

export type AgentLogQuery = z.infer<typeof agentLogQuerySchema>;

/** The code that an agent runs, and what it uses. */
export const agentCodeSchema = z
  .object({
    package: z.string(),
    displayName: z.string(),
    version: z.number(),
    pinned: z.boolean().meta({ description: "Whether its blueprint keeps it at this version." }),
    capabilities: z.array(capabilitySchema),
    tools: z.array(toolSummarySchema),
    handles: z.object({ init: z.boolean(), shutdown: z.boolean(), event: z.boolean() }),
    batch: z.boolean(),
    concurrency: z.number(),
    state: z.object({ keys: z.number(), bytes: z.number(), maxBytes: z.number() }),
    storage: z.object({ entries: z.number(), chars: z.number(), maxChars: z.number() }),
    requests: z
      .object({
        total: z.number(),
        failed: z.number(),
        ms: z.number(),
        longestMs: z.number(),
        hostCalls: z.number(),
        modelCalls: z.number(),
      })
      .meta({ description: "Everything its code has handled: messages, tool calls, events and hooks." }),
    lastError: z
      .object({ at: z.string(), message: z.string(), version: z.number(), runId: z.string().optional() })
      .optional(),
    isApart: z
      .boolean()
      .meta({ description: "Whether it runs in a process of its own because it ended a shared one." }),
    process: z
      .object({ memoryBytes: z.number().optional(), agents: z.number() })
      .optional()
      .meta({ description: "The process that all agents of this owner share, if it runs." }),
  })
  .meta({ id: "AgentCode" });

export type AgentCodeInfo = z.infer<typeof agentCodeSchema>;
