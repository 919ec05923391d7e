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

/** A host that proved that it is ours. */
export interface FoundHost extends DaemonFile {
  url: string;
}

export async function writeDaemonFile(home: Home, content: DaemonFile): Promise<void> {
  await writeFileAtomicUnsynced(home.daemonFile, `${JSON.stringify(content)}\n`);
}

/** What the file claims, nothing when it is missing or damaged. A claim only: the pid in it may be anybody's by now. */
export async function readDaemonFile(home: Home): Promise<DaemonFile | undefined> {
  try {
    const claim: unknown = JSON.parse(await readFile(home.daemonFile, "utf8"));
    return isDaemonFile(claim) && claim.port > 0 ? claim : undefined;
  } catch {
    return undefined;
  }
}

/** Removes the file if it is ours. */
export async function removeDaemonFile(home: Home, pid: number): Promise<void> {
  if ((await readDaemonFile(home))?.pid === pid) await rm(home.daemonFile, { force: true });
}

/** The running host of this home, if it is ready and proves itself. */
export async function findHost(home: Home): Promise<FoundHost | undefined> {
  const found = await requestIntroduction(home);
  if (!found?.ready) return undefined;
  const { pid, host, port, startedAt, version, worker } = found;
  return { pid, host, port, startedAt, version, ...(worker ? { worker } : {}), url: toHostUrl(host, port) };
}

/** Stops the host of this home. Only a process that proved itself is ever signalled. */
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
  throw fail("unavailable", `The host (process ${found.pid}) does not stop; end it by hand.`);
}

// By hand: every command looks for its host, and should not load zod for it.
function isDaemonFile(value: unknown): value is DaemonFile {
  if (typeof value !== "object" || value === null) return false;
  const { pid, host, port, startedAt, version, worker = "" } = value as Partial<Record<keyof DaemonFile, unknown>>;
  const texts = [host, startedAt, version, worker].every((text) => typeof text === "string");
  return texts && Number.isSafeInteger(pid) && Number(pid) > 0 && Number.isSafeInteger(port);
}

// The port may still be 0: the host that was told to take any has not chosen yet.
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
  // Seen before anything is asked: the usual start finds nobody, and should not load a client to learn it.
  if (!existsSync(getControlSocket(home))) return undefined;
  const token = await readToken(home);
  if (!token) return undefined;
  try {
    const nonce = randomBytes(32).toString("hex");
    const said = await requestControl(home, "GET", `/prove?nonce=${nonce}`);
    return isIntroduction(said) && isSameSecret(said.proof, createProof(token, nonce, said.pid)) ? said : undefined;
  } catch {
    return undefined;
  }
}

// The lock, not the pid, tells that the host and all its children are gone.
async function waitForLock(home: Home, timeoutMs: number): Promise<boolean> {
  const end = performance.now() + timeoutMs;
  for (;;) {
    const lock = await takeLock(home);
    await lock?.release();
    if (lock) return true;
    if (performance.now() > end) return false;
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
    const asked = request({ socketPath: getControlSocket(home), method, path, headers, agent: false, timeout: 2_000 });
    asked.on("error", reject);
    asked.on("timeout", () => asked.destroy(new Error("no answer")));
    asked.on("response", (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        text += chunk;
        if (text.length > 65_536) asked.destroy(new Error("too long an answer"));
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
    asked.end();
  });
}
