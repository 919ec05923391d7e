import { modelIdSchema, priceSchema } from "@thinkery/sdk";
import {
  configuredRolesSchema,
  contextTokensSchema,
  linuxLimitsSchema,
  providerSettingSchema,
  sandboxLimitsSchema,
  turnLimitsSchema,
  workspaceLimitsSchema,
} from "@thinkery/sdk/internal";
import { z } from "zod";
import { defaultConfig } from "./defaults.ts";

const portRule = "expected a whole number from 1 to 65535";
const hostRule = "expected an address to listen on, for example 127.0.0.1";
const slotsRule = "expected a whole number from 0 to 16";
const failuresRule = "expected a whole number, 1 or more";
const silenceRule = "expected a whole number of seconds from 1 to 600";
const workerRule = "expected the path of a file, for example /home/me/agents/src/worker.ts";
const hostNameRule = "expected a host name without scheme or port, for example thinkery.example.org";
const originRule = "expected an origin, for example https://thinkery.example.org";

const hostNames = z.array(z.string(hostNameRule).regex(/^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])$/, hostNameRule), {
  error: "expected a list of host names",
});

const origins = z.array(z.string(originRule).refine(isOrigin, originRule), { error: "expected a list of origins" });

const providerNameRule = "expected the name of a provider: lower-case letters, digits and -, for example groq";
// Those two are not reached over an address.
const fixedProviders = ["scripted", "workers-ai"];

const providers = z
  .record(z.string(), providerSettingSchema, "expected providers by name, { … }")
  .superRefine((all, context) => {
    for (const name of Object.keys(all)) {
      if (!/^[a-z0-9][a-z0-9-]*$/.test(name))
        context.addIssue({ code: "custom", path: [name], message: providerNameRule });
      if (fixedProviders.includes(name))
        context.addIssue({ code: "custom", path: [name], message: "this provider has no address to set" });
    }
  });

const prices = createModelRecord(priceSchema, "expected prices by model, { … }");

const contextTokens = createModelRecord(contextTokensSchema, "expected numbers of tokens by model, { … }");

/** What a person may write in `config.jsonc` and `thinkery.jsonc`. */
export const configSchema = z
  .strictObject(
    {
      $schema: z
        .string("expected the address of a JSON schema")
        .optional()
        .meta({ description: "Where an editor finds this schema; `thinkery config schema` prints it." }),
      port: z
        .int(portRule)
        .min(1, portRule)
        .max(65535, portRule)
        .optional()
        .meta({ description: "The port to listen on. Without it 5099, or the next free one." }),
      host: z.string(hostRule).min(1, hostRule).max(255, hostRule).regex(/^\S+$/, hostRule).optional().meta({
        description:
          "The address to listen on, 127.0.0.1 by default. One that others can reach needs THINKERY_TOKEN in the environment.",
      }),
      sandboxSlots: z
        .int(slotsRule)
        .min(0, slotsRule)
        .max(16, slotsRule)
        .default(defaultConfig.sandboxSlots)
        .meta({ description: "How many sandbox processes run untrusted code side by side." }),
      maxFailuresPerMinute: z
        .int(failuresRule)
        .min(1, failuresRule)
        .default(defaultConfig.maxFailuresPerMinute)
        .meta({ description: "How often main may fail within a minute before the host gives up and says why." }),
      stallTimeoutSeconds: z
        .int(silenceRule)
        .min(1, silenceRule)
        .max(600, silenceRule)
        .default(defaultConfig.stallTimeoutSeconds)
        .meta({
          description:
            "When main does not answer for so long, because something in it spins, it is killed and started again.",
        }),
      allowedHosts: hostNames
        .default(defaultConfig.allowedHosts)
        .meta({ description: "Further host names that requests may be addressed to, for example behind a proxy." }),
      allowedOrigins: origins
        .default(defaultConfig.allowedOrigins)
        .meta({ description: "Origins of other web pages that may talk to the host." }),
      toolOrigins: origins.default(defaultConfig.toolOrigins).meta({
        description:
          "Origins on this machine or its network that tools given to an agent by data (webhooks) may call; public ones they may always. Only in config.jsonc of the data folder.",
      }),
      model: modelIdSchema.optional().meta({
        description:
          "The model of agents that have none of their own, as provider:model. Without it, one whose key is set.",
      }),
      models: configuredRolesSchema.default(defaultConfig.models).meta({
        description:
          "The models of the other roles: fast (sub-agents and quick checks), summarizer (long conversations), vision (images). Without them, fast is a small model of the same provider where one is known, the summarizer is the fast one, and vision is the model itself.",
      }),
      providers: providers.default(defaultConfig.providers).meta({
        description:
          "Further model providers, or other addresses for the known ones. Only in config.jsonc of the data folder: the file of a working folder could send your keys elsewhere.",
      }),
      worker: z.string(workerRule).min(1, workerRule).max(4096, workerRule).optional().meta({
        description:
          "A file whose exports main runs in place of the stock Worker, from the folder of this file. Only in config.jsonc of the data folder: the file of a working folder must not choose what code runs.",
      }),
      prices: prices.default(defaultConfig.prices).meta({
        description:
          "Prices of models in US dollars per million tokens, by provider:model; they win over the built-in table.",
      }),
      contextTokens: contextTokens.default(defaultConfig.contextTokens).meta({
        description:
          "How many tokens models read at once, by provider:model; they win over what the provider says. Longer conversations are compacted.",
      }),
      turn: turnLimitsSchema.prefault({}).meta({ description: "How long and how often a turn may try." }),
      sandbox: sandboxLimitsSchema.prefault({}).meta({
        description:
          "What code that agents write may use. Only in config.jsonc of the data folder: the file of a working folder must not loosen it.",
      }),
      linux: linuxLimitsSchema.prefault({}).meta({
        description:
          "What commands in the Linux sandbox may use. Only in config.jsonc of the data folder: the file of a working folder must not loosen it.",
      }),
      workspace: workspaceLimitsSchema.prefault({}).meta({
        description:
          "What the files of an agent may come to, and how long their history is kept. Only in config.jsonc of the data folder.",
      }),
    },
    { error: "expected an object, { … }" },
  )
  .meta({ title: "Thinkery configuration" });

export type Config = z.output<typeof configSchema>;

const keysInside: Record<string, string[]> = {
  models: Object.keys(configuredRolesSchema.shape),
  providers: Object.keys(providerSettingSchema.shape),
  prices: Object.keys(priceSchema.shape),
  turn: Object.keys(turnLimitsSchema.shape),
  sandbox: Object.keys(sandboxLimitsSchema.shape),
  linux: Object.keys(linuxLimitsSchema.shape),
  workspace: Object.keys(workspaceLimitsSchema.shape),
};

/** The keys that may stand at a place of the file. */
export function getKeysAt([first]: readonly PropertyKey[]): string[] {
  return (typeof first === "string" && keysInside[first]) || Object.keys(configSchema.shape);
}

function createModelRecord<T extends z.ZodType>(value: T, rule: string) {
  return z.record(z.string(), value, rule).superRefine((all, context) => {
    for (const id of Object.keys(all)) {
      const problem = modelIdSchema.safeParse(id).error?.issues[0];
      if (problem) context.addIssue({ code: "custom", path: [id], message: problem.message });
    }
  });
}

function isOrigin(text: string): boolean {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) return false;
  return new URL(text).origin === text;
}
