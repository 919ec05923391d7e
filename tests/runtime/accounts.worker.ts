import type { Budget } from "@thinkery/sdk";
import { DurableObject } from "cloudflare:workers";
import { type Account, Accounts, type Statement } from "../../packages/runtime/src/store/accounts.ts";
import { migrate } from "../../packages/runtime/src/store/migrate.ts";
import { agencyMigrations } from "../../packages/runtime/src/store/schema/agency.ts";
import { reportOf } from "../../packages/runtime/src/store/spent.ts";

interface Asked {
  step: string;
  now: number;
  budget?: Budget;
  statement?: Statement;
  account?: Account;
  since?: string;
}

/** Books by themselves, to be told statements and looked into. */
export class Books extends DurableObject {
  override async fetch(request: Request): Promise<Response> {
    const { step, now, budget, statement, account, since = "" } = (await request.json()) as Asked;
    migrate(this.ctx.storage, { agency: agencyMigrations });
    const accounts = new Accounts(this.ctx.storage, "agency");
    const steps: Record<string, () => unknown> = {
      budget: () => {
        accounts.budget = budget;
      },
      state: () => statement && accounts.state(statement, now),
      release: () => account && accounts.release(account),
      standings: () => accounts.standings(now),
      look: () => ({ ...reportOf(accounts.rows(since)), shares: accounts.shares(since), reserved: accounts.reserved() }),
      statement: () => accounts.statement({ name: "den", since: 7 }, since),
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
