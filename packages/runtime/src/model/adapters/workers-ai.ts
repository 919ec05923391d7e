import type { Model } from "../model.ts";
import { createChatModel } from "../wire/chat.ts";

/** The part of the Workers AI binding that we use. */
export interface AiBinding {
  run(
    model: string,
    inputs: object,
    options: { returnRawResponse: true; signal?: AbortSignal | null },
  ): Promise<Response>;
}

interface WorkersAiOptions {
  id: string;
  model: string;
  binding: AiBinding;
  idleMs?: number;
}

/** Workers AI speaks chat completions (and an older variant of them), over a binding instead of HTTP. */
export function createWorkersAiModel({ id, model, binding, idleMs }: WorkersAiOptions): Model {
  const run = async (_url: unknown, init?: { body?: unknown; signal?: AbortSignal | null }): Promise<Response> => {
    const { model: _model, stream_options: _options, messages, ...rest } = JSON.parse(String(init?.body));
    const inputs = { ...rest, messages: messages.map(fillContent) };
    try {
      return await binding.run(model, inputs, {
        returnRawResponse: true,
        ...(init?.signal ? { signal: init.signal } : {}),
      });
    } catch (error) {
      return toErrorResponse(error);
    }
  };
  return createChatModel({
    id,
    model,
    base: "https://workers-ai.invalid",
    fetch: run as never,
    ...(idleMs === undefined ? {} : { idleMs }),
  });
}

/** The binding's schema does not allow null content. */
const fillContent = (message: { content: unknown }): object => ({ ...message, content: message.content ?? "" });

/** HTTP statuses of the binding's error codes. */
const statusByCode: Record<string, number> = {
  3006: 413,
  3007: 408,
  3008: 408,
  3023: 403,
  3036: 429,
  3040: 429,
  3041: 403,
  3042: 404,
  5007: 404,
  5016: 403,
  5018: 403,
};

/** The binding throws what the HTTP API would return, prefixed with the error code. */
function toErrorResponse(error: unknown): Response {
  const message = error instanceof Error ? error.message : String(error);
  const code = message.match(/^(\d{4}):/)?.[1];
  if (code === undefined) throw error;
  return Response.json({ errors: [{ code: Number(code), message }] }, { status: statusByCode[code] ?? 400 });
}
