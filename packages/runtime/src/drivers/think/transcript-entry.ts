import type { ModelMessage } from "../../model/model.ts";

/** A message as sent to the model, with its position in the conversation. */
export interface TranscriptEntry {
  position: number;
  turn: string;
  /** The step in which the model said it; undefined for messages it was given. */
  step?: number;
  message: ModelMessage;
  /** Estimated tokens of the message. */
  tokens: number;
}
