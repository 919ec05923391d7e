import {
  type DefaultModel,
  fail,
  type ModelInfo,
  type ModelRoles,
  type ProviderInfo,
  type RoleEfforts,
} from "@thinkery/sdk";
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

const probeTimeoutMs = 1_000;
const listTimeoutMs = 2_000;
const listingTtlMs = 30_000;
/** Failures expire sooner: the server may just be starting. */
const failureTtlMs = 5_000;
/** Bounds the cache, because callers can name models that do not exist. */
const maxResolved = 1000;

/** The models of a host: resolves ids, lists providers, and knows prices and context windows. */
export interface Models extends Prices, ContextWindows {
  /** Throws if the id's provider is unknown. Does not check that the provider has the model. */
  check(id: string): void;
  /** Models and efforts per role as set in the host's configuration. */
  readonly configured: ModelRoles & { reasoning?: RoleEfforts };
  /** Returns a fast, cheap model of the same provider (and key), unless this one is at least as cheap. */
  findSmallModel(id: string): string | undefined;
  /** Opens a model. Throws a readable error if the id, the key or the script is invalid. */
  resolve(id: string): Promise<Model>;
  /** The model for agents that do not set one. */
  getDefaultModel(): Promise<DefaultModel>;
  /** Names of the model servers running on this machine. */
  listLocalServers(): Promise<string[]>;
  list(): Promise<ProviderInfo[]>;
}

type ProviderListing = { models: ListedModel[]; problem?: undefined } | { models?: undefined; problem: string };

/**
 * One instance per environment, which holds the configuration and keys and never changes. Caches per isolate: model
 * lists for `listingTtlMs`, failures for `failureTtlMs`, context lengths for ten minutes (context.ts).
 */
const modelsByEnv = new WeakMap<ModelEnv, Models>();

export function openModels(env: ModelEnv): Models {
  const models = modelsByEnv.get(env) ?? createModels(env);
  modelsByEnv.set(env, models);
  return models;
}

function createModels(env: ModelEnv): Models {
  const providers = collectProviders(env);
  const prices = openPrices(env.MODEL_CONFIG?.prices);
  const scripts = openScripts(openHost(env.HOST));
  const send = createModelFetch(env);
  const resolved = new Map<string, Model>();
  const contexts = openContextWindows({
    configured: env.MODEL_CONFIG?.contextTokens,
    isLocal: (id) => findProvider(id)?.local ?? false,
    fetchContextTokens: async (id) => {
      const provider = findProvider(id);
      if (!provider?.baseUrl) return undefined;
      const { model } = find(id);
      if (provider.local) return readLoadedContext(provider, model, send, probeTimeoutMs);
      const { models } = await getListing(provider, listTimeoutMs);
      return models?.find(({ name }) => name === model)?.contextTokens;
    },
  });
  // Holds results, not promises: in workerd a promise may be cancelled with the request that created it.
  const listings = new Map<string, { at: number; listing: ProviderListing }>();

  async function getListing(provider: Provider, timeoutMs: number, maxAgeMs = listingTtlMs): Promise<ProviderListing> {
    const last = listings.get(provider.name);
    const ttlMs = last?.listing.models ? maxAgeMs : Math.min(maxAgeMs, failureTtlMs);
    if (last && Date.now() - last.at < ttlMs) return last.listing;
    const listing = await listModels(provider, send, timeoutMs).then(
      (models): ProviderListing => ({ models }),
      (error: Error): ProviderListing => ({ problem: error.message }),
    );
    listings.set(provider.name, { at: Date.now(), listing });
    return listing;
  }

  async function resolve(id: string): Promise<Model> {
    const cached = resolved.get(id);
    if (cached) return cached;
    const { provider, model } = find(id);
    // Not cached, so that edits to a script take effect at once.
    if (provider.wire === "scripted") return createScriptedModel(id, await scripts.find(model));
    if (provider.needsKey && !provider.key)
      throw fail("unavailable", `${id} needs an API key. ${formatKeyAdvice(provider)}`);
    if (provider.baseUrl && !URL.canParse(provider.baseUrl)) throw fail("unavailable", describeInvalidUrl(provider));
    if (provider.local) await checkListed(provider, model);
    const opened = await openModel(provider, id, model, send, env);
    if (resolved.size >= maxResolved) resolved.clear();
    resolved.set(id, opened);
    return opened;
  }

  function find(id: string): { provider: Provider; model: string } {
    const [name, model] = parse(id);
    const provider = providers.get(name);
    if (!provider) throw createUnknownProviderError(name, model);
    return { provider, model };
  }

  // Returns undefined for models that a Worker provides itself.
  const findProvider = (id: string) => providers.get(id.slice(0, Math.max(0, id.indexOf(":"))));

  function parse(id: string): [name: string, model: string] {
    const colon = id.indexOf(":");
    if (colon > 0 && colon < id.length - 1) return [id.slice(0, colon), id.slice(colon + 1)];
    const suggestion = [...providers.keys()].flatMap(listPricedModels).find((known) => known.endsWith(`:${id}`));
    const reason = suggestion
      ? `the provider is missing. Did you mean “${suggestion}”?`
      : "expected provider:model, for example openai:gpt-4.1-mini.";
    throw fail("bad_request", `Invalid model “${id}”: ${reason}`, suggestion ? { suggestion } : {});
  }

  function createUnknownProviderError(name: string, model: string): Error {
    const nearest = findNearest(name, providers.keys());
    const advice = nearest
      ? `Did you mean “${nearest}:${model}”?`
      : `Known providers: ${[...providers.keys()].join(", ")}. Add others under “providers” in config.jsonc.`;
    return fail(
      "bad_request",
      `Unknown provider “${name}”. ${advice}`,
      nearest ? { suggestion: `${nearest}:${model}` } : {},
    );
  }

  // Passes if the server does not respond in time: the call itself then fails, after its retries.
  async function checkListed(provider: Provider, model: string): Promise<void> {
    const hasModel = ({ models }: ProviderListing) => !models || models.some(({ name }) => isSameModel(name, model));
    if (hasModel(await getListing(provider, probeTimeoutMs))) return;
    const { models = [] } = await getListing(provider, probeTimeoutMs, 0);
    if (hasModel({ models })) return;
    const names = models.map(({ name }) => name);
    const nearest = findNearest(model, names);
    const available = names.length > 0 ? `Available models: ${names.join(", ")}.` : "No models are installed yet.";
    const advice = nearest ? `Did you mean “${provider.name}:${nearest}”?` : available;
    throw fail(
      "bad_request",
      `${displayNames[provider.name] ?? provider.name} has no model “${model}”. ${advice}`,
      nearest ? { suggestion: `${provider.name}:${nearest}` } : {},
    );
  }

  async function getDefaultModel(): Promise<DefaultModel> {
    const { model } = env.MODEL_CONFIG ?? {};
    if (model) return { id: model, why: "set in the configuration" };
    // An explicit base URL takes precedence over any API key that happens to be set.
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
      if (first)
        return { id: `${provider.name}:${first}`, why: `${displayNames[provider.name]} is running on this machine` };
    }
    const [workersAiModel] = env.AI ? listKnownModels("workers-ai") : [];
    if (workersAiModel) return { id: workersAiModel, why: "Workers AI is bound" };
    return {
      id: `scripted:${providers.get("scripted")?.first}`,
      why: "no API key is set and no model server was found",
    };
  }

  async function findFirstListed(provider: Provider): Promise<string | undefined> {
    const { models } = await getListing(provider, probeTimeoutMs);
    return models && findFirstChatModel(models);
  }

  const listLocalProviders = () => [...providers.values()].filter(({ local }) => local);

  async function listLocalServers(): Promise<string[]> {
    const names = await Promise.all(
      listLocalProviders().map(async (provider) =>
        (await getListing(provider, probeTimeoutMs)).models ? [provider.name] : [],
      ),
    );
    return names.flat();
  }

  const toModelInfo = (id: string, listed?: number): ModelInfo => {
    const price = prices.getPrice(id);
    const { contextTokens = {} } = env.MODEL_CONFIG ?? {};
    const context =
      contextTokens[id] ?? listed ?? findKnownContext(id, contextTokens, findProvider(id)?.local ?? false);
    return { id, ...(price ? { price } : {}), ...(context === undefined ? {} : { contextTokens: context }) };
  };

  function findSmallModel(id: string): string | undefined {
    const provider = findProvider(id);
    if (!provider?.small || !provider.key) return undefined;
    const small = `${provider.name}:${provider.small}`;
    const [own, other] = [prices.getPrice(id), prices.getPrice(small)];
    return own && other && own.output <= other.output ? undefined : small;
  }

  async function describe(provider: Provider): Promise<ProviderInfo> {
    const { name, wire, baseUrl, apiKeyVariable } = provider;
    const common = {
      name,
      ...(apiKeyVariable ? { apiKeyVariable } : {}),
      ...(baseUrl ? { address: formatUrl(baseUrl) } : {}),
    };
    const listWellKnown = () => listKnownModels(name).map((id) => toModelInfo(id));
    if (wire === "scripted") {
      const names = await scripts.listNames();
      return { ...common, status: "ready", models: names.map((script) => toModelInfo(`scripted:${script}`)) };
    }
    if (wire === "workers-ai") return { ...common, status: "ready", models: listWellKnown() };
    if (provider.needsKey && !provider.key)
      return { ...common, status: "no key", problem: formatKeyAdvice(provider), models: listWellKnown() };
    const { models, problem } = await getListing(provider, provider.local ? probeTimeoutMs : listTimeoutMs);
    if (models)
      return {
        ...common,
        status: "ready",
        models: models.map((model) => toModelInfo(`${name}:${model.name}`, model.contextTokens)),
      };
    if (provider.local)
      return { ...common, status: "not found", problem: `No server found at ${formatUrl(baseUrl)}.`, models: [] };
    return { ...common, status: "error", problem, models: listWellKnown() };
  }

  return {
    ...prices,
    ...contexts,
    check: (id) => void find(id),
    configured: {
      ...(env.MODEL_CONFIG?.model ? { primary: env.MODEL_CONFIG.model } : {}),
      ...env.MODEL_CONFIG?.models,
      ...(env.MODEL_CONFIG?.reasoning ? { reasoning: env.MODEL_CONFIG.reasoning } : {}),
    },
    findSmallModel,
    resolve,
    getDefaultModel,
    listLocalServers,
    list: () => Promise.all([...providers.values()].map(describe)),
  };
}

const displayNames: Record<string, string> = { ollama: "Ollama", lmstudio: "LM Studio" };

const workersAi = ["@cf/meta/llama-3.3-70b-instruct-fp8-fast", "@cf/openai/gpt-oss-120b", "@cf/openai/gpt-oss-20b"];

function listKnownModels(provider: string): string[] {
  return provider === "workers-ai" ? workersAi.map((name) => `workers-ai:${name}`) : listPricedModels(provider);
}

function formatKeyAdvice({ apiKeyVariable }: Provider): string {
  return `Set ${apiKeyVariable} in the environment, or in a .env file in the folder where the host is started, and restart the host.`;
}

function describeInvalidUrl({ name, apiKeyVariable }: Provider): string {
  const setting =
    apiKeyVariable === "LLM_API_KEY" ? "LLM_API_BASE" : name === "ollama" ? "OLLAMA_HOST" : `providers.${name}.baseUrl`;
  return `${setting} is not a valid URL. Use a form such as http://127.0.0.1:8080/v1 and restart the host.`;
}

// Drops credentials and the query.
function formatUrl(baseUrl: string): string {
  if (!URL.canParse(baseUrl)) return baseUrl;
  const { origin, pathname } = new URL(baseUrl);
  return (origin + pathname).replace(/\/$/, "");
}
