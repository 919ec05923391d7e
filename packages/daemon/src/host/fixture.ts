import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { onTestFinished } from "vitest";
import { listProcesses } from "../../../../tests/kit/processes.ts";
import { type Home, openHome } from "../home/home.ts";
import { locateParts, type BuildParts } from "./parts.ts";

export function createTempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "thinkery-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export async function createTempHome(): Promise<Home> {
  return openHome({ THINKERY_HOME: join(createTempFolder(), "home") });
}

const mainWorker = `
import { DurableObject, WorkerEntrypoint } from "cloudflare:workers";
let slow = 0;
export class Supervision extends WorkerEntrypoint {
  async fetch() {
    while (slow > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    return new Response(null, { status: 204 });
  }
}
export class Think extends DurableObject {}
export class Agency extends DurableObject {}
export class User extends DurableObject {}
export default {
  async fetch(request, env) {
    const { pathname } = new URL(request.url);
    if (pathname === "/health") return Response.json({ status: "ok" });
    if (pathname === "/host/status") return env.HOST.fetch("http://host/status");
    if (pathname === "/host/shutdown") return env.HOST.fetch("http://host/shutdown", { method: "POST" });
    if (pathname === "/sandbox") return env.SANDBOX_0.fetch("http://sandbox/");
    if (pathname === "/slow") {
      slow++;
      return new Promise((resolve) => setTimeout(() => { slow--; resolve(new Response("done")); }, 300));
    }
    if (pathname === "/host/script") return env.HOST.fetch("http://host/script" + new URL(request.url).search);
    if (pathname === "/host/renew") return env.HOST.fetch("http://host/slots/renew" + new URL(request.url).search, { method: "POST" });
    if (pathname === "/host/scripts") return env.HOST.fetch("http://host/scripts");
    if (pathname === "/models") {
      const { BOOT, MODEL_CONFIG, TURN_LIMITS, SANDBOX_LIMITS, LINUX_LIMITS, OPENAI_API_KEY, GROQ_API_KEY, LLM_API_KEY = null } = env;
      return Response.json({ BOOT, MODEL_CONFIG, TURN_LIMITS, SANDBOX_LIMITS, LINUX_LIMITS, OPENAI_API_KEY, GROQ_API_KEY, LLM_API_KEY });
    }
    if (pathname === "/reach") {
      const to = new URL(request.url).searchParams.get("to");
      const attempt = (send) => send(to).then((response) => response.text(), () => "refused");
      return Response.json({ models: await attempt((url) => env.MODELS.fetch(url)), others: await attempt(fetch) });
    }
    if (pathname === "/say") { console.log("the key is " + env.OPENAI_API_KEY); return Response.json({}); }
    const { VERSION, ADMIN_TOKEN_HASH, COOKIE_NAME, STARTED_AT, ALLOWED_HOSTS, ALLOWED_ORIGINS, PROVIDERS, SIGNING_KEY } = env;
    return Response.json({ VERSION, ADMIN_TOKEN_HASH, COOKIE_NAME, STARTED_AT, ALLOWED_HOSTS, ALLOWED_ORIGINS, PROVIDERS, SIGNING_KEY });
  },
};`;

const slotPoolWorker = `
import { DurableObject } from "cloudflare:workers";
export class SlotPool extends DurableObject {}
export default {};`;

const blobIndexWorker = `
import { DurableObject } from "cloudflare:workers";
export class BlobIndex extends DurableObject {}
export default {};`;

const sandboxWorker = `export default { fetch() { return new Response("alive"); } };`;

/** A build with minimal Workers, at a path that needs escaping. */
export function createTinyParts(): BuildParts {
  const folder = join(createTempFolder(), `it's "dist"`);
  for (const name of ["worker/main", "worker/sandbox", "worker/slot-pool", "worker/blob-index", "page"])
    mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(join(folder, "build.json"), JSON.stringify({ version: "0.0.0+test" }));
  writeFileSync(join(folder, "worker/main/main.js"), mainWorker);
  writeFileSync(join(folder, "worker/sandbox/sandbox.js"), sandboxWorker);
  writeFileSync(join(folder, "worker/slot-pool/slot-pool.js"), slotPoolWorker);
  writeFileSync(join(folder, "worker/blob-index/blob-index.js"), blobIndexWorker);
  return locateParts(folder);
}

/** Bundles a program that imports our sources, so that a test can run it as a separate process. */
export async function bundleProgram(source: string): Promise<string> {
  const outfile = join(createTempFolder(), "program.mjs");
  await build({
    stdin: { contents: source, resolveDir: fileURLToPath(new URL(".", import.meta.url)), loader: "ts" },
    bundle: true,
    platform: "node",
    format: "esm",
    // The output is elsewhere but must resolve packages from here.
    define: { "import.meta.url": JSON.stringify(import.meta.url) },
    outfile,
    logLevel: "error",
  });
  return outfile;
}

/** Tells whether any process of a child's process group is still running. */
export function isGroupAlive(group: number): boolean {
  return listProcesses().some((process) => process.group === group);
}

/** Lists the workerd processes that a process started, with their configuration files. */
export function findWorkerds(parent: number): Array<{ pid: number; config: string }> {
  return listProcesses().flatMap(({ pid, parent: ppid, command }) => {
    const config = / serve (.*\.capnp) /.exec(command)?.[1];
    return ppid === parent && config ? [{ pid, config }] : [];
  });
}
