import { request, type RequestOptions } from "node:http";
import { toReachableAddress } from "./address.ts";

/** Main lives when it answers its health route. */
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

/** Comes back when main has nothing under way any more. */
export function drainMain(socketPath: string, signal: AbortSignal): Promise<void> {
  return ping({ socketPath, method: "POST", path: "/drain", headers: { host: "main" }, signal });
}

/** What somebody answered who is there, but not well; nothing where nobody is. */
export function getWrongAnswer(error: Error): string | undefined {
  return /^answers \d+$/.exec(error.message)?.[0];
}

function ping(options: RequestOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    const asked = request({ ...options, agent: false }, (answer) => {
      answer.resume();
      answer.on("error", () => {});
      if (answer.statusCode === 200 || answer.statusCode === 204) resolve();
      else reject(new Error(`answers ${answer.statusCode}`));
    });
    asked.on("error", reject);
    asked.end();
  });
}
