import { isThinkeryError } from "@thinkery/sdk";
import { type Caller, createCaller } from "@thinkery/sdk/client";
import { getPageHeaders, getPageProtocols } from "./page-secret.ts";

// The page only talks to the origin it was loaded from.
const client = createCaller({ url: "", fetch: fetchFromHost });

/** Like `fetch`, with the page's secret. */
export function fetchFromHost(input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  for (const [name, value] of Object.entries(getPageHeaders())) headers.set(name, value);
  return fetch(input, { ...init, headers });
}

/** Opens a WebSocket with the page's secret. */
export function openSocket(url: string): WebSocket {
  return new WebSocket(url, getPageProtocols());
}

let unauthorizedHandler = () => {};

/** Sets the function called when a response shows that the session has ended. */
export function setUnauthorizedHandler(handler: () => void): void {
  unauthorizedHandler = handler;
}

export const call: Caller["call"] = async (name, ...input) => {
  try {
    return await client.call(name, ...input);
  } catch (error) {
    if (name !== "login" && isThinkeryError(error) && error.code === "unauthorized") unauthorizedHandler();
    throw error;
  }
};

export function buildSocketUrl(path: string): string {
  const url = new URL(path, window.location.origin);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  return url.href;
}
