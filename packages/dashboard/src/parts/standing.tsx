import type { BudgetKind, BudgetLevel, Standing } from "@thinkery/sdk";
import { amount, amountOf, percent } from "./amount.ts";
import { Meter, toneOf } from "./meter.tsx";

const kinds: Record<BudgetKind, string> = { steps: "Calls to models", tokens: "Tokens", costUsd: "Cost", seconds: "Time" };

const whose: Record<BudgetLevel, string> = { turn: "This turn", agent: "This agent", agency: "This agency", user: "All your agencies" };

const periods: Record<Standing["per"], string> = { turn: "in one turn", day: "a day", ever: "for good" };

/** How far one limit of a budget is used up, as a bar with words. */
export function StandingBar({ standing }: { standing: Standing }) {
  const { level, kind, per, limit, spent, reserved } = standing;
  const used = amountOf(kind, spent, limit);
  const aside = reserved > 0 ? `, ${amount(kind, reserved)} set aside for calls under way` : "";
  return (
    <div className="standing" data-level={level} data-kind={kind}>
      <p className="standing-head">
        <span>
          {kinds[kind]} <span className="faint">{periods[per]}</span>
        </span>
        <span className="standing-share" data-tone={toneOf(spent / limit)}>
          {percent(spent, limit)}
        </span>
      </p>
      <Meter label={`${kinds[kind]} ${periods[per]}`} words={`${percent(spent, limit)}: ${used}${aside}`} share={spent / limit} aside={reserved / limit} />
      <p className="standing-words">
        {used}
        {aside}
      </p>
    </div>
  );
}

/** Limits by whose they are, the narrowest first; `own` is whose it is where nothing else is said. */
export function Standings({ standings, own }: { standings: readonly Standing[]; own?: BudgetLevel }) {
  const levels = [...new Set(standings.map(({ level }) => level))];
  return levels.map((level) => (
    <div key={level} className="standings">
      {level !== own && <h3>{whose[level]}</h3>}
      {standings
        .filter((standing) => standing.level === level)
        .map((standing) => (
          <StandingBar key={standing.kind} standing={standing} />
        ))}
    </div>
  ));
}
