import type { ScheduleRun } from "@thinkery/sdk";
import { sanitizeText } from "../chat/call/sanitize-text.ts";
import { Link } from "../frame/link.tsx";
import { buildTurnPath } from "../frame/navigation.ts";
import { DateTime } from "../parts/date-time.tsx";
import { describeRun, formatInZone } from "./describe-schedule.ts";

interface RunListProps {
  agency: string;
  agent: string;
  runs: readonly ScheduleRun[];
}

/** The runs of a schedule and the times it missed, newest first. */
export function RunList({ agency, agent, runs }: RunListProps) {
  if (runs.length === 0) return <p className="faint">It has not run yet.</p>;
  return (
    <ul className="runs">
      {runs.map((run) => {
        const { text, tone } = describeRun(run);
        return (
          <li key={`${run.dueAt} ${run.at} ${run.runId ?? run.status}`} data-status={run.status}>
            <span className="dot" data-tone={tone} />
            <span>
              <DateTime at={run.dueAt} />
              {run.until !== undefined && ` to ${formatInZone(run.until, undefined)}`}
            </span>
            <span className="run-text" data-tone={tone}>
              {sanitizeText(text)}
            </span>
            {run.runId !== undefined && <Link href={buildTurnPath(agency, agent, run.runId)}>Message</Link>}
          </li>
        );
      })}
    </ul>
  );
}
