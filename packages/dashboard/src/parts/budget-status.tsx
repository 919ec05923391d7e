import type { BudgetKind, BudgetLevel, BudgetStatus } from "@thinkery/sdk";
import { formatAmount, formatUsedAmount, formatPercent } from "./amount.ts";
import { Meter, getTone } from "./meter.tsx";

const kindLabels: Record<BudgetKind, string> = {
  steps: "Model calls",
  tokens: "Tokens",
  costUsd: "Cost",
  seconds: "Time",
};

const levelLabels: Record<BudgetLevel, string> = {
  turn: "This turn",
  agent: "This agent",
  agency: "This agency",
  user: "All your agencies",
};

const periodLabels: Record<BudgetStatus["per"], string> = { turn: "per turn", day: "per day", ever: "in total" };

/** Usage of one budget limit, as a bar with text. */
export function BudgetStatusBar({ budgetStatus }: { budgetStatus: BudgetStatus }) {
  const { level, kind, per, limit, spent, reserved } = budgetStatus;
  const used = formatUsedAmount(kind, spent, limit);
  const reservedText = reserved > 0 ? `, ${formatAmount(kind, reserved)} reserved` : "";
  return (
    <div className="budget-status" data-level={level} data-kind={kind}>
      <p className="budget-status-head">
        <span>
          {kindLabels[kind]} <span className="faint">{periodLabels[per]}</span>
        </span>
        <span className="budget-status-share" data-tone={getTone(spent / limit)}>
          {formatPercent(spent, limit)}
        </span>
      </p>
      <Meter
        label={`${kindLabels[kind]} ${periodLabels[per]}`}
        valueText={`${formatPercent(spent, limit)}: ${used}${reservedText}`}
        share={spent / limit}
        reserved={reserved / limit}
      />
      <p className="budget-status-text">
        {used}
        {reservedText}
      </p>
    </div>
  );
}

/** Limits grouped by level, the narrowest first. The group of level `own` has no heading. */
export function BudgetStatusList({ statuses, own }: { statuses: readonly BudgetStatus[]; own?: BudgetLevel }) {
  const levels = [...new Set(statuses.map(({ level }) => level))];
  return levels.map((level) => (
    <div key={level} className="budget-statuses">
      {level !== own && <h3>{levelLabels[level]}</h3>}
      {statuses
        .filter((budgetStatus) => budgetStatus.level === level)
        .map((budgetStatus) => (
          <BudgetStatusBar key={budgetStatus.kind} budgetStatus={budgetStatus} />
        ))}
    </div>
  ));
}
