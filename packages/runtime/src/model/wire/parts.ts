import { type FinishReason, type ModelPart, createCallId, type Replay, type ToolCall, type Usage } from "../model.ts";

/** Collects what arrived together. Neighbouring deltas become one part: whoever reads pays by the part. */
export class PartCollector {
  private list: ModelPart[] = [];
  private held: { type: "text" | "reasoning"; text: string } | undefined;

  /** The end was reached; nothing counts after it. */
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
    // Half a character would be stored as a broken one: it waits for its other half.
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
    const whole = this.held ? this.held.text + text : text;
    this.held = undefined;
    const last = this.list.at(-1);
    if (last?.type === type) last.text += whole;
    else this.list.push({ type, text: whole });
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

/** A call from the model's own text of its input. No text at all is what models write for “no input”. */
export function parseToolCall(id: string | undefined, name: string, text: string): ToolCall {
  const call = { id: id || createCallId(), name };
  if (text.trim() === "") return { ...call, input: {} };
  try {
    return { ...call, input: JSON.parse(text) };
  } catch {
    return { ...call, input: undefined, malformed: text };
  }
}

/** The input as formats want to see it again, always an object: what was malformed is shown to the model as such. */
export function toInputObject(call: ToolCall): Record<string, unknown> {
  if (call.malformed !== undefined) return { malformed: call.malformed };
  const { input } = call;
  if (typeof input === "object" && input !== null && !Array.isArray(input)) return input as Record<string, unknown>;
  return input === undefined ? {} : { value: input };
}

export const toCount = (value: unknown): number => (typeof value === "number" && value > 0 ? value : 0);
