import { readFile, stat } from "node:fs/promises";
import { resolve } from "node:path";
import {
  checkPlaceholders,
  fail,
  type PlaceholderIssue,
  type PlaceholderValues,
  type Workflow,
  type WorkflowTexts,
} from "@thinkery/sdk";
import { YamlSource } from "../yaml/yaml-source.ts";
import { parseWorkflow } from "./parse-workflow.ts";
import { readPromptFile } from "./prompt-file.ts";
import { createWorkflowError, type WorkflowIssue } from "./workflow-issue.ts";

interface ReadOptions {
  cwd: string;
  values: Pick<PlaceholderValues, "env" | "vars">;
  /** Whether values may be missing, because the workflow is not about to run. */
  allowsMissing?: boolean;
}

export interface WorkflowFile {
  /** With its prompts in place of the names of their files. */
  workflow: Workflow;
  /** What has to be given when it runs: `vars.pr`, `env.TOKEN`. */
  missing: string[];
}

const maxFileBytes = 4 * 1024 * 1024;

/** Reads a workflow file and the prompts it names. Throws one error with everything that is wrong. */
export async function readWorkflow(file: string, { cwd, values, allowsMissing }: ReadOptions): Promise<WorkflowFile> {
  const path = resolve(cwd, file);
  const parsed = parseWorkflow(file, await readText(path, file));
  const { source } = parsed;
  const prompts = await readPrompts(source, parsed.value, { workflow: path, cwd });
  const texts = pickTexts(parsed.value, prompts.sources);
  const found = checkPlaceholders(texts, {
    workflow: { name: "", tag: "" },
    ...values,
    vars: mergeVars(texts, values),
  });
  // A misspelled name is an error at any time.
  const isMissing = ({ missing, suggestion }: PlaceholderIssue) => allowsMissing && missing && suggestion === undefined;
  const placeholders = found.filter((issue) => !isMissing(issue));
  const issues = [
    ...parsed.issues,
    ...prompts.issues,
    ...placeholders.map((issue) => locatePlaceholder(issue, source, prompts.sources)),
  ];
  if (issues.length > 0 || !parsed.workflow) throw createWorkflowError(issues);
  const workflow = { ...parsed.workflow, agents: insertPrompts(parsed.workflow.agents, prompts.sources) };
  const missing = found.flatMap((issue) => (issue.missing ? `${issue.missing.kind}.${issue.missing.name}` : []));
  return { workflow, missing: [...new Set(missing)] };
}

async function readText(path: string, file: string): Promise<string> {
  try {
    const status = await stat(path);
    if (!status.isFile()) throw fail("bad_request", `${file} is not a file.`);
    if (status.size > maxFileBytes)
      throw fail("bad_request", `${file} is larger than ${maxFileBytes / 1024 / 1024} MB.`);
    return await readFile(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") throw fail("bad_request", `${file} does not exist.`);
    throw code?.startsWith("E") ? fail("bad_request", `Cannot read ${file} (${code}).`) : error;
  }
}

/** The texts of prompt files, by agent. */
type PromptSources = Map<string, { file: string; text: string }>;

async function readPrompts(
  source: YamlSource,
  value: unknown,
  folders: { workflow: string; cwd: string },
): Promise<{ sources: PromptSources; issues: WorkflowIssue[] }> {
  const sources: PromptSources = new Map();
  const issues: WorkflowIssue[] = [];
  for (const [name, agent] of Object.entries(pickRecord(pickRecord(value).agents))) {
    const { system_prompt_file: file } = pickRecord(agent);
    if (typeof file !== "string" || file === "") continue;
    const read = await readPromptFile(file, folders);
    if ("text" in read) sources.set(name, { file, text: read.text });
    else {
      const path = ["agents", name, "system_prompt_file"];
      const offset = source.findOffset(path);
      const position = source.formatPosition(offset);
      issues.push({ path, message: read.issue, file: source.file, position, offset });
    }
  }
  return { sources, issues };
}

function insertPrompts(agents: Workflow["agents"], sources: PromptSources): Workflow["agents"] {
  return Object.fromEntries(
    Object.entries(agents).map(([name, agent]) => {
      const { system_prompt_file: file, ...others } = agent;
      return [name, file === undefined ? agent : { ...others, system_prompt: sources.get(name)?.text ?? "" }];
    }),
  );
}

/** Returns the texts with placeholders of a file whose shape may be wrong elsewhere. */
function pickTexts(value: unknown, prompts: PromptSources): WorkflowTexts & Pick<Workflow, "vars"> {
  const { agents, context, setup, kickoff, vars } = pickRecord(value);
  const pickText = (text: unknown) => (typeof text === "string" ? text : "");
  return {
    agents: Object.fromEntries(
      Object.entries(pickRecord(agents)).map(([name, agent]) => [
        name,
        { system_prompt: prompts.get(name)?.text ?? pickText(pickRecord(agent).system_prompt) },
      ]),
    ),
    context: {
      documents: Object.fromEntries(
        Object.entries(pickRecord(pickRecord(context).documents)).map(([name, text]) => [name, pickText(text)]),
      ),
    },
    setup: (Array.isArray(setup) ? setup : []).map((step) => {
      const { shell, as } = pickRecord(step);
      return { shell: pickText(shell), ...(typeof as === "string" ? { as } : {}) };
    }),
    kickoff: pickText(kickoff),
    vars: pickRecord(vars) as Workflow["vars"],
  };
}

function mergeVars({ vars }: Pick<Workflow, "vars">, given: Pick<PlaceholderValues, "vars">) {
  return { ...vars, ...given.vars };
}

/** Says where a placeholder is: in the workflow file, or in a prompt file. */
function locatePlaceholder(
  { path, message, index }: PlaceholderIssue,
  source: YamlSource,
  prompts: PromptSources,
): WorkflowIssue {
  const prompt = path[0] === "agents" ? prompts.get(String(path[1])) : undefined;
  const offset = source.findTextOffset(path, "${{", index);
  if (!prompt) return { path, message, file: source.file, position: source.formatPosition(offset), offset };
  const promptPath = [...path.slice(0, -1), "system_prompt_file"];
  const before = prompt.text
    .split("${{")
    .slice(0, index + 1)
    .join("${{")
    .split("\n");
  const position = `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
  return { path: promptPath, message, file: prompt.file, position, offset: source.findOffset(promptPath) };
}

function pickRecord(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}
