import { setTimeout as sleep } from "node:timers/promises";
import { isThinkeryError } from "@thinkery/sdk";
import type { Connection } from "./connect.ts";

const retryDelay = 100;
const patienceMs = 5_000;

/** A login link that works once. The code is in the fragment, which browsers do not send or log. */
export async function loginLink({ client, url }: Connection, signal?: AbortSignal): Promise<string> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    try {
      const { code } = await client.call("createLoginCode");
      return `${url}/#code=${encodeURIComponent(code)}`;
    } catch (error) {
      // Its main process may be restarting just now, which takes no second.
      const passing = isThinkeryError(error) && error.code === "unavailable" && performance.now() < deadline;
      if (!passing || signal?.aborted) throw error;
      await sleep(retryDelay, undefined, { signal });
    }
  }
}
