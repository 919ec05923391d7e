import type { Health } from "@thinkery/sdk";
import { pollWhileVisible } from "./follow.ts";
import { call } from "./host.ts";
import { checkLogin } from "./login.ts";
import { createSource, type Source } from "./source.ts";

const pollIntervalMs = 15_000;

/** How the host is, asked now and then while the page is being looked at. */
export const health: Source<Health> = createSource(async () => {
  const answer = await call("health");
  // To strangers the host says only that it is well: then we have become one.
  if (answer.version === undefined) void checkLogin();
  return answer;
}, pollWhileVisible(pollIntervalMs));
