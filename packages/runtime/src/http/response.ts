import { toErrorBody, fail, isThinkeryError, toHttpStatus } from "@thinkery/sdk";

const baseHeaders = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "x-frame-options": "DENY",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
};

const pageHeaders = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
};

// An answer of the API is no page: should a browser ever show one, nothing in it may run.
const apiHeaders = {
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cache-control": "no-store",
};

export function toJsonResponse(value: unknown, status = 200, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(value), {
    status,
    headers: { "content-type": "application/json; charset=utf-8", ...baseHeaders, ...apiHeaders, ...headers },
  });
}

export function createEmptyResponse(headers: Record<string, string> = {}): Response {
  return new Response(null, { status: 204, headers: { ...baseHeaders, ...apiHeaders, ...headers } });
}

/** JSON that is already written out, and may be too long to be a value. */
export function toJsonStreamResponse(text: ReadableStream<Uint8Array>): Response {
  return new Response(text, {
    headers: { "content-type": "application/json; charset=utf-8", ...baseHeaders, ...apiHeaders },
  });
}

/** Server-sent events, as they come. */
export function toEventStreamResponse(events: ReadableStream<Uint8Array>): Response {
  return new Response(events, {
    headers: {
      "content-type": "text/event-stream; charset=utf-8",
      "x-accel-buffering": "no",
      ...baseHeaders,
      ...apiHeaders,
    },
  });
}

const inlineTypes = /^image\/(?:png|jpeg|gif|webp|avif)$/;
const mediaTypePattern = /^[\w.+-]+\/[\w.+-]+$/;

/** What somebody put in the blob store. A browser may show a picture; everything else it may only save. */
export function toBlobResponse(data: Uint8Array, type: string): Response {
  return new Response(data, {
    headers: {
      ...baseHeaders,
      ...apiHeaders,
      "content-security-policy": `${apiHeaders["content-security-policy"]}; sandbox`,
      "content-type": mediaTypePattern.test(type) ? type : "application/octet-stream",
      "content-disposition": inlineTypes.test(type) ? "inline" : "attachment",
    },
  });
}

/** What somebody keeps in a workspace. A browser that shows it runs nothing of it, and gives it an origin of its own. */
export function toWorkspaceResponse(body: BodyInit | null, status: number, headers: Record<string, string>): Response {
  const exposedHeaders = "etag, content-disposition, content-range, last-modified, x-thinkery-kind, x-thinkery-version";
  const isolationHeaders = {
    "content-security-policy": "sandbox; default-src 'none'; frame-ancestors 'none'",
    "access-control-expose-headers": exposedHeaders,
  };
  return new Response(body, { status, headers: { ...baseHeaders, ...apiHeaders, ...isolationHeaders, ...headers } });
}

// By the rules of HTML, a page that is sandboxed and also wants its window isolated is not shown at all.
const { "cross-origin-opener-policy": _, ...alwaysForApps } = baseHeaders;

/**
 * What somebody's app answered. Its pages share our address but get an origin of their own, so they have neither our
 * cookie nor a way to read our API.
 */
export function toAppResponse(body: ReadableStream | null, status: number, headers: Headers): Response {
  const all = new Headers({ "cache-control": "no-store" });
  for (const [name, value] of headers) all.set(name, value);
  for (const [name, value] of Object.entries(alwaysForApps)) all.set(name, value);
  all.set("content-security-policy", "sandbox allow-scripts allow-forms; frame-ancestors 'none'");
  return new Response(body, { status, headers: all });
}

export function toPageResponse(body: ReadableStream | null, headers: Record<string, string>): Response {
  return new Response(body, { headers: { ...baseHeaders, ...pageHeaders, ...headers } });
}

/** The only place where an error becomes an answer. What we did not foresee is logged here and told to nobody. */
export function toErrorResponse(error: unknown): Response {
  if (isThinkeryError(error)) {
    return toJsonResponse(
      toErrorBody(error),
      toHttpStatus(error.code),
      error.code === "unauthorized" ? challengeHeaders : {},
    );
  }
  if (isDiskFull(error)) {
    return toErrorResponse(
      fail("unavailable", "The host's disk is full. Free some space and try again; nothing was lost."),
    );
  }
  if (isTransient(error)) return toErrorResponse(fail("unavailable", "The host is busy or restarting. Try again."));
  console.error("unforeseen", error);
  return toErrorResponse(fail("internal", "Something went wrong here. The host's log says more."));
}

const challengeHeaders = { "www-authenticate": 'Bearer realm="thinkery"' };

// SQLite's own code for it, which workerd puts at the end of the message.
function isDiskFull(error: unknown): boolean {
  return error instanceof Error && error.message.endsWith("SQLITE_FULL");
}

// workerd marks errors of an object that was overloaded, moved or reset while we talked to it.
function isTransient(error: unknown): boolean {
  const marks = error as { retryable?: boolean; overloaded?: boolean; durableObjectReset?: boolean } | null;
  return Boolean(marks && (marks.retryable || marks.overloaded || marks.durableObjectReset));
}
