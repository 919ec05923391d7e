import type { Model } from "../model.ts";
import { streamCall, type WireOptions } from "./call.ts";
import { createMessagesBody } from "./messages/request.ts";
import { MessagesResponseParser } from "./messages/response-parser.ts";

/** Anthropic's messages API. */
export function createMessagesModel(options: WireOptions): Model {
  const headers: Record<string, string> = {
    "anthropic-version": "2023-06-01",
    ...(options.key ? { "x-api-key": options.key } : {}),
  };
  const adapter = `messages ${options.id}`;
  return {
    id: options.id,
    stream: (request, signal) =>
      streamCall(
        options,
        { path: "/messages", headers, body: createMessagesBody(request, { model: options.model, adapter }) },
        new MessagesResponseParser(adapter),
        signal,
      ),
  };
}
