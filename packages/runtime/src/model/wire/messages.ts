import type { Model } from "../model.ts";
import { call, type WireOptions } from "./call.ts";
import { MessagesAnswer } from "./messages/answer.ts";
import { messagesBody } from "./messages/request.ts";

/** Anthropic's messages. */
export function messagesModel(options: WireOptions): Model {
  const headers: Record<string, string> = {
    "anthropic-version": "2023-06-01",
    ...(options.key ? { "x-api-key": options.key } : {}),
  };
  const adapter = `messages ${options.id}`;
  return {
    id: options.id,
    stream: (request, signal) =>
      call(
        options,
        { path: "/messages", headers, body: messagesBody(request, { model: options.model, adapter }) },
        new MessagesAnswer(adapter),
        signal,
      ),
  };
}
