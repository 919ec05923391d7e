import type { Env } from "../objects/env.ts";
import { createEmptyResponse } from "./response.ts";

/**
 * For pages of other origins that the configuration names. They bring a token: our cookie is never theirs to
 * use, so credentials are not allowed.
 */
export function handlePreflight(request: Request, env: Env): Response | undefined {
  const isPreflight = request.method === "OPTIONS" && request.headers.has("access-control-request-method");
  if (!isPreflight || !getAllowedOrigin(request, env)) return undefined;
  return createEmptyResponse({
    "access-control-allow-methods": "GET, POST, PUT, PATCH, DELETE",
    "access-control-allow-headers":
      "authorization, content-type, if-match, if-none-match, if-range, last-event-id, range, x-secret",
    "access-control-max-age": "600",
  });
}

/** Lets the page read the answer. */
export function addCorsHeaders(response: Response, request: Request, env: Env): Response {
  const origin = getAllowedOrigin(request, env);
  // A socket's answer carries the socket and is left as it is; sockets have no CORS.
  if (!origin || response.webSocket) return response;
  const shared = new Response(response.body, response);
  shared.headers.set("access-control-allow-origin", origin);
  shared.headers.append("vary", "origin");
  return shared;
}

function getAllowedOrigin(request: Request, env: Env): string | undefined {
  const origin = request.headers.get("origin");
  return origin !== null && env.ALLOWED_ORIGINS.includes(origin) ? origin : undefined;
}
