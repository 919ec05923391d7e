import { setTimeout as sleep } from "node:timers/promises";
import { fail, isThinkeryError } from "@thinkery/sdk";
import type { Connection } from "./connect.ts";

const retryDelay = 100;
const attemptMs = 5_000;
const patienceMs = 10_000;

/** A login link that works once. The code is in the fragment, which browsers do not send or log. */
export async function loginLink({ client, url }: Connection, signal?: AbortSignal): Promise<string> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    try {
      const { code } = await attempt((signal) => client.call("createLoginCode", { signal }), signal);
      return `${url}/#code=${encodeURIComponent(code)}`;
    } catch (error) {
      // Its main process may be restarting just now, which takes no second.
      const passing = isThinkeryError(error) && error.code === "unavailable" && performance.now() < deadline;
      if (!passing || signal?.aborted) throw error;
      await sleep(retryDelay, undefined, { signal });
    }
  }
}

// Node's fetch may never come back when its server is killed just as it connects.
async function attempt<T>(ask: (signal: AbortSignal) => Promise<T>, given?: AbortSignal): Promise<T> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(fail("unavailable", "The host does not answer.")), attemptMs);
  try {
    return await ask(given ? AbortSignal.any([given, late.signal]) : late.signal);
  } finally {
    clearTimeout(timer);
  }
}
