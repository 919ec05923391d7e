import type { ModelRole } from "../protocol/choices.ts";

/** A question to a model beside the conversation. */
export interface GenerateOptions {
  prompt: string;
  /** `fast` where nothing is said. */
  role?: ModelRole;
  system?: string;
  /** What it is for, in a word, as usage shows it. */
  purpose?: string;
  maxOutputTokens?: number;
}
