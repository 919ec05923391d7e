import { type DefaultModel, fail, type ModelInfo, type ModelRoles, type ProviderInfo } from "@thinkery/sdk";
import { findNearest } from "@thinkery/sdk/internal";
import { openHost } from "../host/host.ts";
import { type ContextWindows, findKnownContext, openContextWindows } from "./context.ts";
import {
  findFirstChatModel,
  isSameModel,
  type ListedModel,
  listModels,
  readLoadedContext,
  createModelFetch,
} from "./listing.ts";
import type { Model } from "./model.ts";
import { openModel } from "./open.ts";
import { listPricedModels, openPrices, type Prices } from "./prices.ts";
import { type ModelEnv, type Provider, collectProviders } from "./providers.ts";
import { createScriptedModel } from "./scripted/scripted.ts";
import { openScripts } from "./scripted/scripts.ts";

const probeMs = 1_000;
const listMs = 2_000;
const freshMs = 30_000;
/** Who did not answer may be starting just now. */
const failedMs = 5_000;
/** Anybody may name models that do not exist. */
const maxResolved = 1000;

export interface Models extends Prices, ContextWindows {
  /** Refuses an id whose provider there is not; whether it has the model is seen when it is used. */
  check(id: string): void;
  /** The roles that the host's configuration fills. */
  readonly configured: ModelRoles;
  /** A quick and cheap model beside this one, at the same provider and with the same key. */
  findSmallModel(id: string): string | undefined;
  /** The model of that id, or what is wrong with the id, the key or the script, in a sentence. */
  resolve(id: string): Promise<Model>;
  /** The model of agents that have none of their own. */
  getDefaultModel(): Promise<DefaultModel>;
  /** Names of the model servers found on this machine. */
  listLocalServers(): Promise<string[]>;
  list(): Promise<ProviderInfo[]>;
}

type ProviderListing = { models: ListedModel[]; problem?: undefined } | { models?: undefined; problem: string };

/**
 * One for each environment, which has the configuration and the keys and never changes. What providers list is at most
 * `freshMs` old, a failure `failedMs`, a context length ten minutes (context.ts). Each isolate asks for itself.
 */
const modelsByEnv = new WeakMap<ModelEnv, Models>();

export function openModels(env: ModelEnv): Models {
  const known = modelsByEnv.get(env) ?? createModels(env);
  modelsByEnv.set(env, known);
  return known;
}

function createModels(env: ModelEnv): Models {
  const providers = collectProviders(env);
  const prices = openPrices(env.MODEL_CONFIG?.prices);
  const scripts = openScripts(openHost(env.HOST));
  const send = createModelFetch(env);
  const resolved = new Map<string, Model>();
  const contexts = openContextWindows({
    configured: env.MODEL_CONFIG?.contextTokens,
    isLocal: (id) => known(id)?.local ?? false,
    ask: async (id) => {
      const provider = known(id);
      if (!provider?.baseUrl) return undefined;
      const { model } = find(id);
      if (provider.local) return readLoadedContext(provider, model, send, probeMs);
      const { models } = await getListing(provider, listMs);
      return models?.find(({ name }) => name === model)?.contextTokens;
    },
  });
  // Answers, not promises: a promise of one request may die with it.
  const listings = new Map<string, { at: number; listing: ProviderListing }>();

  async function getListing(provider: Provider, limitMs: number, freshFor = freshMs): Promise<ProviderListing> {
    const last = listings.get(provider.name);
    const keep = last?.listing.models ? freshFor : Math.min(freshFor, failedMs);
    if (last && Date.now() - last.at < keep) return last.listing;
    const listing = await listModels(provider, send, limitMs).then(
      (models): ProviderListing => ({ models }),
      (error: Error): ProviderListing => ({ problem: error.message }),
    );
    listings.set(provider.name, { at: Date.now(), listing });
    return listing;
  }

  async function resolve(id: string): Promise<Model> {
    const before = resolved.get(id);
    if (before) return before;
    const { provider, model } = find(id);
    // Read anew every time: a person who edits a script wants to see what they wrote.
    if (provider.wire === "scripted") return createScriptedModel(id, await scripts.find(model));
    if (provider.needsKey && !provider.key)
      throw fail("unavailable", `${id} needs a key. ${createKeyAdvice(provider)}`);
    if (provider.baseUrl && !URL.canParse(provider.baseUrl)) throw fail("unavailable", describeBadAddress(provider));
    if (provider.local) await checkListed(provider, model);
    const made = await openModel(provider, id, model, send, env);
    if (resolved.size >= maxResolved) resolved.clear();
    resolved.set(id, made);
    return made;
  }

  function find(id: string): { provider: Provider; model: string } {
    const [name, model] = parse(id);
    const provider = providers.get(name);
    if (!provider) throw createUnknownProviderError(name, model);
    return { provider, model };
  }

  // A Worker may have models of its own, which are none of ours.
  const known = (id: string) => providers.get(id.slice(0, Math.max(0, id.indexOf(":"))));

  function parse(id: string): [name: string, model: string] {
    const colon = id.indexOf(":");
    if (colon > 0 && colon < id.length - 1) return [id.slice(0, colon), id.slice(colon + 1)];
    const meant = [...providers.keys()].flatMap(listPricedModels).find((candidate) => candidate.endsWith(`:${id}`));
    const advice = meant ? `did you mean “${meant}”?` : "write it as provider:model, for example openai:gpt-4.1-mini.";
    throw fail(
      "bad_request",
      `“${id}” does not say which provider's model it is; ${advice}`,
      meant ? { suggestion: meant } : {},
    );
  }

  function createUnknownProviderError(name: string, model: string): Error {
    const near = findNearest(name, providers.keys());
    const advice = near
      ? `did you mean “${near}:${model}”?`
      : `known are ${[...providers.keys()].join(", ")}. Others go into “providers” of config.jsonc.`;
    return fail(
      "bad_request",
      `There is no provider “${name}”; ${advice}`,
      near ? { suggestion: `${near}:${model}` } : {},
    );
  }

  // Where the server does not answer in time, the call itself will say so, with its retries.
  async function checkListed(provider: Provider, model: string): Promise<void> {
    const has = ({ models }: ProviderListing) => !models || models.some(({ name }) => isSameModel(name, model));
    if (has(await getListing(provider, probeMs))) return;
    const { models = [] } = await getListing(provider, probeMs, 0);
    if (has({ models })) return;
    const near = findNearest(
      model,
      models.map(({ name }) => name),
    );
    const others = models.length > 0 ? `it has ${models.map(({ name }) => name).join(", ")}.` : "it has none yet.";
    const advice = near ? `did you mean “${provider.name}:${near}”?` : others;
    throw fail(
      "bad_request",
      `${titles[provider.name] ?? provider.name} has no model “${model}”; ${advice}`,
      near ? { suggestion: `${provider.name}:${near}` } : {},
    );
  }

  async function getDefaultModel(): Promise<DefaultModel> {
    const { model } = env.MODEL_CONFIG ?? {};
    if (model) return { id: model, why: "the configuration says so" };
    // Whoever sets an address for models means it, whatever keys lie around.
    const openai = env.LLM_API_BASE ? providers.get("openai") : undefined;
    if (openai)
      return { id: `openai:${(await findFirstListed(openai)) ?? "gpt-4.1-mini"}`, why: "LLM_API_BASE is set" };
    for (const provider of providers.values()) {
      if (!provider.needsKey || !provider.key) continue;
      const first = provider.first ?? (await findFirstListed(provider));
      if (first) return { id: `${provider.name}:${first}`, why: `${provider.apiKeyVariable} is set` };
    }
    for (const provider of listLocalProviders()) {
      const first = await findFirstListed(provider);
      if (first) return { id: `${provider.name}:${first}`, why: `${titles[provider.name]} runs on this machine` };
    }
    const [bound] = env.AI ? listKnownModels("workers-ai") : [];
    if (bound) return { id: bound, why: "Workers AI is bound" };
    return { id: `scripted:${providers.get("scripted")?.first}`, why: "no model has a key or was found" };
  }

  async function findFirstListed(provider: Provider): Promise<string | undefined> {
    const { models } = await getListing(provider, probeMs);
    return models && findFirstChatModel(models);
  }

  const listLocalProviders = () => [...providers.values()].filter(({ local }) => local);

  async function listLocalServers(): Promise<string[]> {
    const names = await Promise.all(
      listLocalProviders().map(async (provider) =>
        (await getListing(provider, probeMs)).models ? [provider.name] : [],
      ),
    );
    return names.flat();
  }

  const toModelInfo = (id: string, listed?: number): ModelInfo => {
    const price = prices.getPrice(id);
    const { contextTokens = {} } = env.MODEL_CONFIG ?? {};
    const context = contextTokens[id] ?? listed ?? findKnownContext(id, contextTokens, known(id)?.local ?? false);
    return { id, ...(price ? { price } : {}), ...(context === undefined ? {} : { contextTokens: context }) };
  };

  function findSmallModel(id: string): string | undefined {
    const provider = known(id);
    if (!provider?.small || !provider.key) return undefined;
    const small = `${provider.name}:${provider.small}`;
    const [own, other] = [prices.getPrice(id), prices.getPrice(small)];
    return own && other && own.output <= other.output ? undefined : small;
  }

  async function describe(provider: Provider): Promise<ProviderInfo> {
    const { name, wire, baseUrl: base, apiKeyVariable } = provider;
    const about = {
      name,
      ...(apiKeyVariable ? { apiKeyVariable } : {}),
      ...(base ? { address: formatAddress(base) } : {}),
    };
    const listWellKnown = () => listKnownModels(name).map((id) => toModelInfo(id));
    if (wire === "scripted") {
      const names = await scripts.listNames();
      return { ...about, status: "ready", models: names.map((script) => toModelInfo(`scripted:${script}`)) };
    }
    if (wire === "workers-ai") return { ...about, status: "ready", models: listWellKnown() };
    if (provider.needsKey && !provider.key)
      return { ...about, status: "no key", problem: createKeyAdvice(provider), models: listWellKnown() };
    const { models, problem } = await getListing(provider, provider.local ? probeMs : listMs);
    if (models)
      return {
        ...about,
        status: "ready",
        models: models.map((model) => toModelInfo(`${name}:${model.name}`, model.contextTokens)),
      };
    if (provider.local)
      return { ...about, status: "not found", problem: `Nothing of it answers at ${formatAddress(base)}.`, models: [] };
    return { ...about, status: "error", problem, models: listWellKnown() };
  }

  return {
    ...prices,
    ...contexts,
    check: (id) => void find(id),
    configured: {
      ...(env.MODEL_CONFIG?.model ? { primary: env.MODEL_CONFIG.model } : {}),
      ...env.MODEL_CONFIG?.models,
    },
    findSmallModel,
    resolve,
    getDefaultModel,
    listLocalServers,
    list: () => Promise.all([...providers.values()].map(describe)),
  };
}

const titles: Record<string, string> = { ollama: "Ollama", lmstudio: "LM Studio" };

const workersAi = ["@cf/meta/llama-3.3-70b-instruct-fp8-fast", "@cf/openai/gpt-oss-120b", "@cf/openai/gpt-oss-20b"];

function listKnownModels(provider: string): string[] {
  return provider === "workers-ai" ? workersAi.map((name) => `workers-ai:${name}`) : listPricedModels(provider);
}

function createKeyAdvice({ apiKeyVariable }: Provider): string {
  return `Set ${apiKeyVariable} in the environment, or in a .env file in the folder where the host is started, and restart the host.`;
}

function describeBadAddress({ name, apiKeyVariable }: Provider): string {
  const where =
    apiKeyVariable === "LLM_API_KEY" ? "LLM_API_BASE" : name === "ollama" ? "OLLAMA_HOST" : `providers.${name}.base`;
  return `${where} is not an address; write it as http://127.0.0.1:8080/v1 and restart the host.`;
}

// An address may carry a name and a password.
function formatAddress(base: string): string {
  if (!URL.canParse(base)) return base;
  const { origin, pathname } = new URL(base);
  return (origin + pathname).replace(/\/$/, "");
}
