import { type DefaultModel, fail, type ModelInfo, type ModelRoles, type ProviderInfo } from "@thinkery/sdk";
import { nearest } from "@thinkery/sdk/internal";
import { openHost } from "../host/host.ts";
import { type Contexts, knownContext, openContexts } from "./context.ts";
import { firstOf, isModel, type Listed, listFrom, loadedContext, outbound } from "./listing.ts";
import type { Model } from "./model.ts";
import { openModel } from "./open.ts";
import { knownModels, openPrices, type Prices } from "./prices.ts";
import { type ModelEnv, type Provider, providersOf } from "./providers.ts";
import { openScripts } from "./scripted/scripts.ts";
import { scriptedModel } from "./scripted/scripted.ts";

const probeMs = 1_000;
const listMs = 2_000;
const freshMs = 30_000;
/** Who did not answer may be starting just now. */
const failedMs = 5_000;
/** Anybody may name models that do not exist. */
const maxResolved = 1000;

export interface Models extends Prices, Contexts {
  /** Refuses an id whose provider there is not; whether it has the model is seen when it is used. */
  check(id: string): void;
  /** The roles that the host's configuration fills. */
  readonly configured: ModelRoles;
  /** A quick and cheap model beside this one, at the same provider and with the same key. */
  smallBeside(id: string): string | undefined;
  /** The model of that id, or what is wrong with the id, the key or the script, in a sentence. */
  resolve(id: string): Promise<Model>;
  /** The model of agents that have none of their own. */
  fallback(): Promise<DefaultModel>;
  /** Names of the model servers found on this machine. */
  found(): Promise<string[]>;
  list(): Promise<ProviderInfo[]>;
}

type Listing = { models: Listed[]; problem?: undefined } | { models?: undefined; problem: string };

/**
 * One for each environment, which has the configuration and the keys and never changes. What providers list is at most
 * `freshMs` old, a failure `failedMs`, a context length ten minutes (context.ts). Each isolate asks for itself.
 */
const opened = new WeakMap<ModelEnv, Models>();

export function openModels(env: ModelEnv): Models {
  const known = opened.get(env) ?? catalogue(env);
  opened.set(env, known);
  return known;
}

function catalogue(env: ModelEnv): Models {
  const providers = providersOf(env);
  const prices = openPrices(env.MODEL_CONFIG?.prices);
  const scripts = openScripts(openHost(env.HOST));
  const send = outbound(env);
  const resolved = new Map<string, Model>();
  const contexts = openContexts({
    configured: env.MODEL_CONFIG?.contextTokens,
    isLocal: (id) => known(id)?.local ?? false,
    ask: async (id) => {
      const provider = known(id);
      if (!provider?.base) return undefined;
      const { model } = find(id);
      if (provider.local) return loadedContext(provider, model, send, probeMs);
      const { models } = await listingOf(provider, listMs);
      return models?.find(({ name }) => name === model)?.contextTokens;
    },
  });
  // Answers, not promises: a promise of one request may die with it.
  const listings = new Map<string, { at: number; listing: Listing }>();

  async function listingOf(provider: Provider, limitMs: number, freshFor = freshMs): Promise<Listing> {
    const last = listings.get(provider.name);
    const keep = last?.listing.models ? freshFor : Math.min(freshFor, failedMs);
    if (last && Date.now() - last.at < keep) return last.listing;
    const listing = await listFrom(provider, send, limitMs).then(
      (models): Listing => ({ models }),
      (error: Error): Listing => ({ problem: error.message }),
    );
    listings.set(provider.name, { at: Date.now(), listing });
    return listing;
  }

  async function resolve(id: string): Promise<Model> {
    const before = resolved.get(id);
    if (before) return before;
    const { provider, model } = find(id);
    // Read anew every time: a person who edits a script wants to see what they wrote.
    if (provider.wire === "scripted") return scriptedModel(id, await scripts.find(model));
    if (provider.needsKey && !provider.key) throw fail("unavailable", `${id} needs a key. ${keyAdvice(provider)}`);
    if (provider.base && !URL.canParse(provider.base)) throw fail("unavailable", badAddress(provider));
    if (provider.local) await checkListed(provider, model);
    const made = await openModel(provider, id, model, send, env);
    if (resolved.size >= maxResolved) resolved.clear();
    resolved.set(id, made);
    return made;
  }

  function find(id: string): { provider: Provider; model: string } {
    const [name, model] = parse(id);
    const provider = providers.get(name);
    if (!provider) throw unknownProvider(name, model);
    return { provider, model };
  }

  // A Worker may have models of its own, which are none of ours.
  const known = (id: string) => providers.get(id.slice(0, Math.max(0, id.indexOf(":"))));

  function parse(id: string): [name: string, model: string] {
    const colon = id.indexOf(":");
    if (colon > 0 && colon < id.length - 1) return [id.slice(0, colon), id.slice(colon + 1)];
    const meant = [...providers.keys()].flatMap(knownModels).find((candidate) => candidate.endsWith(`:${id}`));
    const advice = meant ? `did you mean “${meant}”?` : "write it as provider:model, for example openai:gpt-4.1-mini.";
    throw fail("bad_request", `“${id}” does not say which provider's model it is; ${advice}`, meant ? { suggestion: meant } : {});
  }

  function unknownProvider(name: string, model: string): Error {
    const near = nearest(name, providers.keys());
    const advice = near ? `did you mean “${near}:${model}”?` : `known are ${[...providers.keys()].join(", ")}. Others go into “providers” of config.jsonc.`;
    return fail("bad_request", `There is no provider “${name}”; ${advice}`, near ? { suggestion: `${near}:${model}` } : {});
  }

  // Where the server does not answer in time, the call itself will say so, with its retries.
  async function checkListed(provider: Provider, model: string): Promise<void> {
    const has = ({ models }: Listing) => !models || models.some(({ name }) => isModel(name, model));
    if (has(await listingOf(provider, probeMs))) return;
    const { models = [] } = await listingOf(provider, probeMs, 0);
    if (has({ models })) return;
    const near = nearest(model, models.map(({ name }) => name));
    const others = models.length > 0 ? `it has ${models.map(({ name }) => name).join(", ")}.` : "it has none yet.";
    const advice = near ? `did you mean “${provider.name}:${near}”?` : others;
    throw fail("bad_request", `${titles[provider.name] ?? provider.name} has no model “${model}”; ${advice}`, near ? { suggestion: `${provider.name}:${near}` } : {});
  }

  async function fallback(): Promise<DefaultModel> {
    const { model } = env.MODEL_CONFIG ?? {};
    if (model) return { id: model, why: "the configuration says so" };
    // Whoever sets an address for models means it, whatever keys lie around.
    const openai = env.LLM_API_BASE ? providers.get("openai") : undefined;
    if (openai) return { id: `openai:${(await firstListed(openai)) ?? "gpt-4.1-mini"}`, why: "LLM_API_BASE is set" };
    for (const provider of providers.values()) {
      if (!provider.needsKey || !provider.key) continue;
      const first = provider.first ?? (await firstListed(provider));
      if (first) return { id: `${provider.name}:${first}`, why: `${provider.keyVariable} is set` };
    }
    for (const provider of locals()) {
      const first = await firstListed(provider);
      if (first) return { id: `${provider.name}:${first}`, why: `${titles[provider.name]} runs on this machine` };
    }
    const [bound] = env.AI ? knownOf("workers-ai") : [];
    if (bound) return { id: bound, why: "Workers AI is bound" };
    return { id: `scripted:${providers.get("scripted")?.first}`, why: "no model has a key or was found" };
  }

  async function firstListed(provider: Provider): Promise<string | undefined> {
    const { models } = await listingOf(provider, probeMs);
    return models && firstOf(models);
  }

  const locals = () => [...providers.values()].filter(({ local }) => local);

  async function found(): Promise<string[]> {
    const names = await Promise.all(
      locals().map(async (provider) => ((await listingOf(provider, probeMs)).models ? [provider.name] : [])),
    );
    return names.flat();
  }

  const info = (id: string, listed?: number): ModelInfo => {
    const price = prices.priceOf(id);
    const { contextTokens = {} } = env.MODEL_CONFIG ?? {};
    const context = contextTokens[id] ?? listed ?? knownContext(id, contextTokens, known(id)?.local ?? false);
    return { id, ...(price ? { price } : {}), ...(context === undefined ? {} : { contextTokens: context }) };
  };

  function smallBeside(id: string): string | undefined {
    const provider = known(id);
    if (!provider?.small || !provider.key) return undefined;
    const small = `${provider.name}:${provider.small}`;
    const [own, other] = [prices.priceOf(id), prices.priceOf(small)];
    return own && other && own.output <= other.output ? undefined : small;
  }

  async function describe(provider: Provider): Promise<ProviderInfo> {
    const { name, wire, base, keyVariable } = provider;
    const about = { name, ...(keyVariable ? { keyVariable } : {}), ...(base ? { address: shown(base) } : {}) };
    const wellKnown = () => knownOf(name).map((id) => info(id));
    if (wire === "scripted") {
      const names = await scripts.names();
      return { ...about, status: "ready", models: names.map((script) => info(`scripted:${script}`)) };
    }
    if (wire === "workers-ai") return { ...about, status: "ready", models: wellKnown() };
    if (provider.needsKey && !provider.key) return { ...about, status: "no key", problem: keyAdvice(provider), models: wellKnown() };
    const { models, problem } = await listingOf(provider, provider.local ? probeMs : listMs);
    if (models) return { ...about, status: "ready", models: models.map((model) => info(`${name}:${model.name}`, model.contextTokens)) };
    if (provider.local) return { ...about, status: "not found", problem: `Nothing of it answers at ${shown(base)}.`, models: [] };
    return { ...about, status: "error", problem, models: wellKnown() };
  }

  return {
    ...prices,
    ...contexts,
    check: (id) => void find(id),
    configured: { ...(env.MODEL_CONFIG?.model ? { primary: env.MODEL_CONFIG.model } : {}), ...env.MODEL_CONFIG?.models },
    smallBeside,
    resolve,
    fallback,
    found,
    list: () => Promise.all([...providers.values()].map(describe)),
  };
}

const titles: Record<string, string> = { ollama: "Ollama", lmstudio: "LM Studio" };

const workersAi = ["@cf/meta/llama-3.3-70b-instruct-fp8-fast", "@cf/openai/gpt-oss-120b", "@cf/openai/gpt-oss-20b"];

function knownOf(provider: string): string[] {
  return provider === "workers-ai" ? workersAi.map((name) => `workers-ai:${name}`) : knownModels(provider);
}

function keyAdvice({ keyVariable }: Provider): string {
  return `Set ${keyVariable} in the environment, or in a .env file in the folder where the host is started, and restart the host.`;
}

function badAddress({ name, keyVariable }: Provider): string {
  const where = keyVariable === "LLM_API_KEY" ? "LLM_API_BASE" : name === "ollama" ? "OLLAMA_HOST" : `providers.${name}.base`;
  return `${where} is not an address; write it as http://127.0.0.1:8080/v1 and restart the host.`;
}

// An address may carry a name and a password.
function shown(base: string): string {
  if (!URL.canParse(base)) return base;
  const { origin, pathname } = new URL(base);
  return (origin + pathname).replace(/\/$/, "");
}
