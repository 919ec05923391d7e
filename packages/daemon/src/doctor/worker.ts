import { resolve } from "node:path";
import { formatPath } from "../cli/format-path.ts";
import { loadConfig } from "../config/load.ts";
import { findHost } from "../host/discovery.ts";
import { bundleWorker } from "../host/worker/worker.ts";
import type { Finding, CheckContext } from "./finding.ts";

const name = "Worker";

/** Checks that the custom Worker, if there is one, exists and builds. */
export async function checkWorker({ home, cwd, version }: CheckContext): Promise<Finding> {
  const running = await findHost(home).catch(() => undefined);
  // An invalid configuration is reported by its own check.
  const configured = await loadConfig(home.path, cwd).then(
    ({ config }) => config.worker,
    () => undefined,
  );
  const entry = running ? running.worker : configured && resolve(home.path, configured);
  if (!entry) return { name, state: "ok", message: "built-in" };
  try {
    if (version !== undefined) await bundleWorker(entry, version);
    return { name, state: "ok", message: formatPath(entry) };
  } catch (error) {
    const { message } = error as Error;
    // Main keeps running the Worker it was started with.
    if (running)
      return {
        name,
        state: "warn",
        message,
        fix: "Fix it, or go back to the built-in one with `thinkery restart --no-worker`.",
      };
    return { name, state: "fail", message, fix: "Fix it, or remove “worker” from config.jsonc." };
  }
}
