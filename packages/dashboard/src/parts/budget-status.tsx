import type { BudgetKind, BudgetLevel, BudgetStatus } from "@thinkery/sdk";
import { formatAmount, formatUsedAmount, formatPercent } from "./amount.ts";
import { Meter, getTone } from "./meter.tsx";

const kindLabels: Record<BudgetKind, string> = {
  steps: "Calls to models",
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

const periodLabels: Record<BudgetStatus["per"], string> = { turn: "in one turn", day: "a day", ever: "for good" };

/** How far one limit of a budget is used up, as a bar with words. */
export function BudgetStatusBar({ budgetStatus }: { budgetStatus: BudgetStatus }) {
  const { level, kind, per, limit, spent, reserved } = budgetStatus;
  const used = formatUsedAmount(kind, spent, limit);
  const aside = reserved > 0 ? `, ${formatAmount(kind, reserved)} set aside for calls under way` : "";
  return (
    <div className="standing" data-level={level} data-kind={kind}>
      <p className="standing-head">
        <span>
          {kindLabels[kind]} <span className="faint">{periodLabels[per]}</span>
        </span>
        <span className="standing-share" data-tone={getTone(spent / limit)}>
          {formatPercent(spent, limit)}
        </span>
      </p>
      <Meter
        label={`${kindLabels[kind]} ${periodLabels[per]}`}
        words={`${formatPercent(spent, limit)}: ${used}${aside}`}
        share={spent / limit}
        aside={reserved / limit}
      />
      <p className="standing-words">
        {used}
        {aside}
      </p>
    </div>
  );
}

/** Limits by whose they are, the narrowest first; `own` is whose it is where nothing else is said. */
export function BudgetStatusList({ statuses, own }: { statuses: readonly BudgetStatus[]; own?: BudgetLevel }) {
  const levels = [...new Set(statuses.map(({ level }) => level))];
  return levels.map((level) => (
    <div key={level} className="statuses">
      {level !== own && <h3>{levelLabels[level]}</h3>}
      {statuses
        .filter((budgetStatus) => budgetStatus.level === level)
        .map((budgetStatus) => (
          <BudgetStatusBar key={budgetStatus.kind} budgetStatus={budgetStatus} />
        ))}
    </div>
  ));
}
