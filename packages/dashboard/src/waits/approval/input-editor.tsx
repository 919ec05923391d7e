import { showControlChars } from "../../chat/blocks.ts";
import { Field } from "../../parts/field.tsx";
import {
  changeField,
  createInputDraft,
  type InputDraft,
  type InputField,
  readInputDraft,
  toFieldsDraft,
  toJsonDraft,
} from "./edit-input.ts";

interface InputEditorProps {
  draft: InputDraft;
  /** What is wrong with a field, or with the JSON text. */
  issue: { issue: string; field?: string } | undefined;
  onChange(draft: InputDraft): void;
}

/** A form for the input of a call: a field for each property, or JSON. */
export function InputEditor({ draft, issue, onChange }: InputEditorProps) {
  const current = readInputDraft(draft);
  const asFields = draft.mode === "json" && "input" in current ? toFieldsDraft(current.input) : undefined;
  return (
    <div className="input-editor">
      {draft.mode === "json" ? (
        <Field label="Input as JSON" error={issue?.issue}>
          {(props) => (
            <textarea
              {...props}
              {...codeProps}
              rows={Math.min(16, draft.text.split("\n").length + 1)}
              value={draft.text}
              onChange={(event) => onChange({ mode: "json", text: event.target.value })}
            />
          )}
        </Field>
      ) : (
        draft.fields.map((field) => (
          <FieldEditor
            key={field.name}
            field={field}
            error={issue?.field === field.name ? issue.issue : undefined}
            onChange={(text) => onChange(changeField(draft, field.name, text))}
          />
        ))
      )}
      {draft.mode === "fields" && "input" in current && (
        <button type="button" className="text-button" onClick={() => onChange(toJsonDraft(current.input))}>
          Edit as JSON
        </button>
      )}
      {asFields && "input" in current && (
        <button type="button" className="text-button" onClick={() => onChange(createInputDraft(current.input))}>
          Edit as fields
        </button>
      )}
    </div>
  );
}

interface FieldEditorProps {
  field: InputField;
  error: string | undefined;
  onChange(text: string): void;
}

const maxLineChars = 60;
const codeProps = {
  className: "mono",
  spellCheck: false,
  autoCapitalize: "off",
  autoComplete: "off",
  dir: "ltr",
} as const;

function FieldEditor({ field: { name, kind, text }, error, onChange }: FieldEditorProps) {
  const label = showControlChars(name);
  if (kind === "flag") {
    return (
      <label className="choice">
        <input type="checkbox" checked={text === "true"} onChange={({ target }) => onChange(String(target.checked))} />
        <span>{label}</span>
      </label>
    );
  }
  const isLong = kind === "json" || text.length > maxLineChars || text.includes("\n");
  return (
    <Field label={label} error={error} hint={kind === "json" ? "As JSON" : undefined}>
      {(props) =>
        isLong ? (
          <textarea
            {...props}
            {...codeProps}
            rows={Math.min(12, Math.max(2, text.split("\n").length + 1))}
            value={text}
            onChange={(event) => onChange(event.target.value)}
          />
        ) : (
          <input
            {...props}
            {...codeProps}
            inputMode={kind === "number" ? "decimal" : undefined}
            value={text}
            onChange={(event) => onChange(event.target.value)}
          />
        )
      }
    </Field>
  );
}
