import { type BudgetKind, globalAgency, parseAddress, parseAgencyKey, type BudgetStatus } from "@thinkery/sdk";
import type { UnknownAmount } from "../../store/budget-status.ts";
import { TurnError } from "../turn-error.ts";

/** Creates the error that ends a turn over budget: which limit, whose, how much was used, and how to raise it. */
export function createBudgetError(budgetStatus: BudgetStatus, agent: string): TurnError {
  const { level, kind, per, spent, reserved, limit } = budgetStatus;
  const { id: agency } = parseAgencyKey(parseAddress(agent)?.agency ?? globalAgency);
  // An agent that delegated to this one may be out of budget.
  const owner = budgetStatus.agent === undefined ? undefined : formatName(budgetStatus.agent);
  const [subject, possessive] = {
    turn: [owner === undefined ? "The turn has" : `The turn of “${owner}”, which delegated this, has`, "its"],
    agent: [owner === undefined ? "The agent has" : `The agent “${owner}”, which delegated this, has`, "its"],
    agency: [`The agency “${agency}” has`, "its"],
    user: ["Your agencies have", "your"],
  }[level];
  const limitText = `${formatAmount(kind, limit)}${formatUnit(kind, limit)}`;
  const reservedText =
    reserved > 0 ? `, and ${formatAmount(kind, reserved)} more is reserved for calls in progress` : "";
  const message = `${subject} used ${formatAmount(kind, spent)} of the ${limitText} that ${possessive} budget allows${per === "day" ? " per day" : ""}${reservedText}.`;
  return new TurnError("budget", message, createAdvice(budgetStatus, agency), budgetStatus);
}

function createAdvice({ level, kind, per, agent }: BudgetStatus, agency: string): string {
  const resetText = per === "day" ? " It resets at midnight UTC." : "";
  if (level === "turn" && agent !== undefined)
    return `Raise config.budget.${kind} in the blueprint of “${formatName(agent)}”.`;
  if (level === "agent" && agent !== undefined)
    return `Raise config.budget.agent.${kind} in the blueprint of “${formatName(agent)}”.${resetText}`;
  if (level === "turn") return `Say “continue” to start another turn, or raise config.budget.${kind} in the blueprint.`;
  if (level === "agent") return `Raise config.budget.agent.${kind} in the blueprint.${resetText}`;
  const target = level === "agency" ? ` @${agency}` : "";
  return `Raise it with \`thinkery budget set${target} ${cliFlags[kind]} …\`.${resetText}`;
}

/** Returns the name of an agent within its agency. */
const formatName = (address: string) => parseAddress(address)?.path.join("/") ?? address;

const cliFlags: Record<BudgetKind, string> = {
  steps: "--steps",
  tokens: "--tokens",
  costUsd: "--cost",
  seconds: "--time",
};

/** Creates the error for a limit that cannot be enforced. Such a limit allows no spending at all. */
export function createUnenforceableError(budgetStatus: BudgetStatus, unknown: UnknownAmount, model: string): TurnError {
  const [message, advice] =
    unknown === "price"
      ? [
          `The price of ${model} is unknown, so the ${formatOwner(budgetStatus)} cost limit cannot be enforced.`,
          "Add the model to “prices” in config.jsonc and restart the host, or limit tokens instead of cost.",
        ]
      : [
          `The provider of ${model} does not report token usage, so the ${formatOwner(budgetStatus)} ${budgetStatus.kind === "tokens" ? "token" : "cost"} limit cannot be enforced.`,
          "Use another model, or limit steps and time instead of tokens and cost.",
        ];
  return new TurnError("budget", message, advice, budgetStatus);
}

const formatOwner = ({ level, agent }: BudgetStatus) =>
  agent === undefined ? `${level}'s` : `${level}'s (“${formatName(agent)}”)`;

/** Small costs keep enough digits not to read as zero. */
function formatAmount(kind: BudgetKind, value: number): string {
  if (kind !== "costUsd") return String(Number(value.toFixed(1)));
  return `$${value >= 0.01 || value === 0 ? value.toFixed(2) : value.toPrecision(2)}`;
}

function formatUnit(kind: BudgetKind, value: number): string {
  const units = { steps: value === 1 ? " call" : " calls", tokens: " tokens", costUsd: "", seconds: " s" };
  return units[kind];
}
