import { createClient } from "@thinkery/sdk/client";
import { readToken } from "../home/token.ts";
import { findHost } from "../host/discovery.ts";
import type { Finding, CheckContext } from "./finding.ts";

const name = "host";
const timeoutMs = 5_000;

export async function checkHost({ home, version }: CheckContext): Promise<Finding> {
  const host = await findHost(home);
  if (!host) return { name, state: "ok", message: "not running; most commands start it" };
  const token = await readToken(home);
  try {
    const client = createClient({ url: host.url, ...(token ? { token } : {}) });
    await client.call("health", { signal: AbortSignal.timeout(timeoutMs) });
  } catch {
    return {
      name,
      state: "fail",
      message: `process ${host.pid} is running but ${host.url} does not respond`,
      fix: "Restart it with `thinkery restart`; see `thinkery logs` for the reason.",
    };
  }
  if (version === undefined || host.version === version) {
    return { name, state: "ok", message: `running at ${host.url}, version ${host.version}` };
  }
  return {
    name,
    state: "warn",
    message: `running at ${host.url}, but its version is ${host.version} and this CLI is ${version}`,
    fix: "Restart it with `thinkery restart`.",
  };
}
