import type { Environment } from "./environment.ts";

const keyNames = {
  openai: "OPENAI_API_KEY",
  anthropic: "ANTHROPIC_API_KEY",
  google: "GOOGLE_GENERATIVE_AI_API_KEY",
} as const;

/** The names of the model providers that the environment has a key or an address for. */
export function providersIn(env: Environment): string[] {
  const names: string[] = Object.entries(keyNames)
    .filter(([, variable]) => env[variable]?.trim())
    .map(([name]) => name);
  if (env.LLM_API_BASE?.trim()) names.push("openai-compatible");
  if (env.OLLAMA_HOST?.trim()) names.push("ollama");
  return names;
}
