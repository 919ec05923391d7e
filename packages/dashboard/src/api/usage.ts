import type { AgencyUsage, Budget, Report, Standing, UserUsage } from "@thinkery/sdk";
import { everySoOften } from "./follow.ts";
import { call } from "./host.ts";
import { createSource, type Source } from "./source.ts";

const interval = 10_000;

/** A part of what was used, and whose it is. Whoever is gone is told apart by when they were made. */
export interface Share extends Figures {
  name: string;
  createdAt: string;
}

export type Figures = Report["total"];

/** What an agency has used, or all agencies of a user. */
export interface Usage extends Report {
  shares: Share[];
  /** Every limit that holds, the widest last. */
  budget: Standing[];
}

/** For so many days, today the last of them. */
export function usageOf(agency: string | undefined, days: number): Source<Usage> {
  const query = { days };
  const load = async (): Promise<Usage> =>
    agency === undefined ? ofUser(await call("getUserUsage", { query })) : ofAgency(await call("getAgencyUsage", { params: { agency }, query }));
  return createSource(load, everySoOften(interval));
}

/** A number where one was written; anything else goes to the host as it is, which says what is wrong with it. */
export type WrittenBudget = Partial<Record<Exclude<keyof Budget, "per">, number | string>> & { per: string };

export async function setBudget(agency: string | undefined, written: WrittenBudget): Promise<void> {
  const body = written as Budget;
  await (agency === undefined ? call("putUserBudget", { body }) : call("putAgencyBudget", { params: { agency }, body }));
}

export async function clearBudget(agency: string | undefined): Promise<void> {
  await (agency === undefined ? call("deleteUserBudget") : call("deleteAgencyBudget", { params: { agency } }));
}

function ofUser({ byAgency, ...usage }: UserUsage): Usage {
  return { ...usage, shares: byAgency.map(({ agency, ...share }) => ({ name: agency, ...share })) };
}

function ofAgency({ byAgent, ...usage }: AgencyUsage): Usage {
  return { ...usage, shares: byAgent.map(({ agent, ...share }) => ({ name: agent, ...share })) };
}
