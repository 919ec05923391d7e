import type { Format, NormalizedAnswer } from "./answer.ts";

const reasons = { stop: "stop", "tool-calls": "tool_calls", length: "length", content: "content_filter" };

const toUsage = ({ usage }: NormalizedAnswer) => ({
  prompt_tokens: usage.input,
  completion_tokens: usage.output,
  total_tokens: usage.input + usage.output,
  prompt_tokens_details: { cached_tokens: usage.cached },
  completion_tokens_details: { reasoning_tokens: usage.reasoning },
});

const createErrorBody = (message: string, type: string, code: string | null) => ({
  error: { message, type, param: null, code },
});

/** OpenAI's chat completions. */
export const chat: Format = {
  named: false,
  frames(answer, model) {
    const head = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1_760_000_000, model };
    const chunk = (delta: object, finish: string | null = null) => ({
      ...head,
      choices: [{ index: 0, delta, finish_reason: finish }],
      usage: null,
    });
    return [
      { kind: "open", data: chunk({ role: "assistant", content: "" }) },
      ...answer.reasoning.map((text) => ({ kind: "reasoning" as const, data: chunk({ reasoning_content: text }) })),
      ...answer.text.map((text) => ({ kind: "text" as const, data: chunk({ content: text }) })),
      ...answer.calls.flatMap(({ id, name, pieces }, index) => [
        {
          kind: "tool" as const,
          data: chunk({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] }),
        },
        ...pieces.map((piece) => ({
          kind: "tool" as const,
          data: chunk({ tool_calls: [{ index, function: { arguments: piece } }] }),
        })),
      ]),
      { kind: "close", data: chunk({}, reasons[answer.finish]) },
      { kind: "close", data: { ...head, choices: [], usage: toUsage(answer) } },
      { kind: "close", data: "[DONE]" },
    ];
  },
  whole(answer, model) {
    const message = {
      role: "assistant",
      content: answer.text.join("") || null,
      reasoning_content: answer.reasoning.join("") || undefined,
      tool_calls: answer.calls.map(({ id, name, pieces }) => ({
        id,
        type: "function",
        function: { name, arguments: pieces.join("") },
      })),
    };
    return {
      id: "chatcmpl-1",
      object: "chat.completion",
      created: 1_760_000_000,
      model,
      choices: [{ index: 0, message, finish_reason: reasons[answer.finish] }],
      usage: toUsage(answer),
    };
  },
  failure: (_status, code, type, message) => createErrorBody(message, type ?? "invalid_request_error", code ?? null),
  errorEvent: (code, message) => createErrorBody(message, "server_error", code ?? "server_error"),
};
