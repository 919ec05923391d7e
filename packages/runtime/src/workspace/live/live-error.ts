import { isThinkeryError } from "@thinkery/sdk";

/** A reason for closing has room for so many bytes. */
const maxReasonBytes = 123;

/** Why one client's socket is closed. Codes from 4400 on tell y-websocket not to come back with the same. */
export class LiveError extends Error {
  readonly code: number;

  constructor(code: number, reason: string) {
    super(truncateReason(reason));
    this.code = code;
  }
}

/** The same, where it was found out too late: the document that it was applied to has to be opened anew. */
export class SpoiltDocumentError extends LiveError {}

const closeCodes: Partial<Record<string, number>> = {
  bad_request: 4400,
  forbidden: 4403,
  not_found: 4404,
  conflict: 4409,
  too_large: 4413,
};

/** What the workspace says to an edit that it does not take; nothing where that was no answer but a failure. */
export function toLiveError(error: unknown): LiveError | undefined {
  if (error instanceof LiveError) return error;
  if (!isThinkeryError(error)) return undefined;
  const code = closeCodes[error.code];
  return code === undefined ? undefined : new LiveError(code, error.message);
}

function truncateReason(reason: string): string {
  const bytes = new TextEncoder().encode(reason);
  if (bytes.length <= maxReasonBytes) return reason;
  // A character that was cut in two is left out, and the mark for “there was more” has three bytes.
  return `${new TextDecoder().decode(bytes.subarray(0, maxReasonBytes - 3)).replace(/\ufffd+$/, "")}…`;
}
