import { type FinishReason, type ModelPart, newCallId, type Replay, type ToolCall, type Usage } from "../model.ts";

/** Collects what arrived together. Neighbouring deltas become one part: whoever reads pays by the part. */
export class Parts {
  private list: ModelPart[] = [];
  private held: { type: "text" | "reasoning"; text: string } | undefined;

  /** The end was reached; nothing counts after it. */
  finished = false;

  text(text: unknown): void {
    this.flow("text", text);
  }

  reasoning(text: unknown): void {
    this.flow("reasoning", text);
  }

  call(call: ToolCall): void {
    this.release();
    this.list.push({ type: "tool-call", call });
  }

  replay(replay: Replay): void {
    this.release();
    this.list.push({ type: "replay", replay });
  }

  finish(reason: FinishReason, usage: Usage | undefined): void {
    if (this.finished) return;
    this.release();
    this.finished = true;
    this.list.push(usage ? { type: "finish", reason, usage } : { type: "finish", reason });
  }

  take(): ModelPart[] {
    const last = this.list.at(-1);
    // Half a character would be stored as a broken one: it waits for its other half.
    if ((last?.type === "text" || last?.type === "reasoning") && endsInHalf(last.text)) {
      this.held = { type: last.type, text: last.text.slice(-1) };
      last.text = last.text.slice(0, -1);
      if (last.text === "") this.list.pop();
    }
    const list = this.list;
    this.list = [];
    return list;
  }

  private flow(type: "text" | "reasoning", text: unknown): void {
    if (typeof text !== "string" || text === "") return;
    if (this.held && this.held.type !== type) this.release();
    const whole = this.held ? this.held.text + text : text;
    this.held = undefined;
    const last = this.list.at(-1);
    if (last?.type === type) last.text += whole;
    else this.list.push({ type, text: whole });
  }

  private release(): void {
    if (this.held) this.list.push(this.held);
    this.held = undefined;
  }
}

function endsInHalf(text: string): boolean {
  const unit = text.charCodeAt(text.length - 1);
  return unit >= 0xd800 && unit <= 0xdbff;
}

/** A call from the model's own text of its input. No text at all is what models write for “no input”. */
export function toolCall(id: string | undefined, name: string, text: string): ToolCall {
  const call = { id: id || newCallId(), name };
  if (text.trim() === "") return { ...call, input: {} };
  try {
    return { ...call, input: JSON.parse(text) };
  } catch {
    return { ...call, input: undefined, malformed: text };
  }
}

/** The input as formats want to see it again, always an object: what was malformed is shown to the model as such. */
export function inputOf(call: ToolCall): Record<string, unknown> {
  if (call.malformed !== undefined) return { malformed: call.malformed };
  const { input } = call;
  if (typeof input === "object" && input !== null && !Array.isArray(input)) return input as Record<string, unknown>;
  return input === undefined ? {} : { value: input };
}

export const count = (value: unknown): number => (typeof value === "number" && value > 0 ? value : 0);
