import { request } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type HostStatus, hostStatusSchema } from "../internal/host-status.ts";
import { fail } from "../protocol/errors.ts";

const restartTimeoutMs = 20_000;

/** Kills main, as a crash would, and resolves when its replacement answers. */
export async function killMain(home: string, token: string, url: string): Promise<void> {
  const { pid } = (await fetchStatus(home, token)).main;
  if (pid === undefined) throw fail("conflict", "Cannot kill main: it is not running at the moment.");
  process.kill(pid, "SIGKILL");
  const deadline = Date.now() + restartTimeoutMs;
  while (!(await hasRestarted(home, token, url, pid))) {
    if (Date.now() > deadline)
      throw fail("unavailable", "Main was killed and did not restart. See the host's log for the reason.");
    await sleep(10);
  }
}

async function hasRestarted(home: string, token: string, url: string, killedPid: number): Promise<boolean> {
  try {
    const { main } = await fetchStatus(home, token);
    if (main.pid === undefined || main.pid === killedPid) return false;
    return (await fetch(`${url}/health`, { signal: AbortSignal.timeout(1_000) })).ok;
  } catch {
    return false;
  }
}

/** Fetches the status of the host's processes from the daemon's own socket, since main may be dead. */
function fetchStatus(home: string, token: string): Promise<HostStatus> {
  return new Promise((resolve, reject) => {
    const socketPath = join(home, "run", "control.sock");
    const pending = request({
      socketPath,
      path: "/status",
      headers: { authorization: `Bearer ${token}` },
      agent: false,
      timeout: 2_000,
    });
    pending.on("error", () => reject(fail("unavailable", "The host is no longer running.")));
    pending.on("timeout", () => pending.destroy());
    pending.on("response", async (response) => {
      try {
        const chunks: Buffer[] = [];
        for await (const chunk of response) chunks.push(chunk as Buffer);
        resolve(hostStatusSchema.parse(JSON.parse(Buffer.concat(chunks).toString("utf8"))));
      } catch (error) {
        reject(error as Error);
      }
    });
    pending.end();
  });
}
