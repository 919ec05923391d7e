import type { JsonValue, ModelUsage, WireModelPart, WireModelRequest } from "../agent/wire.ts";

/** What a model says: text, or text with thinking and calls. `chunks` is text that arrives in pieces. */
export type ModelResponse =
  | string
  | {
      text?: string;
      chunks?: readonly string[];
      thinking?: string;
      calls?: readonly { name: string; input?: unknown }[];
      usage?: ModelUsage;
      /** Fails instead. */
      error?: string;
    };

export type ModelResponder =
  | readonly ModelResponse[]
  | ((request: WireModelRequest, index: number) => ModelResponse | Promise<ModelResponse>);

/** Models that respond as a test says. */
export class TestModels {
  readonly requests: WireModelRequest[] = [];
  readonly #responder: ModelResponder | undefined;
  readonly #streams = new Map<string, WireModelPart[]>();

  constructor(responder: ModelResponder | undefined) {
    this.#responder = responder;
  }

  async open(request: WireModelRequest): Promise<{ id: string }> {
    const index = this.requests.push(request) - 1;
    const responder = this.#responder;
    const response = typeof responder === "function" ? await responder(request, index) : responder?.[index];
    if (response === undefined)
      throw new Error(`The agent calls a model (call ${index + 1}), but the test says no response: pass \`models\`.`);
    const id = `stream-${index}`;
    this.#streams.set(id, createParts(response, index));
    return { id };
  }

  /** Returns one part at a time, as a slow model would. */
  read(id: string): { parts: WireModelPart[] } {
    const part = this.#streams.get(id)?.shift();
    if (!part) throw new Error("The response was read to its end.");
    return { parts: [part] };
  }

  close(id: string): void {
    this.#streams.delete(id);
  }
}

function createParts(response: ModelResponse, index: number): WireModelPart[] {
  const given = typeof response === "string" ? { text: response } : response;
  if (given.error !== undefined) throw new Error(given.error);
  const texts = given.chunks ?? (given.text === undefined ? [] : [given.text]);
  const calls = given.calls ?? [];
  return [
    ...(given.thinking === undefined ? [] : [{ type: "thinking" as const, text: given.thinking }]),
    ...texts.map((text) => ({ type: "text" as const, text })),
    ...calls.map(({ name, input = {} }, position) => ({
      type: "tool-call" as const,
      id: `call-${index}-${position}`,
      name,
      input: input as JsonValue,
    })),
    {
      type: "finish",
      reason: calls.length > 0 ? "tool-calls" : "stop",
      usage: given.usage ?? { inputTokens: 10, outputTokens: 5 },
    },
  ];
}
