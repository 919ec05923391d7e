import { type FinishReason, type ModelPart, createCallId, type Replay, type ToolCall, type Usage } from "../model.ts";

/** Collects the parts that arrive together. Adjacent deltas are merged, because the reader's cost is per part. */
export class PartCollector {
  private list: ModelPart[] = [];
  private held: { type: "text" | "reasoning"; text: string } | undefined;

  /** Set once the response is complete; later events are ignored. */
  isFinished = false;

  addText(text: unknown): void {
    this.append("text", text);
  }

  addReasoning(text: unknown): void {
    this.append("reasoning", text);
  }

  addCall(call: ToolCall): void {
    this.flush();
    this.list.push({ type: "tool-call", call });
  }

  addReplay(replay: Replay): void {
    this.flush();
    this.list.push({ type: "replay", replay });
  }

  finish(reason: FinishReason, usage: Usage | undefined): void {
    if (this.isFinished) return;
    this.flush();
    this.isFinished = true;
    this.list.push(usage ? { type: "finish", reason, usage } : { type: "finish", reason });
  }

  take(): ModelPart[] {
    const last = this.list.at(-1);
    // Hold back half of a surrogate pair until the other half arrives.
    if ((last?.type === "text" || last?.type === "reasoning") && endsInHighSurrogate(last.text)) {
      this.held = { type: last.type, text: last.text.slice(-1) };
      last.text = last.text.slice(0, -1);
      if (last.text === "") this.list.pop();
    }
    const list = this.list;
    this.list = [];
    return list;
  }

  private append(type: "text" | "reasoning", text: unknown): void {
    if (typeof text !== "string" || text === "") return;
    if (this.held && this.held.type !== type) this.flush();
    const joined = this.held ? this.held.text + text : text;
    this.held = undefined;
    const last = this.list.at(-1);
    if (last?.type === type) last.text += joined;
    else this.list.push({ type, text: joined });
  }

  private flush(): void {
    if (this.held) this.list.push(this.held);
    this.held = undefined;
  }
}

function endsInHighSurrogate(text: string): boolean {
  const unit = text.charCodeAt(text.length - 1);
  return unit >= 0xd800 && unit <= 0xdbff;
}

/** Parses a call from the raw text of its input. Models send empty text for “no input”. */
export function parseToolCall(id: string | undefined, name: string, text: string): ToolCall {
  const call = { id: id || createCallId(), name };
  if (text.trim() === "") return { ...call, input: {} };
  try {
    return { ...call, input: JSON.parse(text) };
  } catch {
    return { ...call, input: undefined, malformed: text };
  }
}

/** The input to send back, always an object. Malformed input is shown to the model as such. */
export function toInputObject(call: ToolCall): Record<string, unknown> {
  if (call.malformed !== undefined) return { malformed: call.malformed };
  const { input } = call;
  if (typeof input === "object" && input !== null && !Array.isArray(input)) return input as Record<string, unknown>;
  return input === undefined ? {} : { value: input };
}

export const toCount = (value: unknown): number => (typeof value === "number" && value > 0 ? value : 0);
