import { providersIn } from "../config/providers.ts";
import type { Finding, Patient } from "./finding.ts";

const name = "models";

export function checkModels({ env }: Pick<Patient, "env">): Finding {
  const providers = providersIn(env);
  if (providers.length > 0) return { name, state: "ok", message: `keys or addresses for ${providers.join(", ")}` };
  if (env.LLM_API_KEY) {
    return {
      name,
      state: "warn",
      message: "LLM_API_KEY is set but LLM_API_BASE is not",
      fix: "Set LLM_API_BASE to the address of the model server.",
    };
  }
  return {
    name,
    state: "warn",
    message: "no model provider has a key, so agents only play scripts",
    fix: "Set ANTHROPIC_API_KEY, OPENAI_API_KEY, GOOGLE_GENERATIVE_AI_API_KEY or OLLAMA_HOST, here or in a .env file.",
  };
}
