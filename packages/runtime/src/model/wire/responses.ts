import type { Model } from "../model.ts";
import { call, type WireOptions } from "./call.ts";
import type { Complaint } from "./fail.ts";
import { ResponsesAnswer } from "./responses/answer.ts";
import { responsesBody } from "./responses/request.ts";

/** OpenAI's responses. Nothing is stored there: the conversation is ours, and thoughts travel encrypted. */
export function responsesModel(options: WireOptions): Model {
  const headers: Record<string, string> = options.key ? { authorization: `Bearer ${options.key}` } : {};
  const adapter = `responses ${options.id}`;
  // Accounts that are not verified get no summaries of thoughts, and are refused for asking.
  let summaries = true;
  return {
    id: options.id,
    stream(request, signal) {
      const body = () => responsesBody(request, { model: options.model, adapter, summaries });
      const amend = ({ param }: Complaint) => {
        if (param !== "reasoning.summary" || !summaries) return undefined;
        summaries = false;
        return body();
      };
      return call(options, { path: "/responses", headers, body: body(), amend }, new ResponsesAnswer(adapter), signal);
    },
  };
}
