import { APICallError } from "@ai-sdk/provider";
import { ModelError } from "../../error.ts";
import {
  type ModelIdentity,
  type ProviderError,
  createModelError,
  createNetworkError,
} from "../../wire/create-model-error.ts";
import { parseProviderError, parseErrorResponse } from "../../wire/provider-error.ts";

/** Converts AI SDK errors, and errors that a provider put into its stream. */
export function toModelError(identity: ModelIdentity, error: unknown): ModelError {
  if (error instanceof ModelError) return error;
  if (APICallError.isInstance(error)) {
    const providerError = readProviderError(error);
    return providerError
      ? createModelError(identity, providerError)
      : createNetworkError(identity, `closed the connection: ${error.message}`);
  }
  const providerError =
    parseProviderError(error) ??
    parseProviderError({ error: typeof error === "string" ? tryParseJson(error) : toPlainValue(error) });
  if (providerError) return createModelError(identity, { ...providerError, midway: true });
  // An event that fails schema validation may be the provider's error.
  const value = error instanceof Error ? (error as Error & { value?: unknown }).value : undefined;
  const embedded = parseProviderError(value);
  if (embedded) return createModelError(identity, { ...embedded, midway: true });
  if (error instanceof Error && error.cause instanceof ModelError) return error.cause;
  const name = error instanceof Error ? error.name : "";
  if (name === "AI_JSONParseError" || name === "AI_TypeValidationError")
    return createNetworkError(identity, "sent a response in an unexpected format.");
  return createNetworkError(
    identity,
    `could not be reached, or the connection was lost: ${error instanceof Error ? error.message : String(error)}`,
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
  // The response had started successfully: it contains an error, or it was cut off.
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
