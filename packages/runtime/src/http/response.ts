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

// API responses are not pages: if a browser displays one, nothing in it may run.
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

/** For JSON that is already serialized and may be too large for a string. */
export function toJsonStreamResponse(text: ReadableStream<Uint8Array>): Response {
  return new Response(text, {
    headers: { "content-type": "application/json; charset=utf-8", ...baseHeaders, ...apiHeaders },
  });
}

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

/** For content of the blob store. Browsers may display images and can only download everything else. */
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

/** For content of a workspace. A browser that displays it runs no scripts and gives it an opaque origin. */
export function toWorkspaceResponse(body: BodyInit | null, status: number, headers: Record<string, string>): Response {
  const exposedHeaders = "etag, content-disposition, content-range, last-modified, x-thinkery-kind, x-thinkery-version";
  const isolationHeaders = {
    "content-security-policy": "sandbox; default-src 'none'; frame-ancestors 'none'",
    "access-control-expose-headers": exposedHeaders,
  };
  return new Response(body, { status, headers: { ...baseHeaders, ...apiHeaders, ...isolationHeaders, ...headers } });
}

// Per the HTML standard, a page with both a CSP sandbox and an opener policy is not displayed at all.
const { "cross-origin-opener-policy": _, ...appHeaders } = baseHeaders;

/**
 * For responses of an agent's app. Its pages share our address but get an opaque origin, so they neither have our
 * cookie nor can read our API.
 */
export function toAppResponse(body: ReadableStream | null, status: number, headers: Headers): Response {
  const all = new Headers({ "cache-control": "no-store" });
  for (const [name, value] of headers) all.set(name, value);
  for (const [name, value] of Object.entries(appHeaders)) all.set(name, value);
  all.set("content-security-policy", "sandbox allow-scripts allow-forms; frame-ancestors 'none'");
  return new Response(body, { status, headers: all });
}

/** For responses of the Agents SDK, which have no security headers of their own. */
export function addSecurityHeaders(response: Response): Response {
  if (response.webSocket) return response;
  const copy = new Response(response.body, response);
  for (const [name, value] of Object.entries({ ...baseHeaders, ...apiHeaders })) copy.headers.set(name, value);
  return copy;
}

export function toPageResponse(body: ReadableStream | null, headers: Record<string, string>): Response {
  return new Response(body, { headers: { ...baseHeaders, ...pageHeaders, ...headers } });
}

/** The only place where errors become responses. Unexpected errors are logged and not shown to the client. */
export function toErrorResponse(error: unknown, request: Request): Response {
  if (isThinkeryError(error)) {
    const { retryAfter } = error.details ?? {};
    const headers = {
      ...(error.code === "unauthorized" ? challengeHeaders : {}),
      ...(retryAfter === undefined ? {} : { "retry-after": String(retryAfter) }),
    };
    const response = toJsonResponse(toErrorBody(error), toHttpStatus(error.code), headers);
    if (error.code !== "unauthorized" || !isNavigation(request)) return response;
    response.headers.set("content-type", "text/html; charset=utf-8");
    return new Response(unauthorizedPage, response);
  }
  if (isDiskFull(error)) {
    return toErrorResponse(
      fail("unavailable", "The host's disk is full. Free some space and try again; nothing was lost."),
      request,
    );
  }
  if (isTransient(error))
    return toErrorResponse(fail("unavailable", "The host is busy or restarting. Try again."), request);
  console.error("unexpected error", error);
  return toErrorResponse(fail("internal", "Internal error. `thinkery logs` shows the details."), request);
}

/**
 * Whether a browser tab shows the response. Only that gets a page for people in place of an error; clients of the API,
 * and scripts of pages, never do.
 */
function isNavigation(request: Request): boolean {
  return request.method === "GET" && request.headers.get("sec-fetch-mode") === "navigate";
}

const unauthorizedPage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Open this again from Thinkery</title>
<h1>Open this again from Thinkery</h1>
<p>For your safety, a link to a file or an app works once, so this tab cannot be reloaded and links in it cannot be followed.</p>
<p><a href="/">Go to Thinkery</a> and open the file or app again there. If you are not logged in, run <code>thinkery open</code> for a login link.</p>
`;

const challengeHeaders = { "www-authenticate": 'Bearer realm="thinkery"' };

// workerd appends SQLite's error code to the message.
function isDiskFull(error: unknown): boolean {
  return error instanceof Error && error.message.endsWith("SQLITE_FULL");
}

// workerd marks errors of objects that were overloaded, moved or reset during a call.
function isTransient(error: unknown): boolean {
  const flags = error as { retryable?: boolean; overloaded?: boolean; durableObjectReset?: boolean } | null;
  return Boolean(flags && (flags.retryable || flags.overloaded || flags.durableObjectReset));
}
