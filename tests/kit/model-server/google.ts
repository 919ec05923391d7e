import type { Format, Frame, NormalizedAnswer } from "./answer.ts";

const reasons = { stop: "STOP", "tool-calls": "STOP", length: "MAX_TOKENS", content: "SAFETY" };
const statuses: Record<number, string> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  429: "RESOURCE_EXHAUSTED",
  500: "INTERNAL",
  503: "UNAVAILABLE",
  504: "DEADLINE_EXCEEDED",
};

const toUsage = ({ usage }: NormalizedAnswer) => ({
  promptTokenCount: usage.input,
  // Google counts thoughts separately from the output.
  candidatesTokenCount: usage.output - usage.reasoning,
  thoughtsTokenCount: usage.reasoning,
  cachedContentTokenCount: usage.cached,
  totalTokenCount: usage.input + usage.output,
});

const createErrorBody = (status: number, code: string | undefined, type: string | undefined, message: string) => ({
  error: {
    code: status,
    message,
    status: type ?? statuses[status] ?? "UNKNOWN",
    details: code ? [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: code }] : [],
  },
});

/** Google's streamGenerateContent. */
export const google: Format = {
  named: false,
  frames(answer, model) {
    const chunk = (parts: object[], finishReason?: string) => ({
      candidates: [{ content: { role: "model", parts }, index: 0, ...(finishReason ? { finishReason } : {}) }],
      usageMetadata: toUsage(answer),
      modelVersion: model,
      responseId: "response-1",
    });
    const frames: Frame[] = [{ kind: "open", data: chunk([]) }];
    for (const text of answer.reasoning) frames.push({ kind: "reasoning", data: chunk([{ text, thought: true }]) });
    for (const text of answer.text) frames.push({ kind: "text", data: chunk([{ text }]) });
    answer.calls.forEach(({ id, name, pieces }, index) => {
      // Calls are not split; the first is signed.
      const functionCall = { id, name, args: JSON.parse(pieces.join("")) };
      frames.push({
        kind: "tool",
        data: chunk([{ functionCall, ...(index === 0 ? { thoughtSignature: "signed-thoughts" } : {}) }]),
      });
    });
    frames.push({ kind: "close", data: chunk([{ text: "" }], reasons[answer.finish]) });
    return frames;
  },
  whole: (answer, model) => google.frames(answer, model).map(({ data }) => data),
  failure: createErrorBody,
  errorEvent: (code, message) => createErrorBody(503, code, undefined, message),
};
