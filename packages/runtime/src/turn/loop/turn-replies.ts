import type { Activity } from "@thinkery/sdk";
import type { ReplyWriter } from "../../drivers/driver.ts";
import type { ToolCall } from "../../model/model.ts";
import type { Ledger } from "../../store/ledger.ts";
import { assignCallIds } from "./model-call.ts";
import type { TurnRecorder } from "./turn-recorder.ts";

interface TurnRepliesOptions {
  runId: string;
  ledger: Ledger;
  recorder: TurnRecorder;
  getStep(): number;
  /** Called when a message requests calls. */
  onCalls(): void;
}

/** Records the messages of a turn that code writes. */
export class TurnReplies implements ReplyWriter {
  readonly #options: TurnRepliesOptions;

  constructor(options: TurnRepliesOptions) {
    this.#options = options;
  }

  begin(messageId: string): void {
    const { runId, recorder, getStep } = this.#options;
    recorder.record({ type: "reply.started", data: { runId, step: getStep(), messageId } });
  }

  append(text: string): void {
    this.#options.recorder.appendDelta(text, "");
  }

  complete(messageId: string, requested: readonly ToolCall[]): ToolCall[] {
    const { runId, ledger, recorder, getStep, onCalls } = this.#options;
    const toolCalls = assignCallIds(requested, ledger);
    if (toolCalls.length > 0) onCalls();
    recorder.record({ type: "reply.completed", data: { runId, step: getStep(), messageId, toolCalls } });
    return toolCalls;
  }

  discard(reason: string): void {
    const { runId, recorder } = this.#options;
    recorder.discardText();
    recorder.record({ type: "reply.discarded", data: { runId, reason } });
  }

  showActivity(activity: Activity): void {
    this.#options.recorder.showActivity(activity);
  }
}
