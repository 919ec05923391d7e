import { isThinkeryError } from "@thinkery/sdk";
import { type Caller, createCaller } from "@thinkery/sdk/client";

// The page only talks to the origin it was loaded from.
const client = createCaller({ url: "" });

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
