import { resolve } from "node:path";
import { formatPath } from "../cli/format-path.ts";
import { loadConfig } from "../config/load.ts";
import { findHost } from "../host/discovery.ts";
import { bundleWorker } from "../host/worker/worker.ts";
import type { Finding, CheckContext } from "./finding.ts";

const name = "Worker";

/** The Worker that main runs, or would: one of your own has to be there and to build. */
export async function checkWorker({ home, cwd, version }: CheckContext): Promise<Finding> {
  const running = await findHost(home).catch(() => undefined);
  // A configuration that cannot be read is another check's finding.
  const configured = await loadConfig(home.path, cwd).then(
    ({ config }) => config.worker,
    () => undefined,
  );
  const entry = running ? running.worker : configured && resolve(home.path, configured);
  if (!entry) return { name, state: "ok", message: "the stock one" };
  try {
    if (version !== undefined) await bundleWorker(entry, version);
    return { name, state: "ok", message: formatPath(entry) };
  } catch (error) {
    const { message } = error as Error;
    // What main was started with runs on.
    if (running)
      return {
        name,
        state: "warn",
        message,
        fix: "Mend it, or go back to the stock one with `thinkery restart --no-worker`.",
      };
    return { name, state: "fail", message, fix: "Mend it, or take “worker” out of config.jsonc." };
  }
}
