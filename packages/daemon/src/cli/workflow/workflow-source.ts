import { fail, findNameIssue, nameRules, type Workflow } from "@thinkery/sdk";
import { type Client, withRetry } from "@thinkery/sdk/client";
import type { Cli } from "../cli.ts";

/** What a workflow is run from: a file, or the name of one that the host has stored. */
export type WorkflowSource = { kind: "file"; file: string } | { kind: "stored"; name: string };

/** Whether a target can only be a file. Names of agents may contain dots and slashes, too. */
export const isWorkflowFile = (text: string) => /\.(?:ya?ml|json)$|^\.{0,2}[/\\]|^~[/\\]|\\/i.test(text);

/** Parses what can be a file or the name of a workflow, and nothing else. */
export function parseWorkflowSource(text: string): WorkflowSource {
  if (isWorkflowFile(text) || text.includes("/")) return { kind: "file", file: text };
  const issue = findNameIssue(nameRules.workflow, text);
  if (issue) throw fail("bad_request", `“${text}” is neither a workflow file nor the name of a workflow: ${issue}.`);
  return { kind: "stored", name: text };
}

export async function readWorkflowFile(cli: Cli, file: string, vars: Record<string, string>): Promise<Workflow> {
  const { readWorkflow } = await import("../../workflow/read-workflow.ts");
  const { workflow } = await readWorkflow(file, { cwd: cli.cwd, values: { env: cli.env, vars } });
  return workflow;
}

export function readStoredWorkflow(client: Client, name: string): Promise<Workflow> {
  return withRetry((signal) => client.call("getWorkflow", { params: { workflow: name }, signal }));
}
