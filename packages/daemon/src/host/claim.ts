import { setTimeout as sleep } from "node:timers/promises";
import { fail } from "@thinkery/sdk";
import type { Home } from "../home/home.ts";
import { findHost, readDaemonFile } from "./discovery.ts";
import { takeLock, type Lock } from "./lock.ts";

/** Takes the home's lock for a new host. Throws if a host is running; waits for one that is stopping. */
export async function claimHome(home: Home, timeoutMs = 8_000): Promise<Lock> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const lock = await takeLock(home);
    // Checked even with the lock in hand, because the lock file may have been removed while a host was running.
    const running = await findHost(home);
    if (running) {
      await lock?.release();
      throw fail("conflict", `Thinkery is already running at ${running.url}.`);
    }
    if (lock) return lock;
    if (performance.now() > deadline) throw await createLockedError(home);
    await sleep(25);
  }
}

async function createLockedError(home: Home): Promise<Error> {
  const file = await readDaemonFile(home);
  const hint = file ? ` It may be process ${file.pid}.` : "";
  return fail("unavailable", `Another Thinkery uses ${home.path} but does not respond. Stop it and try again.${hint}`);
}
