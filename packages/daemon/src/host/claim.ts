import { setTimeout as sleep } from "node:timers/promises";
import { fail } from "@thinkery/sdk";
import type { Home } from "../home/home.ts";
import { findHost, readDaemonFile } from "./discovery.ts";
import { takeLock, type Lock } from "./lock.ts";

/** The home's lock for a new host. A host that runs is reported; one that is going away is waited for. */
export async function claimHome(home: Home, patienceMs = 8_000): Promise<Lock> {
  const end = performance.now() + patienceMs;
  for (;;) {
    const lock = await takeLock(home);
    // Also asked with the lock in hand: somebody may have removed the lock file under a running host.
    const running = await findHost(home);
    if (running) {
      await lock?.release();
      throw fail("conflict", `Thinkery is already running at ${running.url}.`);
    }
    if (lock) return lock;
    if (performance.now() > end) throw await createUnclearError(home);
    await sleep(25);
  }
}

async function createUnclearError(home: Home): Promise<Error> {
  const claimed = await readDaemonFile(home);
  const hint = claimed ? ` It may be process ${claimed.pid}.` : "";
  return fail("unavailable", `Another Thinkery holds ${home.path} but does not answer; end it and try again.${hint}`);
}
