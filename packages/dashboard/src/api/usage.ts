import type { AgencyUsage, Budget, UsageBreakdown, BudgetStatus, UserUsage } from "@thinkery/sdk";
import { pollWhileVisible } from "./follow.ts";
import { call } from "./host.ts";
import { createSource, type Source } from "./source.ts";

const pollIntervalMs = 10_000;

/** A part of what was used, and whose it is. Whoever is gone is told apart by when they were made. */
export interface Share extends Figures {
  name: string;
  createdAt: string;
}

export type Figures = UsageBreakdown["total"];

/** What an agency has used, or all agencies of a user. */
export interface Usage extends UsageBreakdown {
  shares: Share[];
  /** Every limit that holds, the widest last. */
  budget: BudgetStatus[];
}

/** For so many days, today the last of them. */
export function createUsageSource(agency: string | undefined, days: number): Source<Usage> {
  const query = { days };
  const load = async (): Promise<Usage> =>
    agency === undefined
      ? fromUserUsage(await call("getUserUsage", { query }))
      : fromAgencyUsage(await call("getAgencyUsage", { params: { agency }, query }));
  return createSource(load, pollWhileVisible(pollIntervalMs));
}

/** A number where one was written; anything else goes to the host as it is, which says what is wrong with it. */
export type BudgetInput = Partial<Record<Exclude<keyof Budget, "per">, number | string>> & { per: string };

export async function setBudget(agency: string | undefined, written: BudgetInput): Promise<void> {
  const body = written as Budget;
  await (agency === undefined
    ? call("putUserBudget", { body })
    : call("putAgencyBudget", { params: { agency }, body }));
}

export async function clearBudget(agency: string | undefined): Promise<void> {
  await (agency === undefined ? call("deleteUserBudget") : call("deleteAgencyBudget", { params: { agency } }));
}

function fromUserUsage({ byAgency, ...usage }: UserUsage): Usage {
  return { ...usage, shares: byAgency.map(({ agency, ...share }) => ({ name: agency, ...share })) };
}

function fromAgencyUsage({ byAgent, ...usage }: AgencyUsage): Usage {
  return { ...usage, shares: byAgent.map(({ agent, ...share }) => ({ name: agent, ...share })) };
}
