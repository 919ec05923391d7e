import { findNearest } from "../internal/nearest.ts";
import { fail, type ValidationIssue } from "../protocol/errors.ts";
import type { Variables, Workflow } from "../protocol/workflow.ts";
import { parseTemplate } from "./template.ts";

/** What the placeholders of a workflow stand for. */
export interface PlaceholderValues {
  workflow: { name: string; tag?: string | undefined };
  /** Omit it where there are no environment variables of the person who runs the workflow. */
  env?: Readonly<Record<string, string | undefined>> | undefined;
  vars?: Readonly<Variables> | undefined;
  /** The outputs of setup steps, by their names. */
  setup?: Readonly<Record<string, string>> | undefined;
}

/** A placeholder that has no value, and where it is. */
export interface PlaceholderIssue extends ValidationIssue {
  /** Which of the openings of its text it is, escaped ones included. */
  index: number;
  /** The variable or the environment variable that only needs a value. */
  missing?: { kind: "vars" | "env"; name: string };
  suggestion?: string;
}

/** A text of a workflow in which placeholders are replaced. */
interface Template {
  path: ValidationIssue["path"];
  text: string;
  /** The names of the setup steps that have run before. */
  setup: readonly string[];
}

/** The parts of a workflow that have placeholders. */
export type WorkflowTexts = Pick<Workflow, "agents" | "context" | "setup" | "kickoff">;

/** Lists the texts of a workflow in which placeholders are replaced, in the order in which that happens. */
function listTemplates({ agents, context, setup = [], kickoff }: WorkflowTexts): Template[] {
  const all = listSetupNames(setup);
  const prompts = Object.entries(agents).map(([name, agent]) => ({
    path: ["agents", name, "system_prompt"],
    text: agent.system_prompt ?? "",
    setup: all,
  }));
  const documents = Object.entries(context?.documents ?? {}).map(([name, text]) => ({
    path: ["context", "documents", name],
    text,
    setup: all,
  }));
  const steps = setup.map(({ shell }, index) => ({
    path: ["setup", index, "shell"],
    text: shell,
    setup: listSetupNames(setup.slice(0, index)),
  }));
  return [...steps, ...prompts, ...documents, { path: ["kickoff"], text: kickoff ?? "", setup: all }];
}

const listSetupNames = (setup: NonNullable<Workflow["setup"]>) => setup.flatMap(({ as }) => as ?? []);

/** Returns the names in the placeholders of a workflow, each once: `vars.branch`, `env.HOME`, `diff`. */
export function listPlaceholders(workflow: WorkflowTexts): string[] {
  const parts = listTemplates(workflow).flatMap(({ text }) => parseTemplate(text));
  return [...new Set(parts.flatMap((part) => (part.kind === "name" ? part.name : [])))];
}

/** Checks the placeholders of a workflow before its setup has run. */
export function checkPlaceholders(
  workflow: WorkflowTexts,
  values: Omit<PlaceholderValues, "setup">,
): PlaceholderIssue[] {
  const later = listSetupNames(workflow.setup ?? []);
  return listTemplates(workflow).flatMap((template) => {
    const setup = Object.fromEntries(template.setup.map((name) => [name, ""]));
    return findIssues(template, { ...values, setup }, later);
  });
}

/**
 * Replaces the placeholders of one text. Values are inserted as they are: what looks like a placeholder in them stays.
 * Throws an error that names each placeholder without a value, and its place.
 */
export function interpolate(template: string, values: PlaceholderValues, path: ValidationIssue["path"]): string {
  const issues = findIssues({ path, text: template }, values, []);
  if (issues.length > 0) throw createPlaceholderError(issues);
  return insert(template, values);
}

/**
 * Replaces the placeholders of a whole workflow. Its setup is left as it is: each step is interpolated when the outputs
 * of the steps before it are known. Throws an error with all placeholders that have no value.
 */
export function resolveWorkflow<Texts extends WorkflowTexts>(workflow: Texts, values: PlaceholderValues): Texts {
  const issues = listTemplates({ ...workflow, setup: [] }).flatMap((template) => findIssues(template, values, []));
  if (issues.length > 0) throw createPlaceholderError(issues);
  const { agents, context, kickoff } = workflow;
  const documents = context?.documents;
  return {
    ...workflow,
    agents: mapValues(agents, (agent) =>
      agent.system_prompt === undefined ? agent : { ...agent, system_prompt: insert(agent.system_prompt, values) },
    ),
    ...(documents ? { context: { ...context, documents: mapValues(documents, (text) => insert(text, values)) } } : {}),
    ...(kickoff === undefined ? {} : { kickoff: insert(kickoff, values) }),
  };
}

/** Creates the error for placeholders without a value. */
export function createPlaceholderError(issues: readonly PlaceholderIssue[]): Error {
  const [first] = issues;
  const details = issues.map(({ path, message }) => ({ path, message }));
  const message = `${first?.path.join(".") ?? ""}: ${first?.message ?? ""}`;
  return fail("bad_request", /[.?]$/.test(message) ? message : `${message}.`, {
    issues: details,
    ...(first?.suggestion === undefined ? {} : { suggestion: first.suggestion }),
  });
}

function insert(template: string, values: PlaceholderValues): string {
  return parseTemplate(template)
    .map((part) =>
      part.kind === "text" ? part.text : part.kind === "name" ? (findValue(part.name, values) ?? "") : "",
    )
    .join("");
}

function findValue(name: string, { workflow, env, vars, setup }: PlaceholderValues): string | undefined {
  const [scope = "", key] = name.split(".");
  if (key === undefined) return readOwn(setup, scope);
  if (scope === "workflow") return key === "name" ? workflow.name : key === "tag" ? workflow.tag : undefined;
  if (scope === "env") return readOwn(env, key);
  const value = scope === "vars" ? readOwn(vars, key) : undefined;
  return value === undefined ? undefined : String(value);
}

// Names such as `constructor` are allowed, and must not find what every object has.
function readOwn<Value>(values: Readonly<Record<string, Value>> | undefined, name: string): Value | undefined {
  return values && Object.hasOwn(values, name) ? values[name] : undefined;
}

function findIssues(
  { path, text }: Pick<Template, "path" | "text">,
  values: PlaceholderValues,
  later: readonly string[],
): PlaceholderIssue[] {
  return parseTemplate(text).flatMap((part): PlaceholderIssue[] => {
    if (part.kind === "text") return [];
    const { index } = part;
    if (part.kind === "malformed") return [{ path, index, message: `“${part.source}” ${part.reason}` }];
    return findValue(part.name, values) === undefined ? [{ path, index, ...explain(part.name, values, later) }] : [];
  });
}

function explain(
  name: string,
  values: PlaceholderValues,
  later: readonly string[],
): Pick<PlaceholderIssue, "message" | "missing" | "suggestion"> {
  const suggestion = findSuggestion(name, values);
  const advice = suggestion === undefined ? "" : `. Did you mean “${suggestion}”?`;
  const found = suggestion === undefined ? {} : { suggestion };
  const [scope = "", key] = name.split(".");
  if (name === "workflow.tag") return { message: "“workflow.tag” has no value: this run has no tag" };
  if (scope === "vars" && key !== undefined) {
    const hint = advice || `. Give it one with --var ${key}=…, or under vars`;
    return { message: `the variable “${name}” has no value${hint}`, missing: { kind: "vars", name: key }, ...found };
  }
  if (scope === "env" && key !== undefined) {
    if (!values.env) return { message: `“${name}” is only known where the command line runs the workflow` };
    return {
      message: `the environment variable “${key}” is not set${advice}`,
      missing: { kind: "env", name: key },
      ...found,
    };
  }
  if (later.includes(name)) return { message: `“${name}” is the output of this or a later setup step` };
  return { message: `“${name}” is not known${advice}`, ...found };
}

function findSuggestion(name: string, { workflow, env = {}, vars = {}, setup = {} }: PlaceholderValues) {
  const scopes: Record<string, string[]> = {
    vars: Object.keys(vars),
    workflow: workflow.tag === undefined ? ["name"] : ["name", "tag"],
    env: Object.keys(env),
  };
  const [scope = "", key] = name.split(".");
  // Somebody who forgets where a value is from has its name right.
  const last = key ?? scope;
  if (key !== undefined && Object.hasOwn(setup, last)) return last;
  const other = ["vars", "workflow"].find((known) => known !== scope && scopes[known]?.includes(last));
  if (other) return `${other}.${last}`;
  if (key === undefined) return findNearest(name, Object.keys(setup));
  const nearest = Object.hasOwn(scopes, scope) ? findNearest(key, scopes[scope] ?? []) : undefined;
  return nearest === undefined ? undefined : `${scope}.${nearest}`;
}

function mapValues<Value, Mapped>(
  record: Readonly<Record<string, Value>>,
  map: (value: Value) => Mapped,
): Record<string, Mapped> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
}
