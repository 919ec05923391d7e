import { useId } from "react";
import { Field } from "../parts/field.tsx";
import { type Unit, units, type WhenDraft, type WhenKind, whenKinds } from "./schedule-input.ts";

interface WhenFieldsProps {
  draft: WhenDraft;
  issue: string | undefined;
  onChange(draft: WhenDraft): void;
}

const keysOf = <K extends string>(object: Readonly<Record<K, unknown>>) => Object.keys(object) as K[];
const timeZones = Intl.supportedValuesOf("timeZone");

/** When a schedule is due: an interval, a cron expression, a date, or a delay. */
export function WhenFields({ draft, issue, onChange }: WhenFieldsProps) {
  const { kind, amount, unit, cron, at, timeZone } = draft;
  const zones = useId();
  const change = (part: Partial<WhenDraft>) => onChange({ ...draft, ...part });
  return (
    <>
      <div className="when-fields">
        <Field label="When">
          {(props) => (
            <select {...props} value={kind} onChange={(event) => change({ kind: event.target.value as WhenKind })}>
              {keysOf(whenKinds).map((kind) => (
                <option key={kind} value={kind}>
                  {whenKinds[kind]}
                </option>
              ))}
            </select>
          )}
        </Field>
        {(kind === "every" || kind === "in") && (
          <>
            <Field label="Amount" error={issue}>
              {(props) => (
                <input
                  {...props}
                  inputMode="decimal"
                  autoComplete="off"
                  value={amount}
                  onChange={(event) => change({ amount: event.target.value })}
                />
              )}
            </Field>
            <Field label="Unit">
              {(props) => (
                <select {...props} value={unit} onChange={(event) => change({ unit: event.target.value as Unit })}>
                  {keysOf(units).map((unit) => (
                    <option key={unit}>{unit}</option>
                  ))}
                </select>
              )}
            </Field>
          </>
        )}
        {kind === "cron" && (
          <Field label="Expression" hint="Minute, hour, day, month, weekday">
            {(props) => (
              <input
                {...props}
                className="mono"
                autoComplete="off"
                autoCapitalize="off"
                spellCheck={false}
                value={cron}
                onChange={(event) => change({ cron: event.target.value })}
              />
            )}
          </Field>
        )}
        {kind === "at" && (
          <Field label="Date and time">
            {(props) => (
              <input
                {...props}
                type="datetime-local"
                value={at}
                onChange={(event) => change({ at: event.target.value })}
              />
            )}
          </Field>
        )}
      </div>
      {(kind === "cron" || kind === "at") && (
        <Field label="Time zone">
          {(props) => (
            <>
              <input
                {...props}
                list={zones}
                autoComplete="off"
                spellCheck={false}
                value={timeZone}
                onChange={(event) => change({ timeZone: event.target.value })}
              />
              <datalist id={zones}>
                {timeZones.map((zone) => (
                  <option key={zone} value={zone} />
                ))}
              </datalist>
            </>
          )}
        </Field>
      )}
    </>
  );
}
