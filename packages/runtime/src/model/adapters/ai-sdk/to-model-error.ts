import { APICallError } from "@ai-sdk/provider";
import { ModelError } from "../../error.ts";
import {
  type ModelIdentity,
  type ProviderError,
  createModelError,
  createNetworkError,
} from "../../wire/create-model-error.ts";
import { parseProviderError, parseErrorResponse } from "../../wire/provider-error.ts";

/** The AI SDK's errors, and whatever a provider put into its stream, sorted as all others are. */
export function toModelError(asked: ModelIdentity, error: unknown): ModelError {
  if (error instanceof ModelError) return error;
  if (APICallError.isInstance(error)) {
    const providerError = readProviderError(error);
    return providerError
      ? createModelError(asked, providerError)
      : createNetworkError(asked, `broke off: ${error.message}`);
  }
  const providerError =
    parseProviderError(error) ??
    parseProviderError({ error: typeof error === "string" ? tryParseJson(error) : toPlainValue(error) });
  if (providerError) return createModelError(asked, { ...providerError, midway: true });
  // An event that fits no schema may well be the provider's complaint.
  const inner = error instanceof Error ? (error as Error & { value?: unknown }).value : undefined;
  const hidden = parseProviderError(inner);
  if (hidden) return createModelError(asked, { ...hidden, midway: true });
  if (error instanceof Error && error.cause instanceof ModelError) return error.cause;
  const name = error instanceof Error ? error.name : "";
  if (name === "AI_JSONParseError" || name === "AI_TypeValidationError")
    return createNetworkError(asked, "sent something that is not its format.");
  return createNetworkError(
    asked,
    `could not be reached or broke off: ${error instanceof Error ? error.message : String(error)}`,
  );
}

function readProviderError({
  statusCode,
  responseHeaders = {},
  responseBody = "",
  data,
}: APICallError): ProviderError | undefined {
  if (statusCode !== undefined && statusCode !== 200) {
    return parseErrorResponse(
      statusCode,
      { get: (name: string) => responseHeaders[name] ?? null },
      responseBody,
      Date.now(),
    );
  }
  // The answer had begun well: either the provider complains within it, or it was cut.
  const providerError = parseProviderError(data);
  return providerError && { ...providerError, midway: true };
}

const toPlainValue = (error: unknown): unknown => (error instanceof Error ? undefined : error);

function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
