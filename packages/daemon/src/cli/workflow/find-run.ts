import { type AgencyTarget, fail, isThinkeryError, type WorkflowRun } from "@thinkery/sdk";
import { type Client, withRetry } from "@thinkery/sdk/client";
import { findNearest } from "@thinkery/sdk/internal";
import type { Cli } from "../cli.ts";
import { parseAgencyTarget } from "../target.ts";

/** Returns the run that an agency is; undefined if it is none. */
export async function findRun(client: Client, agency: string): Promise<WorkflowRun | undefined> {
  try {
    return await client.workflowRun(agency).describe();
  } catch (error) {
    if (isThinkeryError(error) && error.code === "not_found") return undefined;
    throw error;
  }
}

/**
 * Returns the run that a person means: `@review:pr-1`, `review:pr-1`, `review` with a tag, or `review` alone if only one
 * of its runs is open.
 */
export async function resolveRun(
  cli: Cli,
  client: Client,
  text: string,
  tag: string | undefined,
): Promise<WorkflowRun> {
  const { agency } = parseRunTarget(cli, text, tag);
  const run = await findRun(client, agency);
  if (run) return run;
  const runs = await listRuns(client);
  const open = runs.filter(
    ({ workflow, status }) => workflow === agency && status !== "completed" && status !== "failed",
  );
  const [only] = open;
  if (only && open.length === 1) return only;
  if (only) {
    const list = open.map((one) => `@${one.agency}`).join(", ");
    throw fail("bad_request", `“${agency}” has ${open.length} open runs: ${list}. Say which.`);
  }
  const suggestion = findNearest(
    agency,
    runs.map((one) => one.agency),
  );
  const hint = suggestion ? `Did you mean @${suggestion}?` : "List them with `thinkery workflow ls`.";
  throw fail("not_found", `No run “${agency}” found. ${hint}`, suggestion ? { suggestion } : {});
}

/** Parses the name of a run. The “@” is optional where nothing else is meant. */
export function parseRunTarget(cli: Cli, text: string, tag: string | undefined): AgencyTarget {
  const target = parseAgencyTarget(cli, text.startsWith("@") ? text : `@${text}`);
  if (tag === undefined) return target;
  if (target.agency.includes(":"))
    throw fail("bad_request", `“${text}” has a tag already. Leave out --tag, or pass @${target.agency.split(":")[0]}.`);
  return { ...target, agency: `${target.agency}:${tag}` };
}

const maxRuns = 500;

/** Returns the latest runs, newest first. */
export async function listRuns(client: Client, status: "all" | "open" = "all"): Promise<WorkflowRun[]> {
  const query = { status, limit: maxRuns };
  return (await withRetry((signal) => client.call("listWorkflowRuns", { query, signal }))).runs;
}
