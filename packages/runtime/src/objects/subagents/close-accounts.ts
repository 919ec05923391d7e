import type { UsageReport } from "../../store/usage-totals.ts";
import type { Env } from "../env.ts";
import { forgetSandboxes } from "../sandboxes.ts";

/** Tells everyone who knows sub-agents that they are gone: their usage is final, and nothing of them waits any more. */
export async function closeAccounts(
  env: Env,
  agency: string,
  inbox: { forget(agent: string): Promise<void> },
  reports: UsageReport[],
): Promise<void> {
  if (reports.length > 0) await env.Agency.getByName(agency).usage.close(reports);
  for (const child of reports.map(({ name }) => `${agency}~${name}`))
    await Promise.all([forgetSandboxes(env, child), inbox.forget(child)]);
}
