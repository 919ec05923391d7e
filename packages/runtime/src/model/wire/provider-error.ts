import type { ProviderError } from "./create-model-error.ts";

type Fields = Record<string, unknown>;

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const toText = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

/** What a body or an event complains about, in any of the shapes providers use; nothing if it does not complain. */
export function parseProviderError(body: unknown): ProviderError | undefined {
  // Google answers with a list of one where a stream was asked for.
  const fields = Array.isArray(body) ? body[0] : body;
  if (!isFields(fields)) return undefined;
  const { error, errors, detail } = fields;
  // Workers AI names its errors in a list.
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
  const number = typeof code === "number" ? code : Number.NaN;
  // Several put an HTTP status where others put a name.
  if (number >= 400 && number < 600) providerError.status = number;
  else if (code !== undefined && code !== null) providerError.code = String(code);
  const type = toText(error.type === "error" ? undefined : error.type) ?? toText(error.status);
  if (type) providerError.type = type;
  const message = toText(error.message);
  if (message) providerError.message = message;
  const param = toText(error.param);
  if (param) providerError.param = param;
  // Google: the reason and the wish to wait are among the details.
  for (const detail of Array.isArray(error.details) ? error.details : []) {
    if (!isFields(detail)) continue;
    const reason = toText(detail.reason);
    if (reason) providerError.code = reason;
    const seconds = Number(toText(detail.retryDelay)?.match(/^([\d.]+)s$/)?.[1]);
    if (Number.isFinite(seconds)) providerError.retryAfterMs = Math.ceil(seconds * 1000);
  }
  return providerError;
}

/** `retry-after-ms`, or `retry-after` in seconds or as a date. */
export function parseRetryAfter(headers: { get(name: string): string | null }, now: number): number | undefined {
  const ms = Number(headers.get("retry-after-ms") ?? Number.NaN);
  if (Number.isFinite(ms) && ms >= 0) return Math.ceil(ms);
  const wish = headers.get("retry-after")?.trim();
  if (!wish) return undefined;
  const seconds = Number(wish);
  if (Number.isFinite(seconds)) return seconds >= 0 ? Math.ceil(seconds * 1000) : undefined;
  const date = Date.parse(wish);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** The complaint of a whole answer: its status counts even where its body says nothing. */
export function parseErrorResponse(
  status: number,
  headers: { get(name: string): string | null },
  body: string,
  now: number,
): ProviderError {
  const wish = parseRetryAfter(headers, now);
  return { ...parseErrorBody(body), status, ...(wish === undefined ? {} : { retryAfterMs: wish }) };
}

function parseErrorBody(body: string): ProviderError | undefined {
  try {
    return parseProviderError(JSON.parse(body));
  } catch {
    // A page of some proxy tells a person nothing; a short line may.
    return body.length < 200 && !body.includes("<") ? { message: body } : undefined;
  }
}
