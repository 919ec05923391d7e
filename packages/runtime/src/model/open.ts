import type { AiBinding } from "./adapters/workers-ai.ts";
import type { Model } from "./model.ts";
import type { ModelEnv, Provider } from "./providers.ts";
import { createChatModel } from "./wire/chat.ts";
import { createMessagesModel } from "./wire/messages.ts";
import { createResponsesModel } from "./wire/responses.ts";

/** A model of this machine may have to be read from its disk before it says a word. */
const loadingMs = 300_000;

/** A provider's model behind our interface. Adapters of other people's making are loaded only when they are used. */
export async function openModel(
  provider: Provider,
  id: string,
  model: string,
  send: typeof fetch,
  env: ModelEnv,
): Promise<Model> {
  const { wire, baseUrl: base, key, apiKeyVariable } = provider;
  const options = {
    id,
    model,
    base,
    fetch: send,
    ...(key ? { key } : {}),
    ...(apiKeyVariable ? { keyName: apiKeyVariable } : {}),
    ...(provider.local ? { idleMs: loadingMs } : {}),
  };
  switch (wire) {
    case "chat":
      return createChatModel(options);
    case "responses":
      return createResponsesModel(options);
    case "messages":
      return createMessagesModel(options);
    case "google": {
      const { createGoogleModel } = await import("./adapters/google.ts");
      return createGoogleModel(options);
    }
    case "workers-ai": {
      const { createWorkersAiModel } = await import("./adapters/workers-ai.ts");
      return createWorkersAiModel({ id, model, binding: env.AI as AiBinding });
    }
    case "scripted":
      throw new Error("Scripts are played, not opened.");
  }
}
