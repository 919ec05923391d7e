import { isThinkeryError } from "@thinkery/sdk";
import { type Caller, createCaller } from "@thinkery/sdk/client";

// The page only ever talks to where it came from; no address of a host is read from anywhere else.
const client = createCaller({ url: "" });

let unauthorizedHandler = () => {};

/** Tells when an answer shows that nobody is logged in any more. */
export function setUnauthorizedHandler(listener: () => void): void {
  unauthorizedHandler = listener;
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
  const address = new URL(path, window.location.origin);
  address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
  return address.href;
}
