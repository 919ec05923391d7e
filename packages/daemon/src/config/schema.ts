import { modelIdSchema, policyRuleSchema, policyRulesSchema, priceSchema, roleEffortsSchema } from "@thinkery/sdk";
import {
  configuredRolesSchema,
  contextTokensSchema,
  linuxLimitsSchema,
  providerSettingSchema,
  sandboxLimitsSchema,
  subagentLimitsSchema,
  turnLimitsSchema,
  workspaceLimitsSchema,
} from "@thinkery/sdk/internal";
import { z } from "zod";
import { defaultConfig } from "./defaults.ts";

const portRule = "expected a whole number from 1 to 65535";
const hostRule = "expected an address to listen on, for example 127.0.0.1";
const slotsRule = "expected a whole number from 0 to 16";
const failuresRule = "expected a whole number, 1 or more";
const secondsRule = "expected a whole number of seconds from 1 to 600";
const workerRule = "expected the path of a file, for example /home/me/agents/src/worker.ts";
const hostNameRule = "expected a host name without scheme or port, for example thinkery.example.org";
const originRule = "expected an origin, for example https://thinkery.example.org";

const hostNames = z.array(z.string(hostNameRule).regex(/^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])$/, hostNameRule), {
  error: "expected a list of host names",
});

const origins = z.array(z.string(originRule).refine(isOrigin, originRule), { error: "expected a list of origins" });

const providerNameRule = "expected the name of a provider: lower-case letters, digits and -, for example groq";
// These two have no base URL.
const fixedProviders = ["scripted", "workers-ai"];

const providers = z
  .record(z.string(), providerSettingSchema, "expected providers by name, { … }")
  .superRefine((all, context) => {
    for (const name of Object.keys(all)) {
      if (!/^[a-z0-9][a-z0-9-]*$/.test(name))
        context.addIssue({ code: "custom", path: [name], message: providerNameRule });
      if (fixedProviders.includes(name))
        context.addIssue({ code: "custom", path: [name], message: "this provider has no base URL to configure" });
    }
  });

const prices = createModelRecord(priceSchema, "expected prices by model, { … }");

const contextTokens = createModelRecord(contextTokensSchema, "expected token counts by model, { … }");

/** Describes a key that a working folder may not set. */
const homeOnly = (description: string) => ({ description: `${description} Only in config.jsonc of the data folder.` });

/** The schema of `config.jsonc`; `thinkery.jsonc` may only have `$schema`, `model`, `models` and `sandboxSlots`. */
export const configSchema = z
  .strictObject(
    {
      $schema: z
        .string("expected the address of a JSON schema")
        .optional()
        .meta({ description: "Location of this schema for editors; print it with `thinkery config schema`." }),
      port: z
        .int(portRule)
        .min(1, portRule)
        .max(65535, portRule)
        .optional()
        .meta(homeOnly("Port to listen on. Default: 5099, or the next free port.")),
      host: z
        .string(hostRule)
        .min(1, hostRule)
        .max(255, hostRule)
        .regex(/^\S+$/, hostRule)
        .optional()
        .meta(
          homeOnly(
            "Address to listen on. Default: 127.0.0.1. An address that other machines can reach requires THINKERY_TOKEN in the environment.",
          ),
        ),
      sandboxSlots: z.int(slotsRule).min(0, slotsRule).max(16, slotsRule).default(defaultConfig.sandboxSlots).meta({
        description:
          "Number of sandbox processes that run untrusted code in parallel. thinkery.jsonc of a working folder may only lower it.",
      }),
      agentSlots: z.int(slotsRule).min(0, slotsRule).max(16, slotsRule).default(defaultConfig.agentSlots).meta({
        description:
          "Number of processes for the code of user agents, started when needed. Agents of one owner share one; those of different owners never do. Only in config.jsonc of the data folder.",
      }),
      maxFailuresPerMinute: z
        .int(failuresRule)
        .min(1, failuresRule)
        .default(defaultConfig.maxFailuresPerMinute)
        .meta(homeOnly("Failures of main per minute before the host stops with an error.")),
      stallTimeoutSeconds: z
        .int(secondsRule)
        .min(1, secondsRule)
        .max(600, secondsRule)
        .default(defaultConfig.stallTimeoutSeconds)
        .meta(
          homeOnly(
            "If main does not respond for this many seconds, for example because of an endless loop, it is killed and restarted.",
          ),
        ),
      startTimeoutSeconds: z
        .int(secondsRule)
        .min(1, secondsRule)
        .max(600, secondsRule)
        .default(defaultConfig.startTimeoutSeconds)
        .meta(homeOnly("If main is not ready this many seconds after it was started, it is killed and restarted.")),
      allowedHosts: hostNames
        .default(defaultConfig.allowedHosts)
        .meta(homeOnly("Additional host names that requests may use, for example behind a proxy.")),
      allowedOrigins: origins
        .default(defaultConfig.allowedOrigins)
        .meta(homeOnly("Origins of other web pages that may call the host.")),
      toolOrigins: origins
        .default(defaultConfig.toolOrigins)
        .meta(
          homeOnly(
            "Origins on this machine or its network that webhook tools may call; public origins are always allowed.",
          ),
        ),
      model: modelIdSchema.optional().meta({
        description: "Default model of agents, as provider:model. Default: a model whose API key is set.",
      }),
      models: configuredRolesSchema.default(defaultConfig.models).meta({
        description:
          "Models of the other roles: fast (sub-agents and quick checks), summarizer (long conversations), vision (images). Defaults: fast is a small model of the same provider if one is known, summarizer is the fast model, and vision is the main model.",
      }),
      reasoning: roleEffortsSchema
        .default(defaultConfig.reasoning)
        .meta(
          homeOnly(
            "How much the model of each role (primary, fast, summarizer, vision) thinks before it responds: none, minimal, low, medium, high, xhigh or max. Default: as the provider decides.",
          ),
        ),
      providers: providers.default(defaultConfig.providers).meta({
        description:
          "Additional model providers, or other base URLs for built-in ones. Only in config.jsonc of the data folder: a file in the working folder could send your keys elsewhere.",
      }),
      worker: z.string(workerRule).min(1, workerRule).max(4096, workerRule).optional().meta({
        description:
          "Path of a custom Worker that main runs instead of the built-in one, relative to the data folder. Only in config.jsonc of the data folder: a file in the working folder must not choose what code runs.",
      }),
      prices: prices
        .default(defaultConfig.prices)
        .meta(
          homeOnly(
            "Model prices in US dollars per million tokens, by provider:model; they override the built-in table.",
          ),
        ),
      contextTokens: contextTokens
        .default(defaultConfig.contextTokens)
        .meta(
          homeOnly(
            "Context window of models in tokens, by provider:model; overrides what the provider reports. Longer conversations are compacted.",
          ),
        ),
      policy: policyRulesSchema
        .default(defaultConfig.policy)
        .meta(homeOnly("Rules for the calls of all agents, in addition to those of their blueprints and agencies.")),
      turn: turnLimitsSchema.prefault({}).meta(homeOnly("Time, retry and step limits of a turn.")),
      subagents: subagentLimitsSchema
        .prefault({})
        .meta(homeOnly("Limits of sub-agents, and how often those that work are checked.")),
      sandbox: sandboxLimitsSchema.prefault({}).meta({
        description:
          "Limits of code that agents run. Only in config.jsonc of the data folder: a file in the working folder must not raise them.",
      }),
      linux: linuxLimitsSchema.prefault({}).meta({
        description:
          "Limits of commands in the Linux sandbox. Only in config.jsonc of the data folder: a file in the working folder must not raise them.",
      }),
      workspace: workspaceLimitsSchema
        .prefault({})
        .meta(homeOnly("Size limits and history retention of agents' files.")),
    },
    { error: "expected an object, { … }" },
  )
  .meta({ title: "Thinkery configuration" });

export type Config = z.output<typeof configSchema>;

const keysInside: Record<string, string[]> = {
  models: Object.keys(configuredRolesSchema.shape),
  reasoning: Object.keys(roleEffortsSchema.shape),
  providers: Object.keys(providerSettingSchema.shape),
  prices: Object.keys(priceSchema.shape),
  policy: Object.keys(policyRuleSchema.shape),
  turn: Object.keys(turnLimitsSchema.shape),
  subagents: Object.keys(subagentLimitsSchema.shape),
  sandbox: Object.keys(sandboxLimitsSchema.shape),
  linux: Object.keys(linuxLimitsSchema.shape),
  workspace: Object.keys(workspaceLimitsSchema.shape),
};

/** Returns the keys allowed at a path of the file. */
export function getKeysAt([first]: readonly PropertyKey[]): string[] {
  return (typeof first === "string" && keysInside[first]) || Object.keys(configSchema.shape);
}

function createModelRecord<T extends z.ZodType>(value: T, rule: string) {
  return z.record(z.string(), value, rule).superRefine((all, context) => {
    for (const id of Object.keys(all)) {
      const issue = modelIdSchema.safeParse(id).error?.issues[0];
      if (issue) context.addIssue({ code: "custom", path: [id], message: issue.message });
    }
  });
}

function isOrigin(text: string): boolean {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) return false;
  return new URL(text).origin === text;
}
