import { readField, readTextField } from "../../chat/call/input.ts";

/** A value that an enum allows, with its text in the form. */
export interface Choice {
  value: string | number | boolean;
  label: string;
}

/** How a value of an answer is asked for. Whatever the form cannot draw is asked for as JSON. */
export type Control =
  | { kind: "text"; long: boolean }
  | { kind: "number"; integer: boolean; min?: number; max?: number }
  | { kind: "flag" }
  | { kind: "choice"; choices: readonly Choice[] }
  | { kind: "choices"; choices: readonly Choice[] }
  | { kind: "group"; fields: readonly AnswerField[] }
  | { kind: "json" };

/** A property of an answer. */
export interface AnswerField {
  name: string;
  label: string;
  hint?: string;
  required: boolean;
  /** The value that the form starts with. */
  initial?: unknown;
  control: Control;
}

const maxFields = 30;
const maxChoices = 50;
const maxShortText = 200;
/** A group in a group is asked for as JSON. */
const maxDepth = 2;

/** Parses the JSON schema of an answer, which a model may have written: what it does not understand is JSON. */
export function parseSchema(schema: unknown): Control {
  return parseControl(schema, 0);
}

/** Returns the paths of all values that have an input of their own. */
export function listPaths(control: Control, path = ""): ReadonlySet<string> {
  const inner = control.kind === "group" ? control.fields : [];
  const paths = inner.flatMap(({ name, control }) => [...listPaths(control, path === "" ? name : `${path}.${name}`)]);
  return new Set([path, ...paths]);
}

function parseControl(schema: unknown, depth: number): Control {
  const choices = parseChoices(schema);
  if (choices) return { kind: "choice", choices };
  switch (readTextField(schema, "type")) {
    case "string":
      return { kind: "text", long: isLongText(schema, depth) };
    case "number":
    case "integer":
      return parseNumber(schema);
    case "boolean":
      return { kind: "flag" };
    case "array": {
      const items = parseChoices(readField(schema, "items"));
      return items ? { kind: "choices", choices: items } : { kind: "json" };
    }
    case "object":
      return parseGroup(schema, depth);
    default:
      return { kind: "json" };
  }
}

function parseNumber(schema: unknown): Control {
  const [min, max] = [readNumber(schema, "minimum"), readNumber(schema, "maximum")];
  return {
    kind: "number",
    integer: readTextField(schema, "type") === "integer",
    ...(min === undefined ? {} : { min }),
    ...(max === undefined ? {} : { max }),
  };
}

/** A text without a limit is long if it is the whole answer, otherwise a line. */
function isLongText(schema: unknown, depth: number): boolean {
  if (readField(schema, "format") !== undefined || readField(schema, "pattern") !== undefined) return false;
  return (readNumber(schema, "maxLength") ?? (depth === 0 ? Infinity : 0)) > maxShortText;
}

function parseChoices(schema: unknown): Choice[] | undefined {
  const listed = readField(schema, "enum");
  const alternatives = readField(schema, "oneOf") ?? readField(schema, "anyOf");
  const isList = Array.isArray(listed);
  const items: unknown[] | undefined = isList ? listed : Array.isArray(alternatives) ? alternatives : undefined;
  if (!items || items.length === 0 || items.length > maxChoices) return undefined;
  const choices = items.map((item) => {
    const value = isList ? item : readField(item, "const");
    const label = isList ? undefined : readTextField(item, "title");
    return isScalar(value) ? { value, label: label ?? String(value) } : undefined;
  });
  return choices.every((choice) => choice !== undefined) ? choices : undefined;
}

function parseGroup(schema: unknown, depth: number): Control {
  const properties = readField(schema, "properties");
  const isDrawable =
    depth < maxDepth && properties !== null && typeof properties === "object" && !Array.isArray(properties);
  const entries = isDrawable ? Object.entries(properties) : [];
  // Properties that have no schema of their own could not be entered.
  const isOpen = ["additionalProperties", "patternProperties", "allOf", "if"].some((name) => {
    const value = readField(schema, name);
    return value !== undefined && value !== false && !(name === "additionalProperties" && value === true);
  });
  if (entries.length === 0 || entries.length > maxFields || isOpen) return { kind: "json" };
  const required = readField(schema, "required");
  const names = Array.isArray(required) ? required : [];
  return {
    kind: "group",
    fields: entries.map(([name, property]) => parseField(name, property, names.includes(name), depth + 1)),
  };
}

function parseField(name: string, schema: unknown, required: boolean, depth: number): AnswerField {
  const hint = readTextField(schema, "description");
  const initial = readField(schema, "default");
  return {
    name,
    label: readTextField(schema, "title") ?? name,
    ...(hint === undefined ? {} : { hint }),
    required,
    ...(initial === undefined ? {} : { initial }),
    control: parseControl(schema, depth),
  };
}

const isScalar = (value: unknown): value is Choice["value"] =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean";

function readNumber(schema: unknown, name: string): number | undefined {
  const value = readField(schema, name);
  return typeof value === "number" ? value : undefined;
}
