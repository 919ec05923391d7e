import { createClient } from "@thinkery/sdk/client";
import { readToken } from "../home/token.ts";
import { findHost } from "../host/discovery.ts";
import type { Finding, CheckContext } from "./finding.ts";

const name = "host";
const timeoutMs = 5_000;

export async function checkHost({ home, version }: CheckContext): Promise<Finding> {
  const host = await findHost(home);
  if (!host) return { name, state: "ok", message: "is not running; most commands start it" };
  const token = await readToken(home);
  try {
    const client = createClient({ url: host.url, ...(token ? { token } : {}) });
    await client.call("health", { signal: AbortSignal.timeout(timeoutMs) });
  } catch {
    return {
      name,
      state: "fail",
      message: `process ${host.pid} runs but ${host.url} does not answer`,
      fix: "Restart it with `thinkery restart`; `thinkery logs` may say why.",
    };
  }
  if (version === undefined || host.version === version) {
    return { name, state: "ok", message: `runs at ${host.url}, version ${host.version}` };
  }
  return {
    name,
    state: "warn",
    message: `runs at ${host.url}, but is version ${host.version} and this is ${version}`,
    fix: "Restart it with `thinkery restart`.",
  };
}
