import { request } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type HostStatus, hostStatusSchema } from "../internal/host-status.ts";
import { fail } from "../protocol/errors.ts";

const restartTimeoutMs = 20_000;

/** Kills main as a crash would, and comes back when another one answers. */
export async function killMain(home: string, token: string, url: string): Promise<void> {
  const { pid } = (await askStatus(home, token)).main;
  if (pid === undefined) throw fail("conflict", "Main is not running just now, so it cannot be killed.");
  process.kill(pid, "SIGKILL");
  const end = Date.now() + restartTimeoutMs;
  while (!(await hasRestarted(home, token, url, pid))) {
    if (Date.now() > end) throw fail("unavailable", "Main was killed and did not come back; the host's log says why.");
    await sleep(10);
  }
}

async function hasRestarted(home: string, token: string, url: string, killed: number): Promise<boolean> {
  try {
    const { main } = await askStatus(home, token);
    if (main.pid === undefined || main.pid === killed) return false;
    return (await fetch(`${url}/health`, { signal: AbortSignal.timeout(1_000) })).ok;
  } catch {
    return false;
  }
}

/** What the daemon knows of its processes, asked on its own socket: main may be the one that is dead. */
function askStatus(home: string, token: string): Promise<HostStatus> {
  return new Promise((resolve, reject) => {
    const socketPath = join(home, "run", "control.sock");
    const asked = request({
      socketPath,
      path: "/status",
      headers: { authorization: `Bearer ${token}` },
      agent: false,
      timeout: 2_000,
    });
    asked.on("error", () => reject(fail("unavailable", "The host is not running any more.")));
    asked.on("timeout", () => asked.destroy());
    asked.on("response", async (response) => {
      try {
        const chunks: Buffer[] = [];
        for await (const chunk of response) chunks.push(chunk as Buffer);
        resolve(hostStatusSchema.parse(JSON.parse(Buffer.concat(chunks).toString("utf8"))));
      } catch (error) {
        reject(error as Error);
      }
    });
    asked.end();
  });
}
