import { fail, type PageQuery, type StoredWorkflow, type Workflow, type WorkflowRun } from "@thinkery/sdk";
import { findNearest } from "@thinkery/sdk/internal";
import { takePage } from "../store/page.ts";

interface WorkflowRow extends Record<string, SqlStorageValue> {
  name: string;
  definition: string;
  updated_at: number;
}

interface RunRow extends Record<string, SqlStorageValue> {
  agency: string;
  run: string;
  started_at: number;
}

const maxWorkflows = 500;
const openStatuses = ["running", "waiting", "stopped"];

/** The workflows that a user can run by name, and the runs in their agencies. */
export class Workflows {
  readonly #sql: SqlStorage;
  readonly #hasAgency: (id: string) => boolean;

  constructor(sql: SqlStorage, hasAgency: (id: string) => boolean) {
    this.#sql = sql;
    this.#hasAgency = hasAgency;
  }

  list({ limit, after = "" }: PageQuery): { workflows: StoredWorkflow[]; next?: string } {
    const query = "SELECT * FROM workflows WHERE name > ? ORDER BY name LIMIT ?";
    const { items, ...next } = takePage(this.#sql.exec<WorkflowRow>(query, after, limit + 1), {
      limit,
      toItem: describe,
      countChars: ({ definition }) => definition.length,
      toCursor: ({ name }) => name,
    });
    return { workflows: items, ...next };
  }

  get(name: string): Workflow {
    const [row] = this.#sql.exec<WorkflowRow>("SELECT * FROM workflows WHERE name = ?", name).toArray();
    if (row) return JSON.parse(row.definition) as Workflow;
    const suggestion = findNearest(name, this.#listNames());
    const hint = suggestion ? ` Did you mean “${suggestion}”?` : " `thinkery workflow add <file>` stores one.";
    throw fail("not_found", `Workflow “${name}” not found.${hint}`, suggestion ? { suggestion } : undefined);
  }

  put(workflow: Workflow): StoredWorkflow {
    const isNew = !this.#listNames().some((name) => name.toLowerCase() === workflow.name.toLowerCase());
    if (isNew && this.#listNames().length >= maxWorkflows)
      throw fail("conflict", `A user can store at most ${maxWorkflows} workflows. Delete those you no longer need.`);
    this.#sql.exec(
      `INSERT INTO workflows (name, definition, updated_at) VALUES (?, ?, ?)
       ON CONFLICT (name) DO UPDATE SET name = excluded.name, definition = excluded.definition, updated_at = excluded.updated_at`,
      workflow.name,
      JSON.stringify(workflow),
      Date.now(),
    );
    return describe(this.#sql.exec<WorkflowRow>("SELECT * FROM workflows WHERE name = ?", workflow.name).one());
  }

  delete(name: string): void {
    this.get(name);
    this.#sql.exec("DELETE FROM workflows WHERE name = ?", name);
  }

  /** Called by an agency, until it succeeds, when the status of its run has changed. */
  noteRun(run: WorkflowRun): void {
    // It may have been deleted meanwhile.
    if (!this.#hasAgency(run.agency)) return;
    const { result: _, kickoff: __, ...rest } = run;
    this.#sql.exec(
      "INSERT OR REPLACE INTO workflow_runs (agency, status, run, started_at) VALUES (?, ?, ?, ?)",
      run.agency,
      run.status,
      JSON.stringify(rest),
      Date.parse(run.startedAt),
    );
  }

  forgetRun(agency: string): void {
    this.#sql.exec("DELETE FROM workflow_runs WHERE agency = ?", agency);
  }

  /** Returns the runs, newest first. */
  listRuns({ limit, after, status }: PageQuery & { status: string }): { runs: WorkflowRun[]; next?: string } {
    const statuses = status === "all" ? [] : status === "open" ? openStatuses : [status];
    const [, at, last = ""] = /^(\d{1,15})\.(.+)$/.exec(after ?? "") ?? [];
    if (after !== undefined && at === undefined)
      throw fail("bad_request", "“after” is not the `next` of an earlier page.");
    const rows = this.#sql.exec<RunRow>(
      `SELECT agency, run, started_at FROM workflow_runs
       WHERE (? = '[]' OR status IN (SELECT value FROM json_each(?))) AND (? IS NULL OR (started_at, agency) < (?, ?))
       ORDER BY started_at DESC, agency DESC LIMIT ?`,
      JSON.stringify(statuses),
      JSON.stringify(statuses),
      at === undefined ? null : Number(at),
      Number(at ?? 0),
      last,
      limit + 1,
    );
    const { items, ...next } = takePage(rows, {
      limit,
      toItem: ({ run }) => JSON.parse(run) as WorkflowRun,
      countChars: ({ run }) => run.length,
      toCursor: (row) => `${row.started_at}.${row.agency}`,
    });
    return { runs: items, ...next };
  }

  #listNames(): string[] {
    return this.#sql
      .exec<{ name: string }>("SELECT name FROM workflows")
      .toArray()
      .map(({ name }) => name);
  }
}

function describe({ definition, updated_at }: WorkflowRow): StoredWorkflow {
  const { name, description, agents, setup = [] } = JSON.parse(definition) as Workflow;
  return {
    name,
    ...(description === undefined ? {} : { description }),
    agents: Object.keys(agents),
    hasSetup: setup.length > 0,
    updatedAt: new Date(updated_at).toISOString(),
  };
}
