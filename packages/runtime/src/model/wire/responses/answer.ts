import type { FinishReason, Usage } from "../../model.ts";
import type { Answer } from "../call.ts";
import { complaintIn } from "../complaint.ts";
import type { Complaint } from "../fail.ts";
import type { Layout } from "../layout.ts";
import { count, type Parts, toolCall } from "../parts.ts";

/** What goes back as it came: an encrypted thought, or the part that the text after it played in the answer. */
export type Kept = { type: "reasoning"; summary: unknown[]; encrypted_content: string } | { phase: string };

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

interface Whole {
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
  response?: Whole;
}

export class ResponsesAnswer implements Answer {
  private layout: Layout<Kept> = [];
  private called = false;
  private refused = false;

  constructor(private readonly adapter: string) {}

  take(event: Event, parts: Parts): Complaint | undefined {
    switch (event.type) {
      case "response.output_text.delta":
        parts.text(event.delta);
        return;
      case "response.refusal.delta":
        this.refused = true;
        parts.text(event.delta);
        return;
      case "response.reasoning_summary_part.added":
        // Each part of a summary is a paragraph.
        if (event.summary_index) parts.reasoning("\n\n");
        return;
      case "response.reasoning_summary_text.delta":
      case "response.reasoning_text.delta":
        parts.reasoning(event.delta);
        return;
      case "response.output_item.done":
        this.settle(event.item!, parts);
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

  whole(response: Whole, parts: Parts): Complaint | undefined {
    for (const item of response.output ?? []) {
      for (const { text } of item.summary ?? []) parts.reasoning(text);
      for (const { text, refusal } of item.type === "message" ? (item.content ?? []) : []) {
        if (refusal) this.refused = true;
        parts.text(text ?? refusal);
      }
      this.settle(item, parts);
    }
    return response.status ? this.close(response, parts) : undefined;
  }

  private settle(item: Item, parts: Parts): void {
    if (item.type === "function_call") {
      const call = toolCall(item.call_id, item.name ?? "", item.arguments ?? "");
      this.called = true;
      this.layout.push({ call: call.id });
      parts.call(call);
    } else if (item.type === "message") {
      if (item.phase) this.layout.push({ kept: { phase: item.phase } });
      const length = (item.content ?? []).reduce((sum, { text, refusal }) => sum + (text ?? refusal ?? "").length, 0);
      this.layout.push({ text: length });
    } else if (item.type === "reasoning" && item.encrypted_content) {
      // Without its id: nothing was stored under it.
      this.layout.push({ kept: { type: "reasoning", summary: item.summary ?? [], encrypted_content: item.encrypted_content } });
    }
  }

  private close(response: Whole, parts: Parts): Complaint | undefined {
    if (response.status === "failed") return complaintIn({ error: response.error ?? { code: "server_error" } });
    if (this.layout.some((entry) => "kept" in entry)) parts.replay({ adapter: this.adapter, data: this.layout });
    parts.finish(this.outcome(response), usageOf(response.usage));
    return undefined;
  }

  private outcome({ status, incomplete_details: cut }: Whole): FinishReason {
    if (cut?.reason === "max_output_tokens") return "length";
    if (cut?.reason === "content_filter" || this.refused) return "content";
    if (this.called) return "tool-calls";
    return status === "completed" ? "stop" : "other";
  }
}

function usageOf(usage: Counts | null | undefined): Usage | undefined {
  if (!usage) return undefined;
  const cached = usage.input_tokens_details?.cached_tokens;
  const reasoning = usage.output_tokens_details?.reasoning_tokens;
  return {
    inputTokens: count(usage.input_tokens),
    outputTokens: count(usage.output_tokens),
    ...(cached === undefined ? {} : { cachedInputTokens: count(cached) }),
    ...(reasoning === undefined ? {} : { reasoningTokens: count(reasoning) }),
  };
}
