import type { Complaint } from "./fail.ts";

type Fields = Record<string, unknown>;

const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null && !Array.isArray(value);
const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

/** What a body or an event complains about, in any of the shapes providers use; nothing if it does not complain. */
export function complaintIn(body: unknown): Complaint | undefined {
  // Google answers with a list of one where a stream was asked for.
  const fields = Array.isArray(body) ? body[0] : body;
  if (!isFields(fields)) return undefined;
  const { error, errors, detail } = fields;
  // Workers AI names its errors in a list.
  if (Array.isArray(errors) && isFields(errors[0])) return describe(errors[0]);
  if (isFields(error)) return describe(error);
  if (text(error)) return { message: text(error)! };
  if (fields.type === "error" || fields.object === "error" || fields.internalCode !== undefined) return describe(fields);
  return text(detail) ? { message: text(detail)! } : undefined;
}

function describe(error: Fields): Complaint {
  const complaint: Complaint = {};
  const code = error.internalCode ?? error.code;
  const number = typeof code === "number" ? code : Number.NaN;
  // Several put an HTTP status where others put a name.
  if (number >= 400 && number < 600) complaint.status = number;
  else if (code !== undefined && code !== null) complaint.code = String(code);
  const type = text(error.type === "error" ? undefined : error.type) ?? text(error.status);
  if (type) complaint.type = type;
  const message = text(error.message);
  if (message) complaint.message = message;
  const param = text(error.param);
  if (param) complaint.param = param;
  // Google: the reason and the wish to wait are among the details.
  for (const detail of Array.isArray(error.details) ? error.details : []) {
    if (!isFields(detail)) continue;
    const reason = text(detail.reason);
    if (reason) complaint.code = reason;
    const seconds = Number(text(detail.retryDelay)?.match(/^([\d.]+)s$/)?.[1]);
    if (Number.isFinite(seconds)) complaint.retryAfterMs = Math.ceil(seconds * 1000);
  }
  return complaint;
}

/** `retry-after-ms`, or `retry-after` in seconds or as a date. */
export function retryAfter(headers: { get(name: string): string | null }, now: number): number | undefined {
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
export function complaintOf(status: number, headers: { get(name: string): string | null }, body: string, now: number): Complaint {
  const wish = retryAfter(headers, now);
  return { ...parsed(body), status, ...(wish === undefined ? {} : { retryAfterMs: wish }) };
}

function parsed(body: string): Complaint | undefined {
  try {
    return complaintIn(JSON.parse(body));
  } catch {
    // A page of some proxy tells a person nothing; a short line may.
    return body.length < 200 && !body.includes("<") ? { message: body } : undefined;
  }
}
