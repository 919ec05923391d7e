import { request, type RequestOptions } from "node:http";
import { toReachableAddress } from "./address.ts";

/** Rejects unless main's health route responds. */
export function pingMain(address: string, port: number, signal: AbortSignal): Promise<void> {
  return ping({
    host: toReachableAddress(address),
    port,
    path: "/health",
    headers: { host: `localhost:${port}` },
    signal,
  });
}

export function pingSandbox(socketPath: string, signal: AbortSignal): Promise<void> {
  return ping({ socketPath, path: "/", headers: { host: "sandbox" }, signal });
}

/** Resolves when main has no running work left. */
export function drainMain(socketPath: string, signal: AbortSignal): Promise<void> {
  return ping({ socketPath, method: "POST", path: "/drain", headers: { host: "main" }, signal });
}

/** Returns the unexpected status if a server responded with one, or undefined if none responded. */
export function getUnexpectedResponse(error: Error): string | undefined {
  return /^responds with \d+$/.exec(error.message)?.[0];
}

function ping(options: RequestOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    const ping = request({ ...options, agent: false }, (response) => {
      response.resume();
      response.on("error", () => {});
      if (response.statusCode === 200 || response.statusCode === 204) resolve();
      else reject(new Error(`responds with ${response.statusCode}`));
    });
    ping.on("error", reject);
    ping.end();
  });
}
