import type { FinishReason, Usage } from "../../model.ts";
import type { ResponseParser } from "../call.ts";
import type { ProviderError } from "../create-model-error.ts";
import type { Layout } from "../layout.ts";
import { toCount, type PartCollector, parseToolCall } from "../parts.ts";
import { parseProviderError } from "../provider-error.ts";

/** Sent back unchanged: an encrypted reasoning item, or the phase of the text that follows. */
export type ResponsesReplay = { type: "reasoning"; summary: unknown[]; encrypted_content: string } | { phase: string };

interface Item {
  type: string;
  call_id?: string;
  name?: string;
  arguments?: string;
  phase?: string | null;
  encrypted_content?: string | null;
  summary?: { text?: string }[];
  content?: { type: string; text?: string; refusal?: string }[];
}

interface WholeResponse {
  status?: string;
  error?: object | null;
  incomplete_details?: { reason?: string } | null;
  output?: Item[];
  usage?: Counts | null;
}

interface Counts {
  input_tokens?: number;
  output_tokens?: number;
  input_tokens_details?: { cached_tokens?: number } | null;
  output_tokens_details?: { reasoning_tokens?: number } | null;
}

interface Event {
  type: string;
  delta?: string;
  summary_index?: number;
  item?: Item;
  response?: WholeResponse;
}

export class ResponsesResponseParser implements ResponseParser {
  private layout: Layout<ResponsesReplay> = [];
  private hasCalls = false;
  private isRefused = false;

  constructor(private readonly adapter: string) {}

  take(event: Event, parts: PartCollector): ProviderError | undefined {
    switch (event.type) {
      case "response.output_text.delta":
        parts.addText(event.delta);
        return;
      case "response.refusal.delta":
        this.isRefused = true;
        parts.addText(event.delta);
        return;
      case "response.reasoning_summary_part.added":
        // Each summary part is a paragraph.
        if (event.summary_index) parts.addReasoning("\n\n");
        return;
      case "response.reasoning_summary_text.delta":
      case "response.reasoning_text.delta":
        parts.addReasoning(event.delta);
        return;
      case "response.output_item.done":
        this.addItem(event.item!, parts);
        return;
      case "response.completed":
      case "response.incomplete":
      case "response.failed":
        return this.close(event.response!, parts);
      default:
    }
  }

  /** Only the events above end a response. */
  end(): void {}

  takeWhole(response: WholeResponse, parts: PartCollector): ProviderError | undefined {
    for (const item of response.output ?? []) {
      for (const { text } of item.summary ?? []) parts.addReasoning(text);
      for (const { text, refusal } of item.type === "message" ? (item.content ?? []) : []) {
        if (refusal) this.isRefused = true;
        parts.addText(text ?? refusal);
      }
      this.addItem(item, parts);
    }
    return response.status ? this.close(response, parts) : undefined;
  }

  private addItem(item: Item, parts: PartCollector): void {
    if (item.type === "function_call") {
      const call = parseToolCall(item.call_id, item.name ?? "", item.arguments ?? "");
      this.hasCalls = true;
      this.layout.push({ call: call.id });
      parts.addCall(call);
    } else if (item.type === "message") {
      if (item.phase) this.layout.push({ kept: { phase: item.phase } });
      const length = (item.content ?? []).reduce((sum, { text, refusal }) => sum + (text ?? refusal ?? "").length, 0);
      this.layout.push({ text: length });
    } else if (item.type === "reasoning" && item.encrypted_content) {
      // Without the id, because nothing is stored under it.
      this.layout.push({
        kept: { type: "reasoning", summary: item.summary ?? [], encrypted_content: item.encrypted_content },
      });
    }
  }

  private close(response: WholeResponse, parts: PartCollector): ProviderError | undefined {
    if (response.status === "failed") return parseProviderError({ error: response.error ?? { code: "server_error" } });
    if (this.layout.some((entry) => "kept" in entry)) parts.addReplay({ adapter: this.adapter, data: this.layout });
    parts.finish(this.getFinishReason(response), toUsage(response.usage));
    return undefined;
  }

  private getFinishReason({ status, incomplete_details: details }: WholeResponse): FinishReason {
    if (details?.reason === "max_output_tokens") return "length";
    if (details?.reason === "content_filter" || this.isRefused) return "content";
    if (this.hasCalls) return "tool-calls";
    return status === "completed" ? "stop" : "other";
  }
}

function toUsage(usage: Counts | null | undefined): Usage | undefined {
  if (!usage) return undefined;
  const cached = usage.input_tokens_details?.cached_tokens;
  const reasoning = usage.output_tokens_details?.reasoning_tokens;
  return {
    inputTokens: toCount(usage.input_tokens),
    outputTokens: toCount(usage.output_tokens),
    ...(cached === undefined ? {} : { cachedInputTokens: toCount(cached) }),
    ...(reasoning === undefined ? {} : { reasoningTokens: toCount(reasoning) }),
  };
}
