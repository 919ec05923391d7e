import { APICallError } from "@ai-sdk/provider";
import { ModelError } from "../../error.ts";
import { complaintIn, complaintOf } from "../../wire/complaint.ts";
import { type Asked, type Complaint, failure, networkFailure } from "../../wire/fail.ts";

/** The AI SDK's errors, and whatever a provider put into its stream, sorted as all others are. */
export function sorted(asked: Asked, error: unknown): ModelError {
  if (error instanceof ModelError) return error;
  if (APICallError.isInstance(error)) {
    const complaint = complaintAbout(error);
    return complaint ? failure(asked, complaint) : networkFailure(asked, `broke off: ${error.message}`);
  }
  const complaint = complaintIn(error) ?? complaintIn({ error: typeof error === "string" ? parsed(error) : plain(error) });
  if (complaint) return failure(asked, { ...complaint, midway: true });
  // An event that fits no schema may well be the provider's complaint.
  const inner = error instanceof Error ? (error as Error & { value?: unknown }).value : undefined;
  const hidden = complaintIn(inner);
  if (hidden) return failure(asked, { ...hidden, midway: true });
  if (error instanceof Error && error.cause instanceof ModelError) return error.cause;
  const name = error instanceof Error ? error.name : "";
  if (name === "AI_JSONParseError" || name === "AI_TypeValidationError") return networkFailure(asked, "sent something that is not its format.");
  return networkFailure(asked, `could not be reached or broke off: ${error instanceof Error ? error.message : String(error)}`);
}

function complaintAbout({ statusCode, responseHeaders = {}, responseBody = "", data }: APICallError): Complaint | undefined {
  if (statusCode !== undefined && statusCode !== 200) {
    return complaintOf(statusCode, { get: (name: string) => responseHeaders[name] ?? null }, responseBody, Date.now());
  }
  // The answer had begun well: either the provider complains within it, or it was cut.
  const complaint = complaintIn(data);
  return complaint && { ...complaint, midway: true };
}

const plain = (error: unknown): unknown => (error instanceof Error ? undefined : error);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
