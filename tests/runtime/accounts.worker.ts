import type { Budget } from "@thinkery/sdk";
import { DurableObject } from "cloudflare:workers";
import { migrate } from "../../packages/runtime/src/store/migrate.ts";
import { agencyMigrations } from "../../packages/runtime/src/store/schema/agency.ts";
import { type Account, UsageTotals, type UsageReport } from "../../packages/runtime/src/store/usage-totals.ts";
import { summarizeUsage } from "../../packages/runtime/src/store/usage.ts";

interface StepRequest {
  step: string;
  now: number;
  budget?: Budget;
  statement?: UsageReport;
  account?: Account;
  since?: string;
}

/** Books by themselves, to be told statements and looked into. */
export class Books extends DurableObject {
  override async fetch(request: Request): Promise<Response> {
    const { step, now, budget, statement, account, since = "" } = (await request.json()) as StepRequest;
    migrate(this.ctx.storage, { agency: agencyMigrations });
    const accounts = new UsageTotals(this.ctx.storage, "agency");
    const steps: Record<string, () => unknown> = {
      budget: () => {
        accounts.budget = budget;
      },
      state: () => statement && accounts.applyReport(statement, now),
      release: () => account && accounts.release(account),
      statuses: () => accounts.listBudgetStatuses(now),
      look: () => ({
        ...summarizeUsage(accounts.readRows(since)),
        shares: accounts.readShares(since),
        reserved: accounts.sumReservations(),
      }),
      statement: () => accounts.createReport({ name: "den", since: 7 }, since),
    };
    return Response.json((await steps[step]?.()) ?? null);
  }
}

export default {
  fetch(request: Request, env: { Books: DurableObjectNamespace<Books> }): Promise<Response> | Response {
    if (request.method === "GET") return new Response("alive");
    return env.Books.getByName(new URL(request.url).pathname).fetch(request);
  },
};
