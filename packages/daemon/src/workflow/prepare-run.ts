import {
  checkPlaceholders,
  createPlaceholderError,
  createValidationError,
  fail,
  type NewWorkflowRun,
  resolveWorkflow,
  type Variables,
  type Workflow,
  workflowSchema,
} from "@thinkery/sdk";
import { runSetup, type SetupListener } from "./setup.ts";
import { checkVariables } from "./variables.ts";

interface PrepareOptions {
  workflow: Workflow;
  tag: string;
  vars: Variables;
  message?: string | undefined;
  isResident: boolean;
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  signal: AbortSignal;
  listener: SetupListener;
}

/** Throws unless a workflow can run with these values, before anything is run. */
export function checkRun({
  workflow,
  tag,
  vars: given,
  message,
  isResident,
  env,
}: Omit<PrepareOptions, "listener">): void {
  checkVariables(workflow, given);
  const vars = { ...workflow.vars, ...given };
  const issues = checkPlaceholders(workflow, { workflow: { name: workflow.name, tag }, env, vars });
  if (issues.length > 0) throw createPlaceholderError(issues);
  const isScheduled = Object.values(workflow.agents).some(({ schedule }) => schedule !== undefined);
  if (workflow.kickoff === undefined && message === undefined && !isResident && !isScheduled)
    throw fail("bad_request", `The workflow ${workflow.name} has no kickoff. Pass a message to start it with.`);
}

/** Runs the setup of a workflow and replaces its placeholders. Returns the request that starts it. */
export async function prepareRun(options: PrepareOptions): Promise<NewWorkflowRun> {
  const { workflow, tag, vars: given, message, isResident, cwd, env, signal, listener } = options;
  const vars = { ...workflow.vars, ...given };
  const values = { workflow: { name: workflow.name, tag }, env, vars };
  const setup = await runSetup({ steps: workflow.setup ?? [], values, cwd, env, signal, listener });
  const { setup: _, ...resolved } = resolveWorkflow(workflow, { ...values, setup });
  const { data, error } = workflowSchema.safeParse(resolved);
  if (error) throw createValidationError("workflow, with the values of its placeholders", error);
  return {
    workflow: data,
    tag,
    vars,
    ...(message === undefined ? {} : { message }),
    resident: isResident,
    resolved: true,
  };
}
