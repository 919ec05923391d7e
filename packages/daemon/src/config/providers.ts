import { builtInProviders, fail } from "@thinkery/sdk";
import { type ModelConfig, findNearest } from "@thinkery/sdk/internal";
import { readDotenv, type Environment } from "./environment.ts";
import type { Config } from "./schema.ts";

const keyVariables = {
  openai: "OPENAI_API_KEY",
  anthropic: "ANTHROPIC_API_KEY",
  google: "GOOGLE_GENERATIVE_AI_API_KEY",
} as const;

const addressVariables = ["LLM_API_BASE", "OLLAMA_HOST"];

type Providers = ModelConfig["providers"];

/** The names of the model providers that the environment or the configuration has a key or an address for. */
export function listProviders(env: Environment, configured: Providers = {}): string[] {
  const names: string[] = Object.entries(keyVariables)
    .filter(([, variable]) => env[variable]?.trim())
    .map(([name]) => name);
  if (env.LLM_API_BASE?.trim()) names.push("openai-compatible");
  if (env.OLLAMA_HOST?.trim()) names.push("ollama");
  const own = Object.entries(configured).filter(
    ([, { apiKeyVariable }]) => !apiKeyVariable || env[apiKeyVariable]?.trim(),
  );
  return [...new Set([...names, ...own.map(([name]) => name)])];
}

export interface ModelVariables {
  /** What main is given of the environment: keys and addresses of providers, as far as they are set. */
  variables: Record<string, string>;
  /** The keys among them, which no log may show. */
  secrets: string[];
}

export function readModelVariables(env: Environment, configured: Providers): ModelVariables {
  const named = Object.values(configured).flatMap(({ apiKeyVariable }) => apiKeyVariable ?? []);
  const keys = [...new Set([...Object.values(keyVariables), "LLM_API_KEY", ...named])];
  const set = [...keys, ...addressVariables].flatMap((name) => {
    const value = env[name]?.trim();
    return value ? [[name, value] as const] : [];
  });
  return {
    variables: Object.fromEntries(set),
    secrets: set.filter(([name]) => !addressVariables.includes(name)).map(([, value]) => value),
  };
}

/**
 * Refuses an address that does not go with its key. A `.env` may be anybody's: an address from there is only used
 * with a key from there, or a repository could have the user's own key sent to it.
 */
export function checkModelAddress(env: Environment, cwd: string): void {
  const base = env.LLM_API_BASE?.trim();
  if (!base) return;
  if (!/^https?:\/\//.test(base) || !URL.canParse(base)) {
    throw fail("bad_request", "LLM_API_BASE is not an address; write it as http://127.0.0.1:8080/v1.");
  }
  const file = readDotenv(cwd);
  const key = env.LLM_API_KEY?.trim();
  if (!key || file.LLM_API_BASE?.trim() !== base || file.LLM_API_KEY?.trim() === key) return;
  throw fail(
    "bad_request",
    "The .env file of this folder sets LLM_API_BASE, but LLM_API_KEY comes from your environment, and your key is not sent to an address that a folder chose. Set LLM_API_BASE in the environment too, or remove it from .env.",
  );
}

/** Refuses a model of a provider that there is not. After the files are put together: one may add what another uses. */
export function checkModelIds({ model, models, providers }: Pick<Config, "model" | "models" | "providers">): void {
  const known = [...builtInProviders, "scripted", ...Object.keys(providers)];
  const chosen = [["model", model], ...Object.entries(models).map(([role, id]) => [`models.${role}`, id])];
  for (const [key, id = ""] of chosen) {
    const [provider = "", ...rest] = id.split(":");
    if (id === "" || known.includes(provider)) continue;
    const near = findNearest(provider, known);
    const advice = near
      ? `did you mean “${near}:${rest.join(":")}”?`
      : `known are ${known.join(", ")}. Others go into “providers” of config.jsonc.`;
    throw fail(
      "bad_request",
      `“${key}” of the configuration names ${id}, but there is no provider “${provider}”; ${advice}`,
    );
  }
}
