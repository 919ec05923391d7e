import type { AiBinding } from "./adapters/workers-ai.ts";
import type { Model } from "./model.ts";
import type { ModelEnv, Provider } from "./providers.ts";
import { createChatModel } from "./wire/chat.ts";
import { createMessagesModel } from "./wire/messages.ts";
import { createResponsesModel } from "./wire/responses.ts";

/** A local model may have to be loaded from disk before its first token. */
const localIdleMs = 300_000;

/** Opens a provider's model. Third-party adapters are imported only when used. */
export async function openModel(
  provider: Provider,
  id: string,
  model: string,
  send: typeof fetch,
  env: ModelEnv,
): Promise<Model> {
  const { wire, baseUrl, key, apiKeyVariable } = provider;
  const options = {
    id,
    model,
    base: baseUrl,
    fetch: send,
    ...(key ? { key } : {}),
    ...(apiKeyVariable ? { keyName: apiKeyVariable } : {}),
    ...(provider.local ? { idleMs: localIdleMs } : {}),
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
      throw new Error("Scripted models are created by createScriptedModel.");
  }
}
