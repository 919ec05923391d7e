import { findNearest } from "../internal/nearest.ts";
import { fail, type ValidationIssue } from "../protocol/errors.ts";
import { maxDocumentChars, maxPromptChars, type Variables, type Workflow } from "../protocol/workflow.ts";
import { parseTemplate } from "./template.ts";

const maxIssues = 20;
/** A command of a setup step, with the outputs of earlier ones. */
const maxCommandChars = 10_000_000;
/** Characters of a template that take about a microsecond. */
const charsPerUnit = 5;

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
  const names = new Set<string>();
  for (const { text } of listTemplates(workflow))
    for (const part of parseTemplate(text)) if (part.kind === "name") names.add(part.name);
  return [...names];
}

/** Checks the placeholders of a workflow before its setup has run. */
export function checkPlaceholders(
  workflow: WorkflowTexts,
  values: Omit<PlaceholderValues, "setup">,
): PlaceholderIssue[] {
  const later = listSetupNames(workflow.setup ?? []);
  const issues: PlaceholderIssue[] = [];
  for (const template of listTemplates(workflow)) {
    const setup = Object.fromEntries(template.setup.map((name) => [name, ""]));
    findIssues(template, { ...values, setup }, later, issues);
  }
  return issues;
}

/**
 * Replaces the placeholders of one text. Values are inserted as they are: what looks like a placeholder in them stays.
 * Throws an error that names each placeholder without a value, and its place.
 */
export function interpolate(template: string, values: PlaceholderValues, path: ValidationIssue["path"]): string {
  const issues = findIssues({ path, text: template }, values, []);
  if (issues.length > 0) throw createPlaceholderError(issues);
  return insert(template, values, maxCommandChars, path);
}

/**
 * Replaces the placeholders of a whole workflow. Its setup is left as it is: each step is interpolated when the outputs
 * of the steps before it are known. Throws an error with the placeholders that have no value.
 */
export function resolveWorkflow<Texts extends WorkflowTexts>(workflow: Texts, values: PlaceholderValues): Texts {
  const resolving = resolveWorkflowInParts(workflow, values);
  for (;;) {
    const { done, value } = resolving.next();
    if (done) return value;
  }
}

/** Like `resolveWorkflow`, for workflows of anyone. Yields how much work each part was, in microseconds. */
export function* resolveWorkflowInParts<Texts extends WorkflowTexts>(
  workflow: Texts,
  values: PlaceholderValues,
): Generator<number, Texts, undefined> {
  const issues: PlaceholderIssue[] = [];
  for (const template of listTemplates({ ...workflow, setup: [] })) {
    findIssues(template, values, [], issues);
    yield template.text.length / charsPerUnit;
  }
  if (issues.length > 0) throw createPlaceholderError(issues);
  const agents: WorkflowTexts["agents"] = {};
  for (const [name, agent] of Object.entries(workflow.agents)) {
    const { system_prompt: prompt } = agent;
    const path = ["agents", name, "system_prompt"];
    agents[name] =
      prompt === undefined ? agent : { ...agent, system_prompt: insert(prompt, values, maxPromptChars, path) };
    yield (prompt?.length ?? 0) / charsPerUnit;
  }
  const documents: Record<string, string> = {};
  for (const [name, text] of Object.entries(workflow.context?.documents ?? {})) {
    documents[name] = insert(text, values, maxDocumentChars, ["context", "documents", name]);
    yield text.length / charsPerUnit;
  }
  const { context, kickoff } = workflow;
  return {
    ...workflow,
    agents,
    ...(context?.documents ? { context: { ...context, documents } } : {}),
    ...(kickoff === undefined ? {} : { kickoff: insert(kickoff, values, maxPromptChars, ["kickoff"]) }),
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

/** Values may be long, and a template may have each of them many times. */
const variablePattern = /\$\{\{[ \t]*vars\.([A-Za-z_][A-Za-z0-9_-]{0,63})[ \t]*\}\}/g;

/** Inserts variables where a text names them. What names none stays as it is. */
export function insertVariables(text: string, vars: Readonly<Variables>): string {
  return text.replace(variablePattern, (source, name: string) => String(readOwn(vars, name) ?? source));
}

function insert(template: string, values: PlaceholderValues, maxChars: number, path: ValidationIssue["path"]): string {
  const pieces: string[] = [];
  let chars = 0;
  for (const part of parseTemplate(template)) {
    const piece = part.kind === "text" ? part.text : part.kind === "name" ? (findValue(part.name, values) ?? "") : "";
    chars += piece.length;
    if (chars > maxChars)
      throw fail("bad_request", `${path.join(".")}: has more than ${maxChars} characters with the values inserted.`);
    pieces.push(piece);
  }
  return pieces.join("");
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

/** Adds what is wrong with a template, as far as anyone would read it. */
function findIssues(
  { path, text }: Pick<Template, "path" | "text">,
  values: PlaceholderValues,
  later: readonly string[],
  issues: PlaceholderIssue[] = [],
): PlaceholderIssue[] {
  for (const part of parseTemplate(text)) {
    if (issues.length >= maxIssues) break;
    if (part.kind === "text") continue;
    const { index } = part;
    if (part.kind === "malformed") issues.push({ path, index, message: `“${part.source}” ${part.reason}` });
    else if (findValue(part.name, values) === undefined)
      issues.push({ path, index, ...explain(part.name, values, later) });
  }
  return issues;
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
