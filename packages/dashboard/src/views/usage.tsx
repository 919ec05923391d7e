import type { Agency } from "@thinkery/sdk";
import { useEffect, useMemo, useRef, useState } from "react";
import { useSource } from "../api/source.ts";
import { type Usage, createUsageSource } from "../api/usage.ts";
import { Link } from "../frame/link.tsx";
import { buildPath } from "../frame/navigation.ts";
import { Empty } from "../parts/empty.tsx";
import { Notice } from "../parts/notice.tsx";
import "../styles/usage.css";
import { BudgetSection } from "./usage/budget.tsx";
import { buildChart } from "./usage/chart.ts";
import { DayChart } from "./usage/day-chart.tsx";
import { PeriodSwitch, defaultDays } from "./usage/period.tsx";
import { ModelTable, ShareTable } from "./usage/tables.tsx";
import { Totals } from "./usage/totals.tsx";

/** Usage and budget of one agency, or of all agencies of the user. */
export function UsageView({ user, agency }: { user: string; agency?: Agency }) {
  const [days, setDays] = useState(defaultDays);
  const source = useMemo(() => createUsageSource(agency?.id, days), [agency?.id, days]);
  const { value, error } = useSource(source);
  const usage = useLast(value);

  return (
    <article className="view">
      <header className="view-head usage-head">
        <div>
          {agency && (
            <p className="kicker">
              Agency <Link href={buildPath(agency.id)}>{agency.name}</Link>
            </p>
          )}
          <h1>Usage and budget</h1>
          <p className="lead">
            {agency ? "Usage of all agents in this agency." : "Usage of all agents in all your agencies."}
          </p>
        </div>
        <PeriodSwitch days={days} onDays={setDays} />
      </header>
      {error && (
        <Notice tone={usage ? "warn" : "bad"} title="Failed to load usage" onRetry={() => void source.reload()}>
          {usage ? `${error.message} Showing the last loaded data.` : error.message}
        </Notice>
      )}
      {!usage && !error && <p className="faint">Loading…</p>}
      {usage && <UsageSection user={user} agency={agency} usage={usage} days={days} />}
      {usage && <BudgetSection agency={agency} statuses={usage.budget} onChange={() => source.reload()} />}
      {usage && usage.total.calls > 0 && (
        <>
          <section aria-labelledby="by-model">
            <div className="section-head">
              <h2 id="by-model">By model</h2>
            </div>
            <ModelTable usage={usage} />
          </section>
          <section aria-labelledby="by-share">
            <div className="section-head">
              <h2 id="by-share">{agency ? "By agent" : "By agency"}</h2>
            </div>
            <ShareTable usage={usage} user={user} agency={agency} />
          </section>
        </>
      )}
    </article>
  );
}

interface UsageSectionProps {
  user: string;
  agency: Agency | undefined;
  usage: Usage;
  days: number;
}

function UsageSection({ agency, usage, days }: UsageSectionProps) {
  const chart = useMemo(() => buildChart(usage, days, Date.now()), [usage, days]);
  if (usage.total.calls === 0) {
    return (
      <Empty title={`No usage in the last ${days} days`}>
        <p>
          When an agent {agency ? "in this agency " : ""}calls a model, its tokens, cost and time appear here by day and
          model. From a terminal: <code>thinkery usage{agency ? ` @${agency.id}` : ""}</code>
        </p>
      </Empty>
    );
  }
  return (
    <>
      <Totals usage={usage} />
      <section aria-labelledby="by-day">
        <div className="section-head">
          <h2 id="by-day">By day</h2>
          <p className="faint">Days start at midnight UTC.</p>
        </div>
        <DayChart chart={chart} />
      </section>
    </>
  );
}

/** Keeps the last value while the next one loads, so that changing the period does not empty the page. */
function useLast<T>(value: T | undefined): T | undefined {
  const last = useRef(value);
  useEffect(() => {
    if (value !== undefined) last.current = value;
  }, [value]);
  return value ?? last.current;
}
