/** A property of a call's input in a form. */
export interface InputField {
  name: string;
  kind: "text" | "number" | "flag" | "json";
  /** As in the form. A flag is `true` or `false`. */
  text: string;
}

/** A call's input while a person changes it: property by property, or as JSON. */
export type InputDraft = { mode: "fields"; fields: readonly InputField[] } | { mode: "json"; text: string };

/** The new input, or what is wrong with it. The issue of JSON text has no field. */
export type InputResult = { input: unknown } | { issue: string; field?: string };

const maxFields = 12;

/** Objects of a few properties are edited as fields, everything else as JSON. */
export function createInputDraft(input: unknown): InputDraft {
  return toFieldsDraft(input) ?? toJsonDraft(input);
}

export function toJsonDraft(input: unknown): InputDraft {
  return { mode: "json", text: JSON.stringify(input, null, 2) ?? "" };
}

/** Returns undefined if the input is not an object of a few properties. */
export function toFieldsDraft(input: unknown): InputDraft | undefined {
  if (input === null || typeof input !== "object" || Array.isArray(input)) return undefined;
  const entries = Object.entries(input);
  if (entries.length === 0 || entries.length > maxFields) return undefined;
  return { mode: "fields", fields: entries.map(([name, value]) => toField(name, value)) };
}

export function changeField(draft: InputDraft, name: string, text: string): InputDraft {
  if (draft.mode === "json") return draft;
  return { ...draft, fields: draft.fields.map((field) => (field.name === name ? { ...field, text } : field)) };
}

export function readInputDraft(draft: InputDraft): InputResult {
  if (draft.mode === "json") return readJson(draft.text);
  const entries: [string, unknown][] = [];
  for (const field of draft.fields) {
    const result = readField(field);
    if ("issue" in result) return { ...result, field: field.name };
    entries.push([field.name, result.input]);
  }
  // Unlike assignments, this also defines a property named `__proto__`.
  return { input: Object.fromEntries(entries) };
}

function toField(name: string, value: unknown): InputField {
  if (typeof value === "string") return { name, kind: "text", text: value };
  if (typeof value === "number") return { name, kind: "number", text: String(value) };
  if (typeof value === "boolean") return { name, kind: "flag", text: String(value) };
  return { name, kind: "json", text: JSON.stringify(value, null, 2) };
}

function readField({ kind, text }: InputField): InputResult {
  switch (kind) {
    case "text":
      return { input: text };
    case "flag":
      return { input: text === "true" };
    case "number": {
      const number = Number(text);
      return text.trim() === "" || !Number.isFinite(number) ? { issue: "This is not a number." } : { input: number };
    }
    case "json":
      return readJson(text);
  }
}

function readJson(text: string): InputResult {
  try {
    return { input: JSON.parse(text) as unknown };
  } catch (error) {
    return { issue: `This is not JSON: ${error instanceof Error ? error.message : "it cannot be parsed"}` };
  }
}
