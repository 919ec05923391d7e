import type { ModelMessage } from "../../model/model.ts";

/** A message as the model is told it, with its position in the conversation. */
export interface TranscriptEntry {
  position: number;
  turn: string;
  /** The step in which the model said it; undefined for what it was given. */
  step?: number;
  message: ModelMessage;
  /** An estimate of how many tokens it takes. */
  tokens: number;
}
