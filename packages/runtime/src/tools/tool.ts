import type { NewEvent } from "@thinkery/sdk";
import type { z } from "zod";

/** What a tool may know and do. Never an object, never a binding. */
export interface ToolContext {
  callId: string;
  runId: string;
  /** `agency~agent` */
  agent: string;
  /** Fires when the turn is canceled or the tool has had its time. */
  signal: AbortSignal;
  /** Adds facts to the agent's log; what is derived from them is there at once. */
  record(...events: NewEvent[]): void;
}

export interface Tool<Input = unknown> {
  name: string;
  /** Other names models know it by. */
  aliases?: readonly string[];
  description: string;
  input: z.ZodType<Input>;
  /** What it does, in a word, for the action log. */
  action: string;
  /** May a call be made again when a crash left its outcome unknown? */
  repeatable: boolean;
  /** May it run beside other calls of the same step? Others run alone, in the model's order. */
  independent: boolean;
  /** Is its whole effect facts in the agent's log? Such a tool answers at once. */
  local?: boolean;
  /** Longer than this and the call has failed; the host's own limit where it is not given. */
  seconds?: number;
  /** What the action log says of the output; the output itself may hold anything. */
  summarize?(output: unknown): string;
  run(input: Input, context: ToolContext): unknown;
}

/** Keeps the input's type between schema and function, and forgets it for the toolbox. */
export function tool<Input>(definition: Tool<Input>): Tool {
  return definition as unknown as Tool;
}

/** A picture as a tool's output: kept in the blob store, shown to models that see. */
export class ToolImage {
  readonly mediaType: string;
  readonly data: Uint8Array;
  readonly description: string;

  constructor(mediaType: string, data: Uint8Array, description: string) {
    this.mediaType = mediaType;
    this.data = data;
    this.description = description;
  }
}
