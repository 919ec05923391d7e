import {
  agencyIdSchema,
  fail,
  type Job,
  type NewWorkflowRun,
  newWorkflowRunSchema,
  type Outcome,
  resolveWorkflowInParts,
  type ServeResponse,
  type Workflow,
  type WorkflowRun,
  workflowSchema,
} from "@thinkery/sdk";
import { z } from "zod";
import { toNewAgent } from "../agency/team/to-new-agent.ts";
import { runFairly } from "../host/fair-work.ts";
import type { Env } from "../objects/env.ts";
import { checkNewAgent } from "../system/check-agent.ts";
import type { System } from "../system/system.ts";
import { type Caller, toCredentials } from "./authenticate.ts";
import { validate } from "./body.ts";
import { enterAgency, enterAgent } from "./directory.ts";
import { chooseTag, openAgency } from "./job.ts";
import { mergeEvents } from "./merge.ts";

interface RunContext {
  env: Env;
  system: System;
  caller: Caller;
}

/** A run that was stored. Its agents begin with `kickOff`. */
export interface PreparedRun {
  run: WorkflowRun;
  kickOff(): Promise<WorkflowRun>;
}

/** Stores the run of a workflow, and creates its agency and agents. */
export async function prepareRun(
  { env, system, caller }: RunContext,
  request: NewWorkflowRun,
  idempotencyKey?: string,
): Promise<PreparedRun> {
  const { user } = caller;
  const workflow = await findWorkflow(env, user, request);
  const tag = chooseTag(user, { tag: request.tag, idempotencyKey });
  const resolved = request.resolved ? workflow : await resolveValues(user, workflow, tag, request);
  for (const [name, agent] of Object.entries(resolved.agents)) checkNewAgent(env, system, toNewAgent(name, agent));
  const id = `${workflow.name}:${tag}`;
  const { id: agency } = validate("workflow name or tag", z.object({ id: agencyIdSchema }), { id });
  await openAgency(env, user, agency);
  const { workflow: api } = await enterAgency(env, user, agency);
  const run = await api.prepare({
    workflow: resolved,
    tag,
    ...(request.message === undefined ? {} : { message: request.message }),
    resident: request.resident,
    startedBy: user,
    ...(idempotencyKey === undefined ? {} : { key: idempotencyKey }),
  });
  return { run, kickOff: () => api.kickOff() };
}

/** Streams what happens in a run from now on, until it ends. */
export async function followRun({ env, caller }: RunContext, agency: string): Promise<ReadableStream<Uint8Array>> {
  const { workflow: api } = await enterAgency(env, caller.user, agency);
  const { agents, status } = await api.describe();
  const isOver = status === "completed" || status === "failed";
  const credentials = toCredentials(caller);
  const names = isOver ? [] : agents;
  const streams = await Promise.all(
    names.map(async (name) => {
      const object = await enterAgent(env, caller.user, agency, name).catch(() => undefined);
      return object === undefined ? [] : [await env.Think.getByName(object).team.followWork(name, credentials)];
    }),
  );
  const events = await api.follow(credentials);
  return mergeEvents([events, ...streams.flat()], { until: events });
}

/** Waits for the end of a run, and returns its result with the last turn of each agent. */
export async function serveRun({ env, caller }: RunContext, agency: string): Promise<ServeResponse> {
  const { workflow: api } = await enterAgency(env, caller.user, agency);
  const run = await api.waitForEnd();
  if (run.status !== "completed") throw createRunError(run);
  const outcomes = await Promise.all(
    run.agents.map(async (agent): Promise<Outcome[]> => {
      const object = await enterAgent(env, caller.user, agency, agent).catch(() => undefined);
      if (object === undefined) return [];
      const { conversation } = env.Think.getByName(object);
      const { runId, status } = (await conversation.getState()).run;
      if (status === "idle") return [];
      const result = await conversation.waitForOutcome(runId);
      return "outcome" in result ? [{ ...result.outcome, agent }] : [];
    }),
  );
  const all = outcomes.flat();
  return {
    content: run.result ?? "",
    toolCalls: all.flatMap(({ toolCalls }) => toolCalls),
    usage: run.usage,
    outcomes: all,
    finishReason: run.reason ?? "stop",
  };
}

/** Creates the error of a run that did not complete, for clients that wait for its result. */
function createRunError({ agency, status, message, reason }: WorkflowRun): Error {
  if (status === "waiting")
    return fail("conflict", `The run ${agency} waits for a person. \`thinkery approval ls\` shows what for.`);
  if (status === "stopped") return fail("conflict", `The run ${agency} was stopped.`);
  return fail(reason === "budget" ? "conflict" : "unavailable", message ?? `The run ${agency} failed.`);
}

async function findWorkflow(env: Env, user: string, { workflow }: NewWorkflowRun): Promise<Workflow> {
  if (typeof workflow !== "string") return workflow;
  return env.User.getByName(user).workflows.get(workflow);
}

/** Replaces the placeholders that the host can: setup steps and the environment are known where the command line runs. */
function resolveValues(
  user: string,
  workflow: Workflow,
  tag: string,
  { vars = {} }: NewWorkflowRun,
): Promise<Workflow> {
  if (workflow.setup?.length) {
    throw fail(
      "bad_request",
      `“${workflow.name}” has setup steps, which only the command line runs: \`thinkery workflow run ${workflow.name}\`.`,
    );
  }
  const unread = Object.entries(workflow.agents).find(([, agent]) => agent.system_prompt_file !== undefined);
  if (unread) {
    const path = ["workflow", "agents", unread[0], "system_prompt_file"];
    const message = "only the command line reads files; send system_prompt";
    throw fail("bad_request", `${path.join(".")}: ${message}.`, { issues: [{ path, message }] });
  }
  const unknown = Object.keys(vars).find((name) => !Object.hasOwn(workflow.vars ?? {}, name));
  if (unknown !== undefined) throw fail("bad_request", `The workflow has no variable “${unknown}”.`);
  const values = { workflow: { name: workflow.name, tag }, vars: { ...workflow.vars, ...vars } };
  return runFairly(() => resolveWorkflowInParts(workflow, values), { owner: user });
}

/** Converts a job to the run of its workflow. */
export function toNewRun({ workflow, tag, vars, message }: Job): NewWorkflowRun {
  const definition =
    typeof workflow === "string" ? workflow : validate("workflow", workflowSchema, { name: "run", ...workflow });
  return validate("workflow", newWorkflowRunSchema, {
    workflow: definition,
    ...(tag === undefined ? {} : { tag }),
    ...(vars === undefined ? {} : { vars }),
    ...(message === undefined ? {} : { message }),
  });
}
