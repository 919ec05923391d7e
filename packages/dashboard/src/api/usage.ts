import type { AgencyUsage, Budget, UsageBreakdown, BudgetStatus, UserUsage } from "@thinkery/sdk";
import { pollWhileVisible } from "./follow.ts";
import { call } from "./host.ts";
import { createSource, type Source } from "./source.ts";

const pollIntervalMs = 10_000;

/** Usage of one agent or agency. `createdAt` tells deleted ones of the same name apart. */
export interface Share extends Figures {
  name: string;
  createdAt: string;
}

export type Figures = UsageBreakdown["total"];

/** Usage of an agency, or of all agencies of a user. */
export interface Usage extends UsageBreakdown {
  shares: Share[];
  /** Every limit that applies, the widest last. */
  budget: BudgetStatus[];
}

/** Usage of the last `days` days, including today. */
export function createUsageSource(agency: string | undefined, days: number): Source<Usage> {
  const query = { days };
  const load = async (): Promise<Usage> =>
    agency === undefined
      ? fromUserUsage(await call("getUserUsage", { query }))
      : fromAgencyUsage(await call("getAgencyUsage", { params: { agency }, query }));
  return createSource(load, pollWhileVisible(pollIntervalMs));
}

/** Numbers where the input is numeric; other text is sent as it is, for the host to reject with a message. */
export type BudgetInput = Partial<Record<Exclude<keyof Budget, "per">, number | string>> & { per: string };

export async function setBudget(agency: string | undefined, input: BudgetInput): Promise<void> {
  const body = input as Budget;
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
