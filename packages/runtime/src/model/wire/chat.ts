import type { Model } from "../model.ts";
import { call, type WireOptions } from "./call.ts";
import { ChatAnswer } from "./chat/answer.ts";
import { chatBody } from "./chat/request.ts";

/** OpenAI's chat completions, which nearly every other server speaks too. */
export function chatModel(options: WireOptions): Model {
  const headers: Record<string, string> = options.key ? { authorization: `Bearer ${options.key}` } : {};
  const adapter = `chat ${options.id}`;
  const own = new URL(options.base).hostname === "api.openai.com";
  return {
    id: options.id,
    stream: (request, signal) =>
      call(
        options,
        { path: "/chat/completions", headers, body: chatBody(request, { model: options.model, adapter, own }) },
        new ChatAnswer(adapter),
        signal,
      ),
  };
}
