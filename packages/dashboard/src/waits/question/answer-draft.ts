import type { AnswerField, Control } from "./parse-schema.ts";

/** What a person has entered: a text, the positions of chosen values, or the drafts of a group's fields. */
export type AnswerDraft = string | readonly number[] | { readonly [field: string]: AnswerDraft };

/** The issues of a draft by the path of their field, such as `address.city`; of the whole answer by "". */
export type AnswerIssues = Readonly<Record<string, string>>;

export type AnswerResult = { value: unknown } | { issues: AnswerIssues };

/** The value of a field that was left empty. */
const nothing = Symbol("nothing");

export function createDraft(control: Control, initial?: unknown): AnswerDraft {
  switch (control.kind) {
    case "text":
      return typeof initial === "string" ? initial : "";
    case "number":
      return typeof initial === "number" ? String(initial) : "";
    case "flag":
      return typeof initial === "boolean" ? String(initial) : "";
    case "choice": {
      const index = control.choices.findIndex(({ value }) => value === initial);
      return index < 0 ? "" : String(index);
    }
    case "choices": {
      const values: unknown[] = Array.isArray(initial) ? initial : [];
      return control.choices.flatMap(({ value }, index) => (values.includes(value) ? [index] : []));
    }
    case "group":
      return Object.fromEntries(
        control.fields.map((field) => [field.name, createDraft(field.control, readInitial(field, initial))]),
      );
    case "json":
      return initial === undefined ? "" : JSON.stringify(initial, null, 2);
  }
}

/** Converts a draft to the value of the answer. The host checks it against the schema. */
export function readDraft(control: Control, draft: AnswerDraft): AnswerResult {
  const issues: Record<string, string> = {};
  const value = read(control, draft, "", true, issues);
  return Object.keys(issues).length > 0 ? { issues } : { value };
}

export function changeDraft(draft: AnswerDraft, name: string, value: AnswerDraft): AnswerDraft {
  return typeof draft === "object" && !Array.isArray(draft) ? { ...draft, [name]: value } : draft;
}

export function getFieldDraft(draft: AnswerDraft, name: string): AnswerDraft {
  if (typeof draft !== "object" || Array.isArray(draft)) return "";
  const fields = draft as { readonly [field: string]: AnswerDraft };
  return Object.hasOwn(fields, name) ? (fields[name] ?? "") : "";
}

function readInitial({ name, initial }: AnswerField, group: unknown): unknown {
  if (initial !== undefined || group === null || typeof group !== "object") return initial;
  return Object.hasOwn(group, name) ? (group as Record<string, unknown>)[name] : undefined;
}

function read(
  control: Control,
  draft: AnswerDraft,
  path: string,
  required: boolean,
  issues: Record<string, string>,
): unknown {
  if (control.kind === "group") {
    const entries = control.fields.map((field) => {
      const inner = path === "" ? field.name : `${path}.${field.name}`;
      return [
        field.name,
        read(field.control, getFieldDraft(draft, field.name), inner, field.required, issues),
      ] as const;
    });
    const given = entries.filter(([, value]) => value !== nothing);
    return !required && given.length === 0 ? nothing : Object.fromEntries(given);
  }
  if (control.kind === "choices") {
    const chosen = Array.isArray(draft) ? (draft as readonly number[]) : [];
    const values = control.choices.flatMap(({ value }, index) => (chosen.includes(index) ? [value] : []));
    return !required && values.length === 0 ? nothing : values;
  }
  const text = typeof draft === "string" ? draft : "";
  const isEmpty = control.kind === "text" ? text === "" : text.trim() === "";
  if (isEmpty && !required) return nothing;
  if (isEmpty) {
    issues[path] = control.kind === "choice" || control.kind === "flag" ? "Choose one." : "This is needed.";
    return nothing;
  }
  const parsed = parseText(control, text);
  if ("issue" in parsed) issues[path] = parsed.issue;
  return "value" in parsed ? parsed.value : nothing;
}

function parseText(
  control: Exclude<Control, { kind: "group" | "choices" }>,
  text: string,
): { value: unknown } | { issue: string } {
  switch (control.kind) {
    case "text":
      return { value: text };
    case "flag":
      return { value: text === "true" };
    case "choice":
      return { value: control.choices[Number(text)]?.value };
    case "number": {
      const number = Number(text);
      if (!Number.isFinite(number)) return { issue: "This is not a number." };
      return control.integer && !Number.isInteger(number)
        ? { issue: "This is not a whole number." }
        : { value: number };
    }
    case "json":
      try {
        return { value: JSON.parse(text) as unknown };
      } catch (error) {
        return { issue: `This is not JSON: ${error instanceof Error ? error.message : "it cannot be parsed"}` };
      }
  }
}
