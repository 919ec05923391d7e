import { isThinkeryError } from "@thinkery/sdk";
import { type Caller, createCaller } from "@thinkery/sdk/client";

// The page only ever talks to where it came from; no address of a host is read from anywhere else.
const client = createCaller({ url: "" });

let onRefused = () => {};

/** Tells when an answer shows that nobody is logged in any more. */
export function whenRefused(listener: () => void): void {
  onRefused = listener;
}

export const call: Caller["call"] = async (name, ...input) => {
  try {
    return await client.call(name, ...input);
  } catch (error) {
    if (name !== "login" && isThinkeryError(error) && error.code === "unauthorized") onRefused();
    throw error;
  }
};

export function socketAddress(path: string): string {
  const address = new URL(path, window.location.origin);
  address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
  return address.href;
}
