import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  linuxLimitsSchema,
  type SandboxLimits,
  sandboxLimitsSchema,
  subagentLimitsSchema,
  turnLimitsSchema,
  workspaceLimitsSchema,
} from "@thinkery/sdk/internal";
import { openHome } from "../../packages/daemon/src/home/home.ts";
import { type RunningHost, runHost } from "../../packages/daemon/src/host/host.ts";
import { locateParts } from "../../packages/daemon/src/host/parts.ts";
import { bundleWorker } from "../kit/worker-bundle.ts";

interface AgentHostOptions {
  agentSlots: number;
  sandbox?: Partial<SandboxLimits>;
}

const inRuntime = (path: string) => new URL(`../../packages/runtime/src/${path}`, import.meta.url);

const emptyBlobIndex = `
import { DurableObject } from "cloudflare:workers";
export class BlobIndex extends DurableObject {}
export default {};`;

/** Starts the real daemon with the real slots and slot pool, and the test's Worker as main. */
export async function startAgentHost({ agentSlots, sandbox = {} }: AgentHostOptions) {
  const folder = await mkdtemp(join(tmpdir(), "thinkery-agents-"));
  const parts = join(folder, "parts");
  for (const name of ["worker/blob-index", "page"]) await mkdir(join(parts, name), { recursive: true });
  await Promise.all([
    writeFile(join(parts, "build.json"), JSON.stringify({ version: "0.0.0+test" })),
    writeFile(join(parts, "worker/blob-index/blob-index.js"), emptyBlobIndex),
    bundleWorker(new URL("agent-process-host.worker.ts", import.meta.url), join(parts, "worker/main"), "main"),
    bundleWorker(inRuntime("sandbox/process.ts"), join(parts, "worker/sandbox"), "sandbox"),
    bundleWorker(inRuntime("sandbox/slot-pool.ts"), join(parts, "worker/slot-pool"), "slot-pool"),
  ]);
  const host: RunningHost = await runHost({
    home: await openHome({ THINKERY_HOME: join(folder, "home") }),
    host: "127.0.0.1",
    port: 0,
    isPortFixed: false,
    slots: 0,
    agentSlots,
    allowedHosts: [],
    allowedOrigins: [],
    toolOrigins: [],
    policy: [],
    providers: [],
    models: { providers: {}, prices: {} },
    modelVariables: { variables: {}, secrets: [] },
    turn: turnLimitsSchema.parse({}),
    subagents: subagentLimitsSchema.parse({}),
    sandbox: sandboxLimitsSchema.parse(sandbox),
    linux: linuxLimitsSchema.parse({}),
    workspace: workspaceLimitsSchema.parse({}),
    scriptFolders: [],
    parts: locateParts(parts),
    limits: { backoffMs: 5, pingMs: 50 },
  });
  return {
    url: host.url,
    async stop() {
      await host.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
