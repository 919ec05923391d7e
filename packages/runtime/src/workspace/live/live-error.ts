import { isThinkeryError } from "@thinkery/sdk";

/** Maximum bytes of a WebSocket close reason. */
const maxReasonBytes = 123;

/** An error that closes one client's socket. Codes from 4400 tell y-websocket not to reconnect with the same state. */
export class LiveError extends Error {
  readonly code: number;

  constructor(code: number, reason: string) {
    super(truncateReason(reason));
    this.code = code;
  }
}

/** Thrown after an invalid update was already applied: the document must be reopened. */
export class CorruptedDocumentError extends LiveError {}

const closeCodes: Partial<Record<string, number>> = {
  bad_request: 4400,
  forbidden: 4403,
  not_found: 4404,
  conflict: 4409,
  too_large: 4413,
};

/** Converts a rejection by the workspace. Returns undefined for unexpected errors. */
export function toLiveError(error: unknown): LiveError | undefined {
  if (error instanceof LiveError) return error;
  if (!isThinkeryError(error)) return undefined;
  const code = closeCodes[error.code];
  return code === undefined ? undefined : new LiveError(code, error.message);
}

function truncateReason(reason: string): string {
  const bytes = new TextEncoder().encode(reason);
  if (bytes.length <= maxReasonBytes) return reason;
  // Drops a character that was cut in half. The ellipsis has three bytes.
  return `${new TextDecoder().decode(bytes.subarray(0, maxReasonBytes - 3)).replace(/\ufffd+$/, "")}…`;
}
