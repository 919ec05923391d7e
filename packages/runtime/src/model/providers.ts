import { type BuiltInProvider, builtInProviders } from "@thinkery/sdk";
import type { ModelConfig } from "@thinkery/sdk/internal";
import type { Service } from "../host/host.ts";
import type { AiBinding } from "./adapters/workers-ai.ts";

/** The Worker bindings that models use. API keys are bound under their variables' names. */
export interface ModelEnv {
  /** Outbound service to providers, private and local addresses included. Absent on Cloudflare. */
  MODELS?: Service;
  /** The daemon, which reads the scripts on this machine. Absent on Cloudflare. */
  HOST?: Service;
  /** Workers AI, on Cloudflare. */
  AI?: AiBinding;
  MODEL_CONFIG?: ModelConfig;
  LLM_API_BASE?: string;
  LLM_API_KEY?: string;
  OPENAI_API_KEY?: string;
  ANTHROPIC_API_KEY?: string;
  GOOGLE_GENERATIVE_AI_API_KEY?: string;
  OLLAMA_HOST?: string;
}

export type Wire = "chat" | "responses" | "messages" | "google" | "workers-ai" | "scripted";

export interface Provider {
  name: string;
  wire: Wire;
  /** Without a trailing slash. */
  baseUrl: string;
  apiKeyVariable?: string;
  key?: string;
  /** Requests require a key. */
  needsKey: boolean;
  /** A server on this machine; its list of models is complete. */
  local: boolean;
  /** The default model; if unset, the first one listed. */
  first?: string;
  /** A fast, cheap model for simple work. Only known for a provider's own API. */
  small?: string;
}

interface BuiltInDefaults extends Pick<Provider, "wire" | "baseUrl" | "apiKeyVariable" | "first" | "small"> {
  local?: boolean;
}

const builtIn: Record<BuiltInProvider, BuiltInDefaults> = {
  anthropic: {
    wire: "messages",
    baseUrl: "https://api.anthropic.com/v1",
    apiKeyVariable: "ANTHROPIC_API_KEY",
    first: "claude-sonnet-5-5",
    small: "claude-haiku-5-5",
  },
  openai: {
    wire: "responses",
    baseUrl: "https://api.openai.com/v1",
    apiKeyVariable: "OPENAI_API_KEY",
    first: "gpt-4.1-mini",
    small: "gpt-4.1-mini",
  },
  google: {
    wire: "google",
    baseUrl: "https://generativelanguage.googleapis.com/v1beta",
    apiKeyVariable: "GOOGLE_GENERATIVE_AI_API_KEY",
    first: "gemini-2.5-flash",
    small: "gemini-2.5-flash-lite",
  },
  ollama: { wire: "chat", baseUrl: "http://127.0.0.1:11434/v1", local: true },
  lmstudio: { wire: "chat", baseUrl: "http://127.0.0.1:1234/v1", local: true },
};

export const defaultScript = "tour";

/** Collects all providers by name: built-in, configured, and bound to the Worker. */
export function collectProviders(env: ModelEnv): Map<string, Provider> {
  const configured = env.MODEL_CONFIG?.providers ?? {};
  const providers = new Map<string, Provider>();
  for (const name of builtInProviders) {
    const { local = false, ...rest } = builtIn[name];
    // Local servers are only reachable through the daemon.
    if (local && !env.MODELS && !(name === "ollama" && env.OLLAMA_HOST)) continue;
    providers.set(name, addKey(env, { name, needsKey: !local, local, ...rest }));
  }
  const ollama = providers.get("ollama");
  if (ollama && env.OLLAMA_HOST) ollama.baseUrl = `${parseOllamaHost(env.OLLAMA_HOST)}/v1`;

  for (const [name, { baseUrl, apiKeyVariable, wire }] of Object.entries(configured)) {
    const known: Provider = providers.get(name) ?? { name, wire: "chat", baseUrl, needsKey: false, local: false };
    // At another address the small model does not apply, nor does a key that has another variable there.
    const { small: _, key: __, ...defaults } = known;
    const variable = apiKeyVariable ?? defaults.apiKeyVariable;
    const provider: Provider = {
      ...defaults,
      baseUrl: trimSlashes(baseUrl),
      ...(wire ? { wire } : {}),
      ...(variable ? { apiKeyVariable: variable } : {}),
    };
    providers.set(name, addKey(env, { ...provider, needsKey: variable !== undefined }));
  }
  if (env.LLM_API_BASE?.trim()) {
    // Only LLM_API_KEY is sent there, never OpenAI's key.
    const { key: _, first: __, small: ___, ...openai } = providers.get("openai") as Provider;
    const compatible: Provider = {
      ...openai,
      wire: "chat",
      baseUrl: trimSlashes(env.LLM_API_BASE.trim()),
      apiKeyVariable: "LLM_API_KEY",
      needsKey: false,
    };
    providers.set("openai", addKey(env, compatible));
  }
  if (env.AI)
    providers.set("workers-ai", { name: "workers-ai", wire: "workers-ai", baseUrl: "", needsKey: false, local: false });
  providers.set("scripted", {
    name: "scripted",
    wire: "scripted",
    baseUrl: "",
    needsKey: false,
    local: false,
    first: defaultScript,
  });
  return providers;
}

function addKey(env: ModelEnv, provider: Provider): Provider {
  const value = provider.apiKeyVariable && (env as Record<string, unknown>)[provider.apiKeyVariable];
  const key = typeof value === "string" ? value.trim() : "";
  return key ? { ...provider, key } : provider;
}

const trimSlashes = (baseUrl: string) => baseUrl.replace(/\/+$/, "");

/** Parses OLLAMA_HOST as Ollama does: scheme, port and even the host are optional. */
export function parseOllamaHost(text: string): string {
  const [, scheme, rest = ""] = /^(?:(https?):\/\/)?(.*)$/.exec(text.trim()) ?? [];
  const [, host = "", port] = /^(\[[^\]]*\]|[^:/]*)(?::(\d+))?/.exec(rest) ?? [];
  // A wildcard listen address cannot be called.
  const name = !host || host === "0.0.0.0" || host === "[::]" ? "127.0.0.1" : host;
  const defaultPort = scheme === "https" ? "443" : scheme === "http" ? "80" : "11434";
  return `${scheme ?? "http"}://${name}:${port ?? defaultPort}`;
}
