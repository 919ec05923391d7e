import { type BudgetKind, globalAgency, parseAddress, type BudgetStatus } from "@thinkery/sdk";
import type { UnknownAmount } from "../../store/budget-status.ts";
import { TurnError } from "../turn-error.ts";

/** What ends a turn whose budget is used up: which limit, whose, how far, and what would raise it. */
export function createBudgetError(budgetStatus: BudgetStatus, agent: string): TurnError {
  const { level, kind, per, spent, reserved, limit } = budgetStatus;
  const agency = parseAddress(agent)?.agency ?? globalAgency;
  const [who, its] = {
    turn: ["The turn has", "its"],
    agent: ["The agent has", "its"],
    agency: [`The agency “${agency}” has`, "its"],
    user: ["Your agencies have", "your"],
  }[level];
  const allowed = `${formatAmount(kind, limit)}${formatUnit(kind, limit)}`;
  const aside = reserved > 0 ? `, and ${formatAmount(kind, reserved)} more is set aside for calls under way` : "";
  const message = `${who} used ${formatAmount(kind, spent)} of the ${allowed} that ${its} budget allows${per === "day" ? " a day" : ""}${aside}.`;
  return new TurnError("budget", message, createAdvice(budgetStatus, agency), budgetStatus);
}

function createAdvice({ level, kind, per }: BudgetStatus, agency: string): string {
  const tomorrow = per === "day" ? " It begins anew at midnight, UTC." : "";
  if (level === "turn") return `Say “go on” for another turn, or raise config.budget.${kind} in the blueprint.`;
  if (level === "agent") return `Raise config.budget.agent.${kind} in the blueprint.${tomorrow}`;
  const target = level === "agency" ? ` @${agency}` : "";
  return `Raise it with \`thinkery budget set${target} ${cliFlags[kind]} …\`.${tomorrow}`;
}

const cliFlags: Record<BudgetKind, string> = {
  steps: "--steps",
  tokens: "--tokens",
  costUsd: "--cost",
  seconds: "--time",
};

/** A limit that cannot be kept is no limit, so nothing is spent under it. */
export function createUnenforceableError(budgetStatus: BudgetStatus, unknown: UnknownAmount, model: string): TurnError {
  const [message, advice] =
    unknown === "price"
      ? [
          `The price of ${model} is not known, so the ${budgetStatus.level}'s limit of cost cannot be kept.`,
          "Add the model to “prices” in config.jsonc and restart the host, or limit tokens in place of the cost.",
        ]
      : [
          `The provider of ${model} does not say how many tokens a call used, so the ${budgetStatus.level}'s limit of ${budgetStatus.kind === "tokens" ? "tokens" : "cost"} cannot be kept.`,
          "Use another model, or limit steps and time in place of tokens and cost.",
        ];
  return new TurnError("budget", message, advice, budgetStatus);
}

/** With as many digits as it takes to see that it is not nothing. */
function formatAmount(kind: BudgetKind, value: number): string {
  if (kind !== "costUsd") return String(Number(value.toFixed(1)));
  return `$${value >= 0.01 || value === 0 ? value.toFixed(2) : value.toPrecision(2)}`;
}

function formatUnit(kind: BudgetKind, value: number): string {
  const units = { steps: value === 1 ? " call" : " calls", tokens: " tokens", costUsd: "", seconds: " s" };
  return units[kind];
}
