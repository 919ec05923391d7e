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

/** Public files that need no token. Everything under /app is a single-page app with its own routing. */
export function isPagePath(path: string): boolean {
  return path === "/" || path === "/app" || path.startsWith("/app/") || findPageFile(path) !== undefined;
}

export async function servePage(path: string, env: Env): Promise<Response> {
  const file = findPageFile(path) ?? "index.html";
  const response = await env.ASSETS.fetch(`http://page/${file}`);
  if (!response.ok) throw fail("not_found", "File not found.");
  const type = mediaTypes[file.split(".").at(-1) ?? ""];
  // File names under assets contain a content hash; everything else must be revalidated.
  const cache = file.startsWith("assets/") ? "public, max-age=31536000, immutable" : "no-cache";
  return toPageResponse(response.body, { "content-type": type ?? "application/octet-stream", "cache-control": cache });
}

function findPageFile(path: string): string | undefined {
  return /^\/(favicon\.svg|theme\.js|assets\/[A-Za-z0-9_-][A-Za-z0-9._-]*)$/.exec(path)?.[1];
}
