import { loadConfig } from "../config/load.ts";
import { checkModelAddress, checkModelIds, listProviders } from "../config/providers.ts";
import type { Finding, CheckContext } from "./finding.ts";

const name = "models";

/** Model servers that are detected without configuration. */
const localServers = { Ollama: "http://127.0.0.1:11434/api/tags", "LM Studio": "http://127.0.0.1:1234/v1/models" };

export async function checkModels({ env, cwd, home }: Pick<CheckContext, "env" | "cwd" | "home">): Promise<Finding> {
  try {
    checkModelAddress(env, cwd);
  } catch (error) {
    return { name, state: "fail", message: (error as Error).message };
  }
  // An invalid configuration is reported by its own check.
  const config = await loadConfig(home.path, cwd).then(
    (loaded) => loaded.config,
    () => undefined,
  );
  try {
    if (config) checkModelIds(config);
  } catch (error) {
    return { name, state: "fail", message: (error as Error).message };
  }
  const configured = listProviders(env, config?.providers);
  const found = [...configured, ...(await findLocalServers())];
  const defaultModel = config?.model ? `; default: ${config.model}` : "";
  if (found.length > 0) return { name, state: "ok", message: `found ${found.join(", ")}${defaultModel}` };
  if (env.LLM_API_KEY) {
    return {
      name,
      state: "warn",
      message: "LLM_API_KEY is set but LLM_API_BASE is not",
      fix: "Set LLM_API_BASE to the URL of the model server.",
    };
  }
  return {
    name,
    state: "warn",
    message: "no model provider is configured; agents only run scripted demos",
    fix: "Set ANTHROPIC_API_KEY, OPENAI_API_KEY, GOOGLE_GENERATIVE_AI_API_KEY or OLLAMA_HOST, in the environment or a .env file.",
  };
}

async function findLocalServers(): Promise<string[]> {
  const probes = Object.entries(localServers).map(async ([program, url]) => {
    const response = await fetch(url, { redirect: "manual", signal: AbortSignal.timeout(1_000) }).catch(
      () => undefined,
    );
    await response?.body?.cancel();
    return response?.ok ? [program] : [];
  });
  return (await Promise.all(probes)).flat();
}
