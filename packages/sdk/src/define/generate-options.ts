import type { ModelRole } from "../protocol/choices.ts";

/** Options of a one-off call to a model, outside the conversation. */
export interface GenerateOptions {
  prompt: string;
  /** @default "fast" */
  role?: ModelRole;
  /** The system prompt. */
  system?: string;
  /** A word that says what the call is for; shown in usage reports. */
  purpose?: string;
  maxOutputTokens?: number;
}
