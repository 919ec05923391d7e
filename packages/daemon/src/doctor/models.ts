import { loadConfig } from "../config/load.ts";
import { checkModelAddress, checkModelIds, listProviders } from "../config/providers.ts";
import type { Finding, CheckContext } from "./finding.ts";

const name = "models";

/** Model servers that are found without being set. */
const localServers = { Ollama: "http://127.0.0.1:11434/api/tags", "LM Studio": "http://127.0.0.1:1234/v1/models" };

export async function checkModels({ env, cwd, home }: Pick<CheckContext, "env" | "cwd" | "home">): Promise<Finding> {
  try {
    checkModelAddress(env, cwd);
  } catch (error) {
    return { name, state: "fail", message: (error as Error).message };
  }
  // A configuration that cannot be read is another check's finding.
  const config = await loadConfig(home.path, cwd).then(
    (loaded) => loaded.config,
    () => undefined,
  );
  try {
    if (config) checkModelIds(config);
  } catch (error) {
    return { name, state: "fail", message: (error as Error).message };
  }
  const set = listProviders(env, config?.providers);
  const found = [...set, ...(await findLocalServers())];
  const chosen = config?.model ? `; ${config.model} is the default` : "";
  if (found.length > 0) return { name, state: "ok", message: `keys or addresses for ${found.join(", ")}${chosen}` };
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

async function findLocalServers(): Promise<string[]> {
  const asked = Object.entries(localServers).map(async ([program, url]) => {
    const answer = await fetch(url, { redirect: "manual", signal: AbortSignal.timeout(1_000) }).catch(() => undefined);
    await answer?.body?.cancel();
    return answer?.ok ? [program] : [];
  });
  return (await Promise.all(asked)).flat();
}
