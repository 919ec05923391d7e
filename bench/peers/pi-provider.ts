import { existsSync } from "node:fs";
import { pathToFileURL } from "node:url";

/** The bench's model as a provider of pi, from whichever copy of pi-ai the asking package brought along. */
export async function piProvider(piAi: string, baseUrl: string, model: string) {
  const { createProvider } = (await load(piAi, "index.js")) as typeof import("@earendil-works/pi-ai");
  const { openAICompletionsApi } = (await load(piAi, "api/openai-completions.lazy.js")) as typeof import("@earendil-works/pi-ai/api/openai-completions.lazy");
  return createProvider({
    id: "zero",
    auth: { apiKey: { name: "none", resolve: async () => ({ auth: { apiKey: "x" } }) } },
    models: [
      {
        id: model,
        name: model,
        api: "openai-completions",
        provider: "zero",
        baseUrl,
        reasoning: false,
        input: ["text"],
        cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
        contextWindow: 1_000_000,
        maxTokens: 100_000,
      },
    ],
    api: openAICompletionsApi(),
  });
}

const load = (folder: string, file: string) => import(pathToFileURL(`${folder}/dist/${file}`).href);

/** The copy of pi-ai that this package uses: its own, else everybody's. */
export function piAiOf(name: string): string {
  const root = new URL("node_modules/", import.meta.url).pathname;
  const own = `${root}${name}/node_modules/@earendil-works/pi-ai`;
  return existsSync(own) ? own : `${root}@earendil-works/pi-ai`;
}
