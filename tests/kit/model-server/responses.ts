import type { Format, Frame, NormalizedAnswer } from "./answer.ts";

const toUsage = ({ usage }: NormalizedAnswer) => ({
  input_tokens: usage.input,
  input_tokens_details: { cached_tokens: usage.cached },
  output_tokens: usage.output,
  output_tokens_details: { reasoning_tokens: usage.reasoning },
  total_tokens: usage.input + usage.output,
});

function toOutputItems({ reasoning, text, calls }: NormalizedAnswer) {
  return {
    thought: {
      id: "rs_1",
      type: "reasoning",
      encrypted_content: "encrypted-thoughts",
      summary: [{ type: "summary_text", text: reasoning.join("") }],
    },
    message: {
      id: "msg_1",
      type: "message",
      status: "completed",
      role: "assistant",
      content: [{ type: "output_text", annotations: [], logprobs: [], text: text.join("") }],
    },
    calls: calls.map(({ id, name, pieces }, index) => ({
      id: `fc_${index}`,
      type: "function_call",
      status: "completed",
      arguments: pieces.join(""),
      call_id: id,
      name,
    })),
  };
}

function createEnvelope(answer: NormalizedAnswer, model: string, done: boolean): object {
  const { thought, message, calls } = toOutputItems(answer);
  const output = [...(answer.reasoning.length ? [thought] : []), ...(answer.text.length ? [message] : []), ...calls];
  const cut =
    answer.finish === "length" ? "max_output_tokens" : answer.finish === "content" ? "content_filter" : undefined;
  return {
    id: "resp_1",
    object: "response",
    created_at: 1_760_000_000,
    status: done ? (cut ? "incomplete" : "completed") : "in_progress",
    error: null,
    incomplete_details: done && cut ? { reason: cut } : null,
    model,
    output: done ? output : [],
    usage: done ? toUsage(answer) : null,
  };
}

/** OpenAI's responses API. */
export const responses: Format = {
  named: true,
  frames(answer, model) {
    const frames: Frame[] = [];
    const add = (kind: Frame["kind"], type: string, fields: object) =>
      frames.push({ kind, data: { type, sequence_number: frames.length, ...fields } });
    const { thought, message, calls } = toOutputItems(answer);
    let output_index = -1;
    add("open", "response.created", { response: createEnvelope(answer, model, false) });
    add("open", "response.in_progress", { response: createEnvelope(answer, model, false) });
    if (answer.reasoning.length > 0) {
      const at = { item_id: "rs_1", output_index: ++output_index };
      const part = { type: "summary_text", text: answer.reasoning.join("") };
      add("reasoning", "response.output_item.added", {
        output_index,
        item: { ...thought, summary: [], encrypted_content: "half" },
      });
      add("reasoning", "response.reasoning_summary_part.added", {
        ...at,
        summary_index: 0,
        part: { ...part, text: "" },
      });
      for (const delta of answer.reasoning)
        add("reasoning", "response.reasoning_summary_text.delta", { ...at, summary_index: 0, delta });
      add("reasoning", "response.reasoning_summary_text.done", { ...at, summary_index: 0, text: part.text });
      add("reasoning", "response.reasoning_summary_part.done", { ...at, summary_index: 0, part });
      add("reasoning", "response.output_item.done", { output_index, item: thought });
    }
    if (answer.text.length > 0) {
      const at = { item_id: "msg_1", output_index: ++output_index, content_index: 0 };
      add("open", "response.output_item.added", {
        output_index,
        item: { ...message, status: "in_progress", content: [] },
      });
      add("open", "response.content_part.added", { ...at, part: { type: "output_text", annotations: [], text: "" } });
      for (const delta of answer.text) add("text", "response.output_text.delta", { ...at, delta, logprobs: [] });
      add("text", "response.output_text.done", { ...at, text: answer.text.join(""), logprobs: [] });
      add("text", "response.content_part.done", { ...at, part: message.content[0] });
      add("text", "response.output_item.done", { output_index, item: message });
    }
    answer.calls.forEach(({ pieces }, index) => {
      const item = calls[index]!;
      const at = { item_id: item.id, output_index: ++output_index };
      add("tool", "response.output_item.added", {
        output_index,
        item: { ...item, status: "in_progress", arguments: "" },
      });
      for (const delta of pieces) add("tool", "response.function_call_arguments.delta", { ...at, delta });
      add("tool", "response.function_call_arguments.done", { ...at, arguments: item.arguments });
      add("tool", "response.output_item.done", { output_index, item });
    });
    const cut = answer.finish === "length" || answer.finish === "content";
    add("close", cut ? "response.incomplete" : "response.completed", { response: createEnvelope(answer, model, true) });
    return frames;
  },
  whole: (answer, model) => createEnvelope(answer, model, true),
  failure: (_status, code, type, message) => ({
    error: { message, type: type ?? "invalid_request_error", param: null, code: code ?? null },
  }),
  errorEvent: (code, message) => ({
    type: "response.failed",
    sequence_number: 99,
    response: {
      id: "resp_1",
      object: "response",
      created_at: 1_760_000_000,
      status: "failed",
      error: { code: code ?? "server_error", message },
      output: [],
      usage: null,
      model: "test-model",
    },
  }),
};
