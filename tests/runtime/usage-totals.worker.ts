import type { Budget } from "@thinkery/sdk";
import { DurableObject } from "cloudflare:workers";
import { migrate } from "../../packages/runtime/src/store/migrate.ts";
import { agencyMigrations } from "../../packages/runtime/src/store/schema/agency.ts";
import { type Account, UsageTotals, type UsageReport } from "../../packages/runtime/src/store/usage-totals.ts";
import { summarizeUsage } from "../../packages/runtime/src/store/usage.ts";

interface UsageRequest {
  step: string;
  now: number;
  budget?: Budget;
  report?: UsageReport;
  account?: Account;
  since?: string;
}

/** Usage totals by themselves, driven step by step by a test. */
export class UsageObject extends DurableObject {
  override async fetch(request: Request): Promise<Response> {
    const { step, now, budget, report, account, since = "" } = (await request.json()) as UsageRequest;
    migrate(this.ctx.storage, { agency: agencyMigrations });
    const totals = new UsageTotals(this.ctx.storage, "agency");
    const steps: Record<string, () => unknown> = {
      budget: () => {
        totals.budget = budget;
      },
      apply: () => report && totals.applyReport(report, now),
      release: () => account && totals.release(account),
      statuses: () => totals.listBudgetStatuses(now),
      inspect: () => ({
        ...summarizeUsage(totals.readRows(since)),
        shares: totals.readShares(since),
        reserved: totals.sumReservations(),
      }),
      report: () => totals.createReport({ name: "den", since: 7 }, since),
    };
    return Response.json((await steps[step]?.()) ?? null);
  }
}

export default {
  fetch(request: Request, env: { UsageObject: DurableObjectNamespace<UsageObject> }): Promise<Response> | Response {
    if (request.method === "GET") return new Response("alive");
    return env.UsageObject.getByName(new URL(request.url).pathname).fetch(request);
  },
};
