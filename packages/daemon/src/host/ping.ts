import { request, type RequestOptions } from "node:http";
import { reachable } from "./address.ts";

/** Main lives when it answers its health route. */
export function pingMain(address: string, port: number, signal: AbortSignal): Promise<void> {
  return ping({ host: reachable(address), port, path: "/health", headers: { host: `localhost:${port}` }, signal });
}

export function pingSandbox(socketPath: string, signal: AbortSignal): Promise<void> {
  return ping({ socketPath, path: "/", headers: { host: "sandbox" }, signal });
}

function ping(options: RequestOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    const asked = request({ ...options, agent: false }, (answer) => {
      answer.resume();
      answer.on("error", () => {});
      if (answer.statusCode === 200) resolve();
      else reject(new Error(`answered ${answer.statusCode}`));
    });
    asked.on("error", reject);
    asked.end();
  });
}
