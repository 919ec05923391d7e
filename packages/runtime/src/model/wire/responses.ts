import type { Model } from "../model.ts";
import { streamCall, type WireOptions } from "./call.ts";
import type { ProviderError } from "./create-model-error.ts";
import { createResponsesBody } from "./responses/request.ts";
import { ResponsesResponseParser } from "./responses/response-parser.ts";

/**
 * OpenAI's responses API. Nothing is stored at OpenAI: we keep the conversation, and reasoning is passed back
 * encrypted.
 */
export function createResponsesModel(options: WireOptions): Model {
  const headers: Record<string, string> = options.key ? { authorization: `Bearer ${options.key}` } : {};
  const adapter = `responses ${options.id}`;
  // Unverified accounts get no reasoning summaries, and requests that ask for them are rejected.
  let summaries = true;
  return {
    id: options.id,
    stream(request, signal) {
      const body = () => createResponsesBody(request, { model: options.model, adapter, summaries });
      const amend = ({ param }: ProviderError) => {
        if (param !== "reasoning.summary" || !summaries) return undefined;
        summaries = false;
        return body();
      };
      return streamCall(
        options,
        { path: "/responses", headers, body: body(), amend },
        new ResponsesResponseParser(adapter),
        signal,
      );
    },
  };
}
