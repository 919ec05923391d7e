import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { fail } from "@thinkery/sdk";
import { writeFileAtomicUnsynced } from "../home/files.ts";
import type { Home } from "../home/home.ts";
import { readToken } from "../home/token.ts";
import { toHostUrl } from "./address.ts";
import { getControlSocket, createProof, type HostIntroduction } from "./control.ts";
import { takeLock } from "./lock.ts";
import { isSameSecret } from "./serve.ts";

type DaemonFile = Omit<HostIntroduction, "ready">;

/** A running host that proved its identity. */
export interface FoundHost extends DaemonFile {
  url: string;
}

export async function writeDaemonFile(home: Home, content: DaemonFile): Promise<void> {
  await writeFileAtomicUnsynced(home.daemonFile, `${JSON.stringify(content)}\n`);
}

/** Returns undefined if the file is missing or damaged. Unverified: by now the pid may belong to another process. */
export async function readDaemonFile(home: Home): Promise<DaemonFile | undefined> {
  try {
    const content: unknown = JSON.parse(await readFile(home.daemonFile, "utf8"));
    return isDaemonFile(content) && content.port > 0 ? content : undefined;
  } catch {
    return undefined;
  }
}

/** Removes the file if it names this process. */
export async function removeDaemonFile(home: Home, pid: number): Promise<void> {
  if ((await readDaemonFile(home))?.pid === pid) await rm(home.daemonFile, { force: true });
}

/** Finds the running host of this home, if it is ready and proves its identity. */
export async function findHost(home: Home): Promise<FoundHost | undefined> {
  const found = await requestIntroduction(home);
  if (!found?.ready) return undefined;
  const { pid, host, port, startedAt, version, worker } = found;
  return { pid, host, port, startedAt, version, ...(worker ? { worker } : {}), url: toHostUrl(host, port) };
}

/** Stops the host of this home. Only a process that proved its identity is ever signalled. */
export async function stopHost(
  home: Home,
  { timeoutMs = 10_000 }: { timeoutMs?: number } = {},
): Promise<"stopped" | "not running"> {
  const token = await readToken(home);
  const found = token && (await requestIntroduction(home));
  if (!token || !found) return "not running";
  await requestControl(home, "POST", "/stop", { authorization: `Bearer ${token}` }).catch(() => {});
  if (await waitForLock(home, timeoutMs)) return "stopped";
  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    signalHost(found.pid, signal);
    if (await waitForLock(home, 2_000)) return "stopped";
  }
  throw fail("unavailable", `The host (process ${found.pid}) did not stop. Kill it manually.`);
}

// Written without zod, because every command looks for its host and loading zod would slow it down.
function isDaemonFile(value: unknown): value is DaemonFile {
  if (typeof value !== "object" || value === null) return false;
  const { pid, host, port, startedAt, version, worker = "" } = value as Partial<Record<keyof DaemonFile, unknown>>;
  const areStrings = [host, startedAt, version, worker].every((text) => typeof text === "string");
  return areStrings && Number.isSafeInteger(pid) && Number(pid) > 0 && Number.isSafeInteger(port);
}

// The port may still be 0, if the host may use any port and has not chosen one yet.
function isIntroduction(value: unknown): value is HostIntroduction & { proof: string } {
  return (
    isDaemonFile(value) &&
    "ready" in value &&
    typeof value.ready === "boolean" &&
    "proof" in value &&
    typeof value.proof === "string"
  );
}

async function requestIntroduction(home: Home): Promise<HostIntroduction | undefined> {
  // Usually there is no host yet, and a missing socket file shows that without a request.
  if (!existsSync(getControlSocket(home))) return undefined;
  const token = await readToken(home);
  if (!token) return undefined;
  try {
    const nonce = randomBytes(32).toString("hex");
    const response = await requestControl(home, "GET", `/prove?nonce=${nonce}`);
    if (!isIntroduction(response)) return undefined;
    return isSameSecret(response.proof, createProof(token, nonce, response.pid)) ? response : undefined;
  } catch {
    return undefined;
  }
}

// The lock, unlike the pid, shows that the host and all its children are gone.
async function waitForLock(home: Home, timeoutMs: number): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const lock = await takeLock(home);
    await lock?.release();
    if (lock) return true;
    if (performance.now() > deadline) return false;
    await sleep(25);
  }
}

function signalHost(pid: number, signal: "SIGTERM" | "SIGKILL"): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

function requestControl(
  home: Home,
  method: string,
  path: string,
  headers: Record<string, string> = {},
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const clientRequest = request({
      socketPath: getControlSocket(home),
      method,
      path,
      headers,
      agent: false,
      timeout: 2_000,
    });
    clientRequest.on("error", reject);
    clientRequest.on("timeout", () => clientRequest.destroy(new Error("no response")));
    clientRequest.on("response", (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        text += chunk;
        if (text.length > 65_536) clientRequest.destroy(new Error("response too long"));
      });
      response.on("error", reject);
      response.on("end", () => {
        try {
          resolve(JSON.parse(text));
        } catch (error) {
          reject(error as Error);
        }
      });
    });
    clientRequest.end();
  });
}
