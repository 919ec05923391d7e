import { type AgentAddress, type AgentBudget, type DaySpending, fail, formatAddress } from "@thinkery/sdk";
import type { AgentStore } from "../../store/agent-store.ts";
import type { SubagentRow } from "../../store/subagent-row.ts";
import { addReservations, noReservation, type Reservation, subtractReservation } from "../../store/usage-totals.ts";
import { formatDay, type UsageAmounts } from "../../store/usage.ts";
import type { TurnQueue } from "../../turn/admission/turn-queue.ts";
import {
  decideLease,
  type LeasingBudget,
  limitsSpending,
  type SpendingStatement,
  toSpent,
} from "../../turn/budget/child-leases.ts";
import type { Recorder } from "../../turn/loop/recorder.ts";
import type { AgentResolver } from "../agent-resolver.ts";
import type { Registration } from "../registration.ts";
import { findReporter, type Reporter } from "./find-reporter.ts";
import type { LeaseClient, LeasedCall, LeaseResult } from "./lease-client.ts";

interface LeasesOptions {
  address: AgentAddress;
  store: AgentStore;
  recorder: Recorder;
  registration: Registration;
  resolver: AgentResolver;
  queue(): TurnQueue;
  /** The leases of the agent itself, if it is a sub-agent. */
  lease: LeaseClient | undefined;
  onBusy(): void;
}

/** Leases an agent's budgets to its sub-agents, call by call, and keeps account of what they have spent. */
export class Leases {
  readonly #options: LeasesOptions;

  constructor(options: LeasesOptions) {
    this.#options = options;
  }

  /** Called by a sub-agent: notes what it has spent, and decides whether it may make a call. */
  async update(sender: Reporter, statement: SpendingStatement, leased?: LeasedCall): Promise<LeaseResult> {
    const { store, registration, resolver, queue, lease, address } = this.#options;
    const { taskId, runId } = this.#require(sender);
    if (!leased) {
      this.note(taskId, statement);
      lease?.tellSoon();
      return {};
    }
    const turn = runId === undefined ? undefined : store.turns.get(runId);
    const budget = await resolver.resolveBudget(registration.get(), turn?.props);
    // Nothing is awaited from here until the lease is recorded: others ask at the same time.
    const reserved = queue().measureReserved();
    const row = this.#require(sender);
    const { call, isTask } = leased;
    if (isTask && (row.state === "cancelled" || row.state === "interrupted")) return { isOver: true };
    const budgets = this.#listBudgets(row, statement, budget, isTask, reserved);
    const isOwnTask = isTask && lease?.isTask(runId) === true;
    const mustAsk = lease?.needsLease(isOwnTask) === true;
    if (budgets.length === 0 && !mustAsk) return { isUnlimited: true };
    const { refused, unknown, reserved: granted, isTight } = decideLease(budgets, { statement, call });
    this.note(taskId, { ...statement, reserved: granted });
    if (refused) return { refused: { ...refused, agent: formatAddress(address) }, ...(unknown ? { unknown } : {}) };
    const above = mustAsk && lease ? await this.#askAbove(taskId, leased, lease, isOwnTask) : {};
    return { ...above, ...(isTight ? { isTight } : {}) };
  }

  #require(sender: Reporter): SubagentRow {
    const row = findReporter(this.#options.store, sender);
    if (!row) throw fail("conflict", "The agent that delegated this does not know it any more.");
    return row;
  }

  async #askAbove(taskId: string, { call }: LeasedCall, lease: LeaseClient, isOwnTask: boolean): Promise<LeaseResult> {
    const release = () => {
      const held = this.#options.store.childSpending.getLease(taskId);
      if (held) this.note(taskId, { days: [], reserved: subtractReservation(held, call) });
    };
    try {
      const { isUnlimited: _, ...result } = await lease.leaseForChild(call, isOwnTask);
      if (result.refused) release();
      return result;
    } catch (error) {
      release();
      throw error;
    }
  }

  #listBudgets(
    { taskId, runId, usage }: SubagentRow,
    statement: SpendingStatement,
    budget: AgentBudget | undefined,
    isTask: boolean,
    own: { runId: string; reserved: Reservation } | undefined,
  ): LeasingBudget[] {
    const { store } = this.#options;
    const { childSpending, subagents, calls, spending } = store;
    const budgets: LeasingBudget[] = [];
    const known = statement.usage ?? usage;
    if (budget && isTask && runId !== undefined && limitsSpending(budget)) {
      const ownReserved = own?.runId === runId ? own.reserved : noReservation;
      budgets.push({
        level: "turn",
        per: "turn",
        limits: budget,
        others: {
          spent: addReservations(sumSpent(calls.getTurnAmounts(runId)), toSpent(subagents.sumUsage(runId, taskId))),
          reserved: addReservations(ownReserved, childSpending.sumLeases({ turn: runId, except: taskId })),
        },
        spent: known ? toSpent(known) : noReservation,
      });
    }
    if (budget?.agent && limitsSpending(budget.agent)) {
      const { per } = budget.agent;
      const day = per === "day" ? formatDay(Date.now()) : undefined;
      const range = { except: taskId, ...(day === undefined ? {} : { since: day, until: day }) };
      budgets.push({
        level: "agent",
        per,
        limits: budget.agent,
        others: {
          spent: addReservations(sumSpent(spending.readTotal(day)), sumSpent(childSpending.sum(range))),
          reserved: addReservations(own?.reserved ?? noReservation, childSpending.sumLeases({ except: taskId })),
        },
        spent: mergeDays(childSpending.readTask(taskId), statement.days)
          .filter((one) => day === undefined || one.day === day)
          .map((one) => toSpent(one))
          .reduce(addReservations, noReservation),
      });
    }
    return budgets;
  }

  /** Records a statement unless it is known. */
  note(taskId: string, { usage, days, reserved }: SpendingStatement): void {
    const { store, recorder, lease, onBusy } = this.#options;
    const row = store.subagents.get(taskId);
    if (!row) return;
    const known = store.childSpending.readTask(taskId);
    const isKnown =
      (usage === undefined || JSON.stringify(usage) === JSON.stringify(row.usage)) &&
      JSON.stringify(mergeDays(known, days)) === JSON.stringify(known) &&
      JSON.stringify(reserved) === JSON.stringify(store.childSpending.getLease(taskId) ?? noReservation);
    if (isKnown) return;
    const { childThreadId } = row;
    recorder.record({
      type: "subagent.spent",
      data: { childThreadId, taskId, ...(usage ? { usage } : {}), days, reserved },
    });
    // The heartbeat tells the agent above, too.
    if (lease) onBusy();
  }
}

/** Replaces the days that are stated. */
function mergeDays(known: readonly DaySpending[], stated: readonly DaySpending[]): DaySpending[] {
  const days = new Map([...known, ...stated].map((day) => [day.day, day]));
  return [...days.values()].sort((one, other) => (one.day < other.day ? -1 : 1));
}

const sumSpent = ({ calls, input_tokens, output_tokens, cost_usd }: UsageAmounts): Reservation => ({
  steps: calls,
  tokens: input_tokens + output_tokens,
  costUsd: cost_usd,
});
