import type { Model } from "../model.ts";
import { streamCall, type WireOptions } from "./call.ts";
import { createChatBody } from "./chat/request.ts";
import { ChatResponseParser } from "./chat/response-parser.ts";

/** OpenAI's chat completions API, which most other servers support too. */
export function createChatModel(options: WireOptions): Model {
  const headers: Record<string, string> = options.key ? { authorization: `Bearer ${options.key}` } : {};
  const adapter = `chat ${options.id}`;
  const isOpenAi = new URL(options.base).hostname === "api.openai.com";
  return {
    id: options.id,
    stream: (request, signal) =>
      streamCall(
        options,
        {
          path: "/chat/completions",
          headers,
          body: createChatBody(request, { model: options.model, adapter, isOpenAi }),
        },
        new ChatResponseParser(adapter),
        signal,
      ),
  };
}
