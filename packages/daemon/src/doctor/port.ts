import { isThinkeryError } from "@thinkery/sdk";
import { defaultHost, defaultPort } from "../cli/host-options.ts";
import { type LoadedConfig, loadConfig } from "../config/load.ts";
import { toBindAddress, choosePort } from "../host/address.ts";
import { findHost } from "../host/discovery.ts";
import type { Finding, CheckContext } from "./finding.ts";

const name = "port";

export async function checkPort({ home, cwd }: CheckContext): Promise<Finding> {
  const running = await findHost(home).catch(() => undefined);
  if (running) return { name, state: "ok", message: `${running.port} (in use by the host)` };
  // An invalid configuration is reported by its own check.
  const config: Pick<LoadedConfig["config"], "host" | "port"> = await loadConfig(home.path, cwd).then(
    (loaded) => loaded.config,
    () => ({}),
  );
  const port = config.port ?? defaultPort;
  try {
    await choosePort(toBindAddress(config.host ?? defaultHost), port, true);
    return { name, state: "ok", message: `${port} is free` };
  } catch (error) {
    if (isThinkeryError(error) && error.code === "conflict" && config.port === undefined) {
      return {
        name,
        state: "warn",
        message: `${port} is in use by another program; the next free port will be used`,
        fix: "Stop that program, or choose a port with `thinkery start --port` or in config.jsonc.",
      };
    }
    return { name, state: "fail", message: (error as Error).message, fix: "Change “host” or “port” in config.jsonc." };
  }
}
