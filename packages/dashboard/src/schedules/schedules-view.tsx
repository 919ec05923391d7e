import type { Think } from "@thinkery/sdk/react";
import { useEffect, useMemo, useState } from "react";
import { pollWhileVisible } from "../api/follow.ts";
import { call } from "../api/host.ts";
import { useHasScope } from "../api/login.ts";
import { readPages } from "../api/pages.ts";
import { createSource, useSource } from "../api/source.ts";
import { Button } from "../parts/button.tsx";
import { Empty } from "../parts/empty.tsx";
import { Icon } from "../parts/icon.tsx";
import { Notice } from "../parts/notice.tsx";
import { useChange } from "../parts/use-change.tsx";
import "../styles/schedules.css";
import { NewScheduleDialog } from "./new-schedule.tsx";
import { ScheduleItem } from "./schedule-item.tsx";

interface SchedulesViewProps {
  agency: string;
  agent: string;
  think: Think;
}

const pollIntervalMs = 5000;

/** When an agent gets messages by itself, and what became of each time. */
export function SchedulesView({ agency, agent, think }: SchedulesViewProps) {
  const canChange = useHasScope("chat", agency);
  const [adding, setAdding] = useState(false);
  const source = useMemo(
    () =>
      createSource(
        () =>
          readPages(async (query) => {
            const { schedules, next } = await call("listSchedules", { params: { agency, agent }, query });
            return { items: schedules, next };
          }),
        pollWhileVisible(pollIntervalMs),
      ),
    [agency, agent],
  );
  const { value, error } = useSource(source);
  // The agent may have made one itself, and a run may have begun or ended.
  useEffect(() => void source.reload(), [source, think.run, think.turnCount, think.queued]);

  const { change, failureNotice } = useChange(() => source.reload());
  const add = canChange && (
    <Button kind="main" onClick={() => setAdding(true)}>
      <Icon name="plus" /> New schedule
    </Button>
  );

  return (
    <section className="schedules" aria-label="Schedules">
      {value && value.items.length > 0 && <div className="schedules-bar">{add}</div>}
      {failureNotice}
      {error && (
        <Notice tone={value ? "warn" : "bad"} title="Failed to load the schedules" onRetry={() => void source.reload()}>
          {error.message}
        </Notice>
      )}
      {!value && !error && <p className="faint">Loading…</p>}
      {value?.items.length === 0 && (
        <Empty title="No schedules yet" action={add}>
          <p>
            A schedule sends this agent a message at set times, for example every morning. Times that pass while the
            host is down are made up for or shown as missed, as you choose. The agent can also schedule its own work.
            From a terminal: <code>thinkery schedule add</code>
          </p>
        </Empty>
      )}
      {value && value.items.length > 0 && (
        <ul className="schedule-list">
          {value.items.map((schedule) => (
            <ScheduleItem
              key={schedule.id}
              agency={agency}
              agent={agent}
              schedule={schedule}
              onChange={canChange ? change : undefined}
            />
          ))}
        </ul>
      )}
      {adding && (
        <NewScheduleDialog
          agency={agency}
          agent={agent}
          onCreated={() => void source.reload()}
          onClose={() => setAdding(false)}
        />
      )}
    </section>
  );
}
