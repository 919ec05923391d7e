import type { FinishReason, Usage } from "../../model.ts";
import type { ResponseParser } from "../call.ts";
import type { Layout } from "../layout.ts";
import { toCount, type PartCollector, parseToolCall } from "../parts.ts";

interface Block {
  type: string;
  text?: string;
  thinking?: string;
  signature?: string;
  data?: string;
  id?: string;
  name?: string;
  input?: object;
}

interface Event {
  type: string;
  index?: number;
  content_block?: Block;
  delta?: {
    type?: string;
    text?: string;
    thinking?: string;
    signature?: string;
    partial_json?: string;
    stop_reason?: string | null;
  };
  message?: WholeMessage;
  usage?: Counts;
}

interface WholeMessage {
  content?: Block[];
  stop_reason?: string | null;
  usage?: Counts;
}

interface Counts {
  input_tokens?: number | null;
  cache_creation_input_tokens?: number | null;
  cache_read_input_tokens?: number | null;
  output_tokens?: number | null;
}

const finishReasons: Record<string, FinishReason> = {
  end_turn: "stop",
  stop_sequence: "stop",
  tool_use: "tool-calls",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  refusal: "content",
};

export class MessagesResponseParser implements ResponseParser {
  private open = new Map<number, Block & { json: string }>();
  private layout: Layout<object> = [];
  private reason: FinishReason = "other";
  private counts: Counts = {};

  constructor(private readonly adapter: string) {}

  take(event: Event, parts: PartCollector): undefined {
    switch (event.type) {
      case "message_start":
        this.addCounts(event.message?.usage);
        break;
      case "content_block_start":
        this.start(event.index ?? 0, event.content_block!, parts);
        break;
      case "content_block_delta":
        this.appendDelta(event.index ?? 0, event.delta!, parts);
        break;
      case "content_block_stop":
        this.stop(event.index ?? 0, parts);
        break;
      case "message_delta":
        this.addCounts(event.usage);
        if (event.delta?.stop_reason) this.reason = finishReasons[event.delta.stop_reason] ?? "other";
        break;
      case "message_stop":
        this.finish(parts);
        break;
      // Pings and unknown events.
      default:
    }
  }

  /** Only `message_stop` ends a message. */
  end(): void {}

  takeWhole(message: WholeMessage, parts: PartCollector): undefined {
    this.addCounts(message.usage);
    (message.content ?? []).forEach((block, index) => {
      this.start(index, block, parts);
      this.stop(index, parts);
    });
    if (!message.stop_reason) return;
    this.reason = finishReasons[message.stop_reason] ?? "other";
    this.finish(parts);
  }

  private start(index: number, block: Block, parts: PartCollector): void {
    const json = block.input && Object.keys(block.input).length > 0 ? JSON.stringify(block.input) : "";
    this.open.set(index, { ...block, text: block.text ?? "", thinking: block.thinking ?? "", json });
    parts.addText(block.text);
    parts.addReasoning(block.thinking);
  }

  private appendDelta(index: number, delta: NonNullable<Event["delta"]>, parts: PartCollector): void {
    const block = this.open.get(index)!;
    if (delta.text) {
      block.text += delta.text;
      parts.addText(delta.text);
    }
    if (delta.thinking) {
      block.thinking += delta.thinking;
      parts.addReasoning(delta.thinking);
    }
    if (delta.signature) block.signature = (block.signature ?? "") + delta.signature;
    if (delta.partial_json) block.json += delta.partial_json;
  }

  private stop(index: number, parts: PartCollector): void {
    const block = this.open.get(index)!;
    this.open.delete(index);
    if (block.type === "text") this.layout.push({ text: block.text!.length });
    else if (block.type === "thinking")
      this.addKept({ type: "thinking", thinking: block.thinking, signature: block.signature ?? "" });
    else if (block.type === "redacted_thinking") this.addKept({ type: "redacted_thinking", data: block.data });
    else if (block.type === "tool_use") {
      const call = parseToolCall(block.id, block.name ?? "", block.json);
      this.layout.push({ call: call.id });
      parts.addCall(call);
    }
  }

  private addKept(block: object): void {
    this.layout.push({ kept: block });
  }

  private finish(parts: PartCollector): void {
    if (this.layout.some((entry) => "kept" in entry)) parts.addReplay({ adapter: this.adapter, data: this.layout });
    parts.finish(this.reason, this.getUsage());
  }

  /** Later counts replace earlier ones; they are totals. */
  private addCounts(counts: Counts | undefined): void {
    for (const [name, value] of Object.entries(counts ?? {})) {
      if (typeof value === "number") this.counts[name as keyof Counts] = value;
    }
  }

  /** Anthropic's `input_tokens` excludes cached tokens; ours includes them. */
  private getUsage(): Usage | undefined {
    const {
      input_tokens: uncached,
      cache_creation_input_tokens: cacheWrites,
      cache_read_input_tokens: cacheReads,
      output_tokens,
    } = this.counts;
    if (uncached === undefined && output_tokens === undefined) return undefined;
    return {
      inputTokens: toCount(uncached) + toCount(cacheWrites) + toCount(cacheReads),
      outputTokens: toCount(output_tokens),
      ...(cacheReads === undefined ? {} : { cachedInputTokens: toCount(cacheReads) }),
    };
  }
}
