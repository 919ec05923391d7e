import { modelRoles } from "@thinkery/sdk";
import type { JsonValue, WireModelPart } from "@thinkery/sdk/agent-host";
import type { ModelMessage, ModelPart, Replay, UserPart } from "../../model/model.ts";
import type { CodeModelRequest, CodeScope } from "./code-scope.ts";
import type { ModelRequestInput } from "./host-call-schemas.ts";

interface Stream {
  /** What was received and not read yet. */
  parts: WireModelPart[];
  /** Resolves when there is more. */
  wake: () => void;
  isDone: boolean;
  error: unknown;
  ending: AbortController;
}

export interface ModelStreamsOptions {
  scope: CodeScope;
  readBlob(hash: string): Promise<{ mediaType: string; data: Uint8Array } | undefined>;
  /** Called with everything a call returned, once it is complete. */
  onComplete(key: string, parts: readonly WireModelPart[]): void;
}

const maxOpenStreams = 16;

/** The model calls of one request that are in progress. Code reads what was received since it last did. */
export class ModelStreams {
  readonly #options: ModelStreamsOptions;
  readonly #streams = new Map<string, Stream>();
  /** Data that a provider needs back with its response, which code passes on by id. */
  readonly #replays = new Map<string, Replay>();
  #count = 0;

  constructor(options: ModelStreamsOptions) {
    this.#options = options;
  }

  get count(): number {
    return this.#count;
  }

  async open(input: ModelRequestInput, key: string): Promise<{ id: string }> {
    const { scope } = this.#options;
    if (this.#streams.size >= maxOpenStreams)
      throw new Error(`${maxOpenStreams} model calls are open. Read or close some first.`);
    const request = await this.#toRequest(input);
    const { id, stream } = this.#add();
    const signal = AbortSignal.any([scope.signal, stream.ending.signal]);
    void this.#receive(id, stream, scope.streamModel(request, signal), key);
    return { id };
  }

  /** Opens a call that was complete before the code was interrupted. */
  replay(parts: readonly WireModelPart[]): { id: string } {
    const { id, stream } = this.#add();
    stream.parts = [...parts];
    stream.isDone = true;
    return { id };
  }

  /** Returns what was received since the last call; waits for it if there is nothing. */
  async read(id: string): Promise<{ parts: WireModelPart[] }> {
    const stream = this.#streams.get(id);
    if (!stream) throw new Error("This response was read to its end, or closed.");
    while (stream.parts.length === 0 && !stream.isDone) {
      await new Promise<void>((resolve) => {
        stream.wake = resolve;
      });
    }
    if (stream.parts.length === 0 && stream.error !== undefined) {
      this.#streams.delete(id);
      throw stream.error;
    }
    const { parts } = stream;
    stream.parts = [];
    if (stream.isDone && stream.error === undefined) this.#streams.delete(id);
    return { parts };
  }

  close(id: string): void {
    this.#streams.get(id)?.ending.abort(new Error("The agent's code stopped reading."));
    this.#streams.delete(id);
  }

  closeAll(): void {
    for (const id of this.#streams.keys()) this.close(id);
  }

  #add(): { id: string; stream: Stream } {
    const id = `model-${++this.#count}`;
    const stream = { parts: [], wake() {}, isDone: false, error: undefined, ending: new AbortController() };
    this.#streams.set(id, stream);
    return { id, stream };
  }

  async #receive(id: string, stream: Stream, received: AsyncIterable<ModelPart[]>, key: string): Promise<void> {
    const all: WireModelPart[] = [];
    try {
      for await (const parts of received) {
        const wire = parts.flatMap((part) => this.#toWire(id, part));
        for (const part of wire) {
          appendPart(all, part);
          appendPart(stream.parts, part);
        }
        stream.wake();
      }
      this.#options.onComplete(key, all);
    } catch (error) {
      stream.error = error;
    }
    stream.isDone = true;
    stream.wake();
  }

  #toWire(id: string, part: ModelPart): WireModelPart[] {
    switch (part.type) {
      case "text":
        return [{ type: "text", text: part.text }];
      case "reasoning":
        return [{ type: "thinking", text: part.text }];
      case "tool-call": {
        const { id: callId, name, input, malformed } = part.call;
        return [{ type: "tool-call", id: callId, name, input: (malformed ?? input ?? {}) as JsonValue }];
      }
      case "replay":
        this.#replays.set(id, part.replay);
        return [];
      case "finish": {
        const { reason, usage } = part;
        return [
          {
            type: "finish",
            reason,
            ...(usage ? { usage: { inputTokens: usage.inputTokens, outputTokens: usage.outputTokens } } : {}),
            ...(this.#replays.has(id) ? { replayId: id } : {}),
          },
        ];
      }
    }
  }

  async #toRequest(input: ModelRequestInput): Promise<CodeModelRequest> {
    const { model = "primary", system = "", messages, tools = [], ...settings } = input;
    if (!model.includes(":") && !modelRoles.includes(model as (typeof modelRoles)[number]))
      throw new Error(
        `There is no model “${model}”. Expected a role (${modelRoles.join(", ")}) or provider:model, such as anthropic:claude-sonnet-4-5.`,
      );
    return {
      model,
      system,
      messages: await Promise.all(messages.map((message) => this.#toModelMessage(message))),
      tools,
      settings: Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined)),
    };
  }

  async #toModelMessage(message: ModelRequestInput["messages"][number]): Promise<ModelMessage> {
    if (message.role === "tool") {
      const { isError, ...rest } = message;
      return { ...rest, ...(isError ? { failed: true } : {}) };
    }
    if (message.role === "assistant") {
      const { content, toolCalls, replayId } = message;
      const replay = replayId === undefined ? undefined : this.#replays.get(replayId);
      return {
        role: "assistant",
        content,
        ...(toolCalls && toolCalls.length > 0 ? { toolCalls } : {}),
        ...(replay ? { replay } : {}),
      };
    }
    if (typeof message.content === "string") return { role: "user", content: message.content };
    return { role: "user", content: await Promise.all(message.content.map((part) => this.#toUserPart(part))) };
  }

  async #toUserPart(part: { type: "text"; text: string } | { type: "image"; attachment: string }): Promise<UserPart> {
    if (part.type === "text") return part;
    const image = await this.#options.readBlob(part.attachment);
    if (!image) throw new Error(`There is no attachment “${part.attachment}”.`);
    return { type: "image", ...image };
  }
}

/** Merges consecutive texts, because code that reads slowly is sent all of them at once. */
function appendPart(parts: WireModelPart[], part: WireModelPart): void {
  const last = parts.at(-1);
  if ((part.type === "text" || part.type === "thinking") && last?.type === part.type)
    parts[parts.length - 1] = { ...last, text: last.text + part.text };
  else parts.push(part);
}
