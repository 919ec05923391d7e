import type { ProviderError } from "./create-model-error.ts";

type Fields = Record<string, unknown>;

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const toText = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

/**
 * Parses an error from a body or event, in any of the shapes providers use. Returns undefined if it is not an error.
 */
export function parseProviderError(body: unknown): ProviderError | undefined {
  // For streaming requests Google returns a list with one error.
  const fields = Array.isArray(body) ? body[0] : body;
  if (!isFields(fields)) return undefined;
  const { error, errors, detail } = fields;
  // Workers AI returns a list of errors.
  if (Array.isArray(errors) && isFields(errors[0])) return toProviderError(errors[0]);
  if (isFields(error)) return toProviderError(error);
  if (toText(error)) return { message: toText(error)! };
  if (fields.type === "error" || fields.object === "error" || fields.internalCode !== undefined)
    return toProviderError(fields);
  return toText(detail) ? { message: toText(detail)! } : undefined;
}

function toProviderError(error: Fields): ProviderError {
  const providerError: ProviderError = {};
  const code = error.internalCode ?? error.code;
  const status = typeof code === "number" ? code : Number.NaN;
  // Some providers put an HTTP status here instead of a name.
  if (status >= 400 && status < 600) providerError.status = status;
  else if (code !== undefined && code !== null) providerError.code = String(code);
  const type = toText(error.type === "error" ? undefined : error.type) ?? toText(error.status);
  if (type) providerError.type = type;
  const message = toText(error.message);
  if (message) providerError.message = message;
  const param = toText(error.param);
  if (param) providerError.param = param;
  // Google puts the reason and the retry delay into the details.
  for (const detail of Array.isArray(error.details) ? error.details : []) {
    if (!isFields(detail)) continue;
    const reason = toText(detail.reason);
    if (reason) providerError.code = reason;
    const seconds = Number(toText(detail.retryDelay)?.match(/^([\d.]+)s$/)?.[1]);
    if (Number.isFinite(seconds)) providerError.retryAfterMs = Math.ceil(seconds * 1000);
  }
  return providerError;
}

/** Reads `retry-after-ms`, or `retry-after` in seconds or as a date. */
export function parseRetryAfter(headers: { get(name: string): string | null }, now: number): number | undefined {
  const ms = Number(headers.get("retry-after-ms") ?? Number.NaN);
  if (Number.isFinite(ms) && ms >= 0) return Math.ceil(ms);
  const value = headers.get("retry-after")?.trim();
  if (!value) return undefined;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return seconds >= 0 ? Math.ceil(seconds * 1000) : undefined;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** Parses an error response. The status counts even if the body says nothing. */
export function parseErrorResponse(
  status: number,
  headers: { get(name: string): string | null },
  body: string,
  now: number,
): ProviderError {
  const retryAfterMs = parseRetryAfter(headers, now);
  return { ...parseErrorBody(body), status, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}

function parseErrorBody(body: string): ProviderError | undefined {
  try {
    return parseProviderError(JSON.parse(body));
  } catch {
    // A proxy's HTML page is of no use to the user; a short line may be.
    return body.length < 200 && !body.includes("<") ? { message: body } : undefined;
  }
}
