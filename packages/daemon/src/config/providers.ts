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

/** Lists the model providers that have a key or an address in the environment or the configuration. */
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
  /** The provider keys and addresses of the environment that are passed to main. */
  variables: Record<string, string>;
  /** The keys among them; they must not appear in logs. */
  secrets: string[];
}

export function readModelVariables(env: Environment, configured: Providers): ModelVariables {
  const named = Object.values(configured).flatMap(({ apiKeyVariable }) => apiKeyVariable ?? []);
  const keys = [...new Set([...Object.values(keyVariables), "LLM_API_KEY", ...named])];
  const entries = [...keys, ...addressVariables].flatMap((name) => {
    const value = env[name]?.trim();
    return value ? [[name, value] as const] : [];
  });
  return {
    variables: Object.fromEntries(entries),
    secrets: entries.filter(([name]) => !addressVariables.includes(name)).map(([, value]) => value),
  };
}

/**
 * Throws if LLM_API_BASE comes from `.env` but LLM_API_KEY does not: otherwise a cloned repository could have the
 * user's own key sent to its server.
 */
export function checkModelAddress(env: Environment, cwd: string): void {
  const base = env.LLM_API_BASE?.trim();
  if (!base) return;
  if (!/^https?:\/\//.test(base) || !URL.canParse(base)) {
    throw fail("bad_request", "LLM_API_BASE is not a valid URL. Example: http://127.0.0.1:8080/v1");
  }
  const file = readDotenv(cwd);
  const key = env.LLM_API_KEY?.trim();
  if (!key || file.LLM_API_BASE?.trim() !== base || file.LLM_API_KEY?.trim() === key) return;
  throw fail(
    "bad_request",
    "Refusing to send your LLM_API_KEY to the LLM_API_BASE set by the .env file of this folder. Set LLM_API_BASE in the environment too, or remove it from .env.",
  );
}

/**
 * Throws if a model names an unknown provider. Called on the merged config, because one file may add a provider that
 * another uses.
 */
export function checkModelIds({ model, models, providers }: Pick<Config, "model" | "models" | "providers">): void {
  const known = [...builtInProviders, "scripted", ...Object.keys(providers)];
  const modelIds = [["model", model], ...Object.entries(models).map(([role, id]) => [`models.${role}`, id])];
  for (const [key, id = ""] of modelIds) {
    const [provider = "", ...rest] = id.split(":");
    if (id === "" || known.includes(provider)) continue;
    const suggestion = findNearest(provider, known);
    const hint = suggestion
      ? `Did you mean “${suggestion}:${rest.join(":")}”?`
      : `Known providers: ${known.join(", ")}. Add others to “providers” in config.jsonc.`;
    throw fail("bad_request", `Unknown provider “${provider}” in “${key}”: ${id}. ${hint}`);
  }
}
