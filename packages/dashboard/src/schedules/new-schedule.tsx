import { missedPolicies, overlapPolicies, type NewSchedule } from "@thinkery/sdk";
import { useId, useState } from "react";
import { call } from "../api/host.ts";
import { announce } from "../frame/announce.tsx";
import { useNow } from "../parts/date-time.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { formatUntil } from "../parts/duration.ts";
import { Field } from "../parts/field.tsx";
import { Form } from "../parts/form.tsx";
import { MessageText } from "../parts/message-text.tsx";
import { describeCron } from "./describe-cron.ts";
import { formatInZone, isOtherZone } from "./describe-schedule.ts";
import { readWhen, type WhenDraft } from "./schedule-input.ts";
import { type Preview, usePreview } from "./use-preview.ts";
import { WhenFields } from "./when-fields.tsx";

interface NewScheduleProps {
  agency: string;
  agent: string;
  onCreated(): void;
  onClose(): void;
}

const missedLabels = { once: "Make up for them with one run", all: "Make up for all of them", skip: "Skip them" };
const overlapLabels = { queue: "Wait for it to end", skip: "Skip the time" };

/** A form for a schedule that shows its next times while it is filled in. */
export function NewScheduleDialog({ agency, agent, onCreated, onClose }: NewScheduleProps) {
  const [draft, setDraft] = useState<WhenDraft>(() => ({
    kind: "cron",
    amount: "1",
    unit: "hours",
    cron: "0 9 * * 1-5",
    at: "",
    timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  }));
  const when = readWhen(draft);
  const issue = when && "issue" in when ? when.issue : undefined;
  const preview = usePreview(agency, agent, when && "when" in when ? when : undefined);

  const create = async ({ input = "", name, missed, overlap, maxDelayMinutes }: Record<string, string>) => {
    if (!when || "issue" in when) return;
    const body = {
      ...when,
      input,
      ...(name === undefined ? {} : { name }),
      missed: missed as NewSchedule["missed"],
      overlap: overlap as NewSchedule["overlap"],
      ...(maxDelayMinutes === undefined ? {} : { maxDelaySeconds: Math.round(Number(maxDelayMinutes) * 60) }),
    };
    await call("createSchedule", { params: { agency, agent }, body });
    announce("Schedule added.");
    onCreated();
    onClose();
  };

  return (
    <Dialog title="New schedule" onClose={onClose}>
      <Form
        fields={["input", "name", "missed", "overlap", "maxDelaySeconds"]}
        action="Add schedule"
        ready={when !== undefined && issue === undefined}
        onSubmit={create}
        onCancel={onClose}
      >
        {(errors) => (
          <>
            <Field label="Message" hint="The agent gets this as a message each time." error={errors.input}>
              {(props) => <textarea {...props} name="input" rows={3} />}
            </Field>
            <WhenFields draft={draft} issue={issue} onChange={setDraft} />
            <NextTimes preview={preview} draft={draft} />
            <Field label="Name" optional error={errors.name}>
              {(props) => <input {...props} name="name" maxLength={120} autoComplete="off" />}
            </Field>
            <details className="schedule-more">
              <summary>If a time is missed or the previous run is not over</summary>
              <div className="form">
                <Field label="Times missed while the host is down" error={errors.missed}>
                  {(props) => (
                    <select {...props} name="missed" defaultValue="once">
                      {missedPolicies.map((policy) => (
                        <option key={policy} value={policy}>
                          {missedLabels[policy]}
                        </option>
                      ))}
                    </select>
                  )}
                </Field>
                <Field label="Minutes a run may be late" optional error={errors.maxDelaySeconds}>
                  {(props) => <input {...props} name="maxDelayMinutes" inputMode="decimal" autoComplete="off" />}
                </Field>
                <Field label="If the previous run is not over" error={errors.overlap}>
                  {(props) => (
                    <select {...props} name="overlap" defaultValue="queue">
                      {overlapPolicies.map((policy) => (
                        <option key={policy} value={policy}>
                          {overlapLabels[policy]}
                        </option>
                      ))}
                    </select>
                  )}
                </Field>
              </div>
            </details>
          </>
        )}
      </Form>
    </Dialog>
  );
}

function NextTimes({ preview, draft }: { preview: Preview | undefined; draft: WhenDraft }) {
  const now = useNow(30_000);
  const id = useId();
  const words = draft.kind === "cron" ? describeCron(draft.cron) : undefined;
  const zone = draft.kind === "cron" || draft.kind === "at" ? draft.timeZone.trim() || "UTC" : undefined;
  return (
    <div className="next-times" aria-live="polite" aria-labelledby={id}>
      <p id={id}>
        {words === undefined ? "Next times" : `Next times, ${words}`}
        {isOtherZone(zone) && ` (${zone})`}
      </p>
      {preview?.issue !== undefined ? (
        <p className="field-error">
          <MessageText text={preview.issue} />
        </p>
      ) : preview ? (
        <ol>
          {preview.next.map((at) => (
            <li key={at}>
              <time dateTime={at}>{formatInZone(at, zone)}</time>{" "}
              <span className="faint">{formatUntil(Date.parse(at) - now)}</span>
            </li>
          ))}
        </ol>
      ) : (
        <p className="faint">Enter when it is due.</p>
      )}
    </div>
  );
}
