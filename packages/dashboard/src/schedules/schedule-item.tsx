import type { Schedule, ScheduleRun } from "@thinkery/sdk";
import { useEffect, useId, useState } from "react";
import { call } from "../api/host.ts";
import { getErrorMessage } from "../api/login.ts";
import { sanitizeText } from "../chat/call/sanitize-text.ts";
import { Button } from "../parts/button.tsx";
import { Confirm } from "../parts/confirm.tsx";
import { useNow } from "../parts/date-time.tsx";
import { DescriptionList } from "../parts/description-list.tsx";
import { formatUntil } from "../parts/duration.ts";
import { Icon } from "../parts/icon.tsx";
import {
  describeMissedPolicy,
  describeOverlapPolicy,
  describeRecurrence,
  formatInZone,
  isCron,
  isOtherZone,
} from "./describe-schedule.ts";
import { RunList } from "./run-list.tsx";

interface ScheduleItemProps {
  agency: string;
  agent: string;
  schedule: Schedule;
  /** Undefined for people who may only look. Resolves to whether it worked. */
  onChange: ((work: () => Promise<unknown>) => Promise<boolean>) | undefined;
}

const maxTitleChars = 80;

/** A schedule: when it is due, what the agent gets, and what became of its times. */
export function ScheduleItem({ agency, agent, schedule, onChange }: ScheduleItemProps) {
  const { id, name, when, timeZone, input, paused, history } = schedule;
  const [deleting, setDeleting] = useState(false);
  const [busy, setBusy] = useState(false);
  const heading = useId();
  const params = { agency, agent, schedule: id };
  const title = sanitizeText(name ?? input.trim().split("\n", 1)[0]?.slice(0, maxTitleChars) ?? "");
  const change = async (work: () => Promise<unknown>) => {
    setBusy(true);
    await onChange?.(work);
    setBusy(false);
  };
  return (
    <li className="schedule" aria-labelledby={heading} data-schedule={id} data-paused={paused || undefined}>
      <header className="schedule-head">
        <h2 id={heading}>{title}</h2>
        {paused && <span className="badge">paused</span>}
      </header>
      <p className="schedule-when">
        <span className="schedule-words">{describeRecurrence(when)}</span>
        {isCron(when) && <code>{sanitizeText(when)}</code>}
        {timeZone !== undefined && <span className="faint">{sanitizeText(timeZone)}</span>}
      </p>
      <NextTime schedule={schedule} />
      {onChange && (
        <p className="schedule-actions">
          <Button
            disabled={busy}
            onClick={() => void change(() => call("updateSchedule", { params, body: { paused: !paused } }))}
          >
            <Icon name={paused ? "play" : "pause"} /> {paused ? "Resume" : "Pause"}
          </Button>
          <Button disabled={busy} onClick={() => void change(() => call("runSchedule", { params }))}>
            Run now
          </Button>
          <Button kind="quiet" disabled={busy} onClick={() => setDeleting(true)}>
            <Icon name="trash" /> Delete
          </Button>
        </p>
      )}
      <details className="schedule-details">
        <summary>Details</summary>
        <DescriptionList
          of={[
            ["Message", <span className="schedule-input">{sanitizeText(input)}</span>],
            ["If missed", describeMissedPolicy(schedule)],
            ["Overlapping", describeOverlapPolicy(schedule)],
            ["Created by", sanitizeText(schedule.createdBy)],
            ["ID", <span className="mono">{id}</span>],
          ]}
        />
      </details>
      <History agency={agency} agent={agent} id={id} latest={history} />
      {deleting && (
        <Confirm
          title={`Delete “${title}”?`}
          action="Delete schedule"
          onClose={() => setDeleting(false)}
          onConfirm={async () => {
            await call("deleteSchedule", { params });
            setDeleting(false);
            await onChange?.(async () => undefined);
          }}
        >
          <p>It will not run again, and its history is deleted. Turns that it has started go on.</p>
        </Confirm>
      )}
    </li>
  );
}

function NextTime({ schedule: { nextAt, paused, timeZone } }: { schedule: Schedule }) {
  const now = useNow(1000);
  if (nextAt === null)
    return <p className="faint">{paused ? "Does not run while it is paused." : "Will not run again."}</p>;
  return (
    <p>
      Next <time dateTime={nextAt}>{formatInZone(nextAt, timeZone)}</time>
      {isOtherZone(timeZone) && ` (${timeZone})`} <span className="faint">{formatUntil(Date.parse(nextAt) - now)}</span>
    </p>
  );
}

interface HistoryProps {
  agency: string;
  agent: string;
  id: string;
  /** The latest runs, which are always up to date. */
  latest: readonly ScheduleRun[];
}

function History({ agency, agent, id, latest }: HistoryProps) {
  const [open, setOpen] = useState(false);
  const [runs, setRuns] = useState<readonly ScheduleRun[]>();
  const [failure, setFailure] = useState<string>();
  useEffect(() => {
    if (!open) return;
    let stale = false;
    call("listScheduleRuns", { params: { agency, agent, schedule: id }, query: { limit: 100 } }).then(
      ({ runs }) => !stale && setRuns(runs),
      (error: unknown) => !stale && setFailure(getErrorMessage(error)),
    );
    return () => void (stale = true);
  }, [agency, agent, id, open, latest]);
  const missed = latest.filter(({ status }) => status === "missed" || status === "skipped").length;
  return (
    <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>History{missed > 0 && <span className="warn-text"> · {missed} of the latest missed</span>}</summary>
      {open && <RunList agency={agency} agent={agent} runs={runs ?? latest} />}
      {failure !== undefined && <p className="field-error">{failure}</p>}
    </details>
  );
}
