import { fail } from "@thinkery/sdk";
import type { Env } from "../objects/env.ts";
import { toPageResponse } from "./response.ts";

const mediaTypes: Record<string, string> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
  png: "image/png",
  ico: "image/x-icon",
  woff2: "font/woff2",
  map: "application/json",
  webmanifest: "application/manifest+json",
};

/** Files that carry no secret and need no token. Everything under /app is one page that routes by itself. */
export function isPagePath(path: string): boolean {
  return path === "/" || path === "/app" || path.startsWith("/app/") || findPageFile(path) !== undefined;
}

export async function servePage(path: string, env: Env): Promise<Response> {
  const file = findPageFile(path) ?? "index.html";
  const response = await env.ASSETS.fetch(`http://page/${file}`);
  if (!response.ok) throw fail("not_found", "There is no such file.");
  const type = mediaTypes[file.split(".").at(-1) ?? ""];
  // Names under assets carry a hash of their content; everything else must be asked for anew.
  const cache = file.startsWith("assets/") ? "public, max-age=31536000, immutable" : "no-cache";
  return toPageResponse(response.body, { "content-type": type ?? "application/octet-stream", "cache-control": cache });
}

function findPageFile(path: string): string | undefined {
  return /^\/(favicon\.svg|theme\.js|assets\/[A-Za-z0-9_-][A-Za-z0-9._-]*)$/.exec(path)?.[1];
}
