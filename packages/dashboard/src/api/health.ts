import type { Health } from "@thinkery/sdk";
import { pollWhileVisible } from "./follow.ts";
import { call } from "./host.ts";
import { checkLogin } from "./login.ts";
import { createSource, type Source } from "./source.ts";

const pollIntervalMs = 15_000;

/** Health of the host, polled while the page is visible. */
export const health: Source<Health> = createSource(async () => {
  const result = await call("health");
  // Without a login the response has no version, so a missing one means that the session has ended.
  if (result.version === undefined) void checkLogin();
  return result;
}, pollWhileVisible(pollIntervalMs));
