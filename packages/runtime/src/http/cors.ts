import type { Env } from "../objects/env.ts";
import { createEmptyResponse } from "./response.ts";

/**
 * Answers preflight requests from the configured origins. Their pages send a token and must never use our cookie, so
 * credentials are not allowed.
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

/** Allows a page of a configured origin to read the response. */
export function addCorsHeaders(response: Response, request: Request, env: Env): Response {
  const origin = getAllowedOrigin(request, env);
  // A response with a socket cannot be copied; sockets have no CORS.
  if (!origin || response.webSocket) return response;
  const copy = new Response(response.body, response);
  copy.headers.set("access-control-allow-origin", origin);
  copy.headers.append("vary", "origin");
  return copy;
}

function getAllowedOrigin(request: Request, env: Env): string | undefined {
  const origin = request.headers.get("origin");
  return origin !== null && env.ALLOWED_ORIGINS.includes(origin) ? origin : undefined;
}
