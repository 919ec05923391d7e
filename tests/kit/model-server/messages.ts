import type { Format, Frame, NormalizedAnswer } from "./answer.ts";

const reasons = { stop: "end_turn", "tool-calls": "tool_use", length: "max_tokens", content: "refusal" };

const toInputUsage = ({ usage }: NormalizedAnswer) => ({
  // Anthropic counts cached tokens separately.
  input_tokens: usage.input - usage.cached,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: usage.cached,
});

const createHead = (model: string) => ({ id: "msg_1", type: "message", role: "assistant", model });

/** Anthropic's messages API. */
export const messages: Format = {
  named: true,
  frames(answer, model) {
    const frames: Frame[] = [];
    const add = (kind: Frame["kind"], type: string, fields: object = {}) =>
      frames.push({ kind, data: { type, ...fields } });
    let index = -1;
    const message = {
      ...createHead(model),
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { ...toInputUsage(answer), output_tokens: 1 },
    };
    add("open", "message_start", { message });
    add("open", "ping");
    if (answer.reasoning.length > 0) {
      add("reasoning", "content_block_start", {
        index: ++index,
        content_block: { type: "thinking", thinking: "", signature: "" },
      });
      for (const thinking of answer.reasoning)
        add("reasoning", "content_block_delta", { index, delta: { type: "thinking_delta", thinking } });
      add("reasoning", "content_block_delta", {
        index,
        delta: { type: "signature_delta", signature: "signed-thoughts" },
      });
      add("reasoning", "content_block_stop", { index });
    }
    if (answer.text.length > 0) {
      add("open", "content_block_start", { index: ++index, content_block: { type: "text", text: "" } });
      for (const text of answer.text)
        add("text", "content_block_delta", { index, delta: { type: "text_delta", text } });
      add("text", "content_block_stop", { index });
    }
    for (const { id, name, pieces } of answer.calls) {
      add("tool", "content_block_start", { index: ++index, content_block: { type: "tool_use", id, name, input: {} } });
      for (const partial_json of ["", ...pieces])
        add("tool", "content_block_delta", { index, delta: { type: "input_json_delta", partial_json } });
      add("tool", "content_block_stop", { index });
    }
    add("close", "message_delta", {
      delta: { stop_reason: reasons[answer.finish], stop_sequence: null },
      usage: { output_tokens: answer.usage.output },
    });
    add("close", "message_stop");
    return frames;
  },
  whole: (answer, model) => ({
    ...createHead(model),
    content: [
      ...(answer.reasoning.length
        ? [{ type: "thinking", thinking: answer.reasoning.join(""), signature: "signed-thoughts" }]
        : []),
      ...(answer.text.length ? [{ type: "text", text: answer.text.join("") }] : []),
      ...answer.calls.map(({ id, name, pieces }) => ({
        type: "tool_use",
        id,
        name,
        input: JSON.parse(pieces.join("")),
      })),
    ],
    stop_reason: reasons[answer.finish],
    stop_sequence: null,
    usage: { ...toInputUsage(answer), output_tokens: answer.usage.output },
  }),
  failure: (status, code, type, message) => ({
    type: "error",
    error: { type: type ?? code ?? getErrorType(status), message },
  }),
  errorEvent: (code, message) => ({ type: "error", error: { type: code ?? "overloaded_error", message } }),
};

/** Anthropic has no error codes, only a type per status. */
const types: Record<number, string> = {
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  500: "api_error",
  529: "overloaded_error",
};

const getErrorType = (status: number): string => types[status] ?? "invalid_request_error";
