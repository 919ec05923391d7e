import { type ReactNode, useId } from "react";
import { showControlChars } from "../../chat/blocks.ts";
import { Field } from "../../parts/field.tsx";
import { type AnswerDraft, type AnswerIssues, changeDraft, getFieldDraft } from "./answer-draft.ts";
import type { Choice, Control } from "./parse-schema.ts";

/** More choices than these are a list to select from. */
const maxRadios = 6;

interface AnswerFieldProps {
  control: Control;
  label: string;
  hint?: string | undefined;
  optional?: boolean;
  /** Path of the value in the answer; "" is the answer itself. */
  path: string;
  draft: AnswerDraft;
  issues: AnswerIssues;
  onChange(draft: AnswerDraft): void;
}

/** The input for a value of an answer, or for the fields of a group. */
export function AnswerFieldView(props: AnswerFieldProps) {
  const { control, path, draft, issues, onChange } = props;
  const [label, hint] = [showControlChars(props.label), props.hint && showControlChars(props.hint)];
  const [error, optional] = [issues[path], props.optional ?? false];
  const field = { label, optional, error, ...(hint ? { hint } : {}) };
  switch (control.kind) {
    case "group":
      return (
        <Group label={path === "" ? undefined : label} hint={hint} error={error} optional={optional}>
          {control.fields.map(({ name, label, hint, required, control }) => (
            <AnswerFieldView
              key={name}
              control={control}
              label={label}
              hint={hint}
              optional={!required}
              path={path === "" ? name : `${path}.${name}`}
              draft={getFieldDraft(draft, name)}
              issues={issues}
              onChange={(value) => onChange(changeDraft(draft, name, value))}
            />
          ))}
        </Group>
      );
    case "flag":
      return (
        <Radios
          {...field}
          choices={flagChoices}
          chosen={toFlagIndex(draft)}
          onChoose={(i) => onChange(flags[i] ?? "")}
        />
      );
    case "choice":
      if (control.choices.length <= maxRadios) {
        const chosen = draft === "" ? undefined : Number(draft);
        return <Radios {...field} choices={control.choices} chosen={chosen} onChoose={(i) => onChange(String(i))} />;
      }
      return (
        <Field {...field}>
          {(props) => (
            <select {...props} value={toText(draft)} onChange={(event) => onChange(event.target.value)}>
              <option value="">{optional ? "None" : "Choose…"}</option>
              {control.choices.map(({ label }, index) => (
                <option key={index} value={index}>
                  {showControlChars(label)}
                </option>
              ))}
            </select>
          )}
        </Field>
      );
    case "choices":
      return <Checkboxes {...field} choices={control.choices} draft={draft} onChange={onChange} />;
    case "number":
      return (
        <Field {...field}>
          {(props) => (
            <input
              {...props}
              inputMode={control.integer ? "numeric" : "decimal"}
              autoComplete="off"
              value={toText(draft)}
              placeholder={describeRange(control)}
              onChange={(event) => onChange(event.target.value)}
            />
          )}
        </Field>
      );
    case "text":
      return (
        <Field {...field}>
          {(props) =>
            control.long ? (
              <textarea {...props} rows={3} value={toText(draft)} onChange={(event) => onChange(event.target.value)} />
            ) : (
              <input
                {...props}
                autoComplete="off"
                value={toText(draft)}
                onChange={(event) => onChange(event.target.value)}
              />
            )
          }
        </Field>
      );
    case "json":
      return (
        <Field {...field} hint={hint || "As JSON"}>
          {(props) => (
            <textarea
              {...props}
              className="mono"
              rows={4}
              spellCheck={false}
              autoCapitalize="off"
              dir="ltr"
              value={toText(draft)}
              onChange={(event) => onChange(event.target.value)}
            />
          )}
        </Field>
      );
  }
}

interface GroupProps {
  label: string | undefined;
  hint: string | undefined;
  error: string | undefined;
  optional: boolean;
  children: ReactNode;
}

function Group({ label, hint, error, optional, children }: GroupProps) {
  return (
    <fieldset className="answer-group" data-inner={label === undefined ? undefined : true}>
      {label !== undefined && (
        <legend>
          {label}
          {optional && <span className="faint"> optional</span>}
        </legend>
      )}
      {hint && <p className="field-hint">{hint}</p>}
      {children}
      {error && <p className="field-error">{error}</p>}
    </fieldset>
  );
}

const flags = ["true", "false"] as const;
const flagChoices: readonly Choice[] = [
  { value: true, label: "Yes" },
  { value: false, label: "No" },
];

function toFlagIndex(draft: AnswerDraft): number | undefined {
  const index = flags.findIndex((flag) => flag === draft);
  return index < 0 ? undefined : index;
}

interface ChoiceFieldProps {
  label: string;
  hint?: string;
  error: string | undefined;
  optional: boolean;
  choices: readonly Choice[];
}

function Radios({
  chosen,
  onChoose,
  ...props
}: ChoiceFieldProps & { chosen: number | undefined; onChoose(index: number): void }) {
  return (
    <ChoiceList
      {...props}
      renderInput={(index, name) => (
        <input type="radio" name={name} checked={index === chosen} onChange={() => onChoose(index)} />
      )}
    />
  );
}

function Checkboxes({
  draft,
  onChange,
  ...props
}: ChoiceFieldProps & { draft: AnswerDraft; onChange(draft: AnswerDraft): void }) {
  const chosen = Array.isArray(draft) ? (draft as readonly number[]) : [];
  return (
    <ChoiceList
      {...props}
      renderInput={(index) => (
        <input
          type="checkbox"
          checked={chosen.includes(index)}
          onChange={({ target }) =>
            onChange(target.checked ? [...chosen, index] : chosen.filter((other) => other !== index))
          }
        />
      )}
    />
  );
}

function ChoiceList({
  label,
  hint,
  error,
  optional,
  choices,
  renderInput,
}: ChoiceFieldProps & { renderInput(index: number, name: string): ReactNode }) {
  const id = useId();
  const describedBy = error ? `${id}-error` : hint ? `${id}-hint` : undefined;
  return (
    <fieldset className="field choices" aria-describedby={describedBy} data-invalid={error ? true : undefined}>
      <legend>
        {label}
        {optional && <span className="faint"> optional</span>}
      </legend>
      {choices.map((choice, index) => (
        <label key={index} className="choice">
          {renderInput(index, id)}
          <span>{showControlChars(choice.label)}</span>
        </label>
      ))}
      {error && (
        <p className="field-error" id={`${id}-error`}>
          {error}
        </p>
      )}
      {hint && !error && (
        <p className="field-hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </fieldset>
  );
}

const toText = (draft: AnswerDraft) => (typeof draft === "string" ? draft : "");

function describeRange({ min, max }: { min?: number; max?: number }): string | undefined {
  if (min !== undefined && max !== undefined) return `${min} to ${max}`;
  if (min !== undefined) return `at least ${min}`;
  return max === undefined ? undefined : `at most ${max}`;
}
