import type { AgentEvent, EventData, Sender, SubagentUsage } from "@thinkery/sdk";
import {
  storedColumns,
  type StoredSubagent,
  type SubagentAssignment,
  type SubagentRow,
  toSubagentRow,
} from "./subagent-row.ts";

/** Must match the condition of the index `subagents_active` exactly. */
const activeCondition = "state IN ('queued', 'running')";
/** That of `subagents_open`. */
const openCondition = "(delivered = 0 OR closed = 0)";

const listedChanges: ReadonlySet<string> = new Set([
  "subagent.spawned",
  "subagent.started",
  "subagent.waiting",
  "subagent.reported",
  "subagent.completed",
  "subagent.deleted",
  "history.cleared",
]);

/** How many rows there are of each kind that something has to be done about. */
interface Counts {
  all: number;
  active: number;
  /** Active ones that have started and not reported, and those whose forks are merged. */
  running: number;
  merging: number;
  /** Finished ones whose report was not delivered, or that have not stopped yet. */
  open: number;
}

const noUsage: SubagentUsage = { calls: 0, inputTokens: 0, outputTokens: 0, costUsd: 0 };

/** The sub-agents of an agent: a projection of its log. */
export class Subagents {
  readonly #sql: SqlStorage;
  /** Read once per wake: an agent without sub-agents pays nothing for them. */
  #counts: Counts | undefined;
  #changes = 0;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Grows whenever a list of them changes. */
  get changes(): number {
    return this.#changes;
  }

  get isEmpty(): boolean {
    return this.#readCounts().all === 0;
  }

  apply(event: AgentEvent): void {
    if (listedChanges.has(event.type)) this.#changes++;
    switch (event.type) {
      case "subagent.spawned":
        return this.#insert(event, event.data);
      case "subagent.started":
        return this.#update(
          "state = 'running', waiting_for = NULL, started_at = ?",
          event.data.taskId,
          Date.parse(event.ts),
        );
      case "subagent.action": {
        const { number, toolName, input, taskId } = event.data;
        this.#setUsage(event.data);
        return this.#update("action_number = ?, activity = ?", taskId, number, `${toolName} ${input}`.slice(0, 200));
      }
      case "subagent.spent":
        return this.#setUsage(event.data);
      case "subagent.waiting": {
        const { taskId, waitingFor = null } = event.data;
        // One that has not started or has reported neither waits nor goes on.
        return this.#update("waiting_for = iif(state = 'running' AND reported IS NULL, ?, NULL)", taskId, waitingFor);
      }
      case "subagent.reported": {
        const { childThreadId: _, taskId, ...report } = event.data;
        this.#setUsage(event.data);
        return this.#update("reported = ?, waiting_for = NULL", taskId, JSON.stringify(report));
      }
      case "subagent.completed":
        return this.#complete(event, event.data);
      case "subagent.delivered":
        this.#counts = undefined;
        this.#sql.exec(
          "UPDATE subagents SET delivered = 1 WHERE task IN (SELECT value FROM json_each(?))",
          JSON.stringify(event.data.taskIds),
        );
        return;
      case "subagent.closed":
        this.#setUsage(event.data);
        return this.#close(event.data);
      case "subagent.deleted":
        this.#setUsage(event.data);
        return this.#update("deleted = 1, closed = 1, delivered = 1", event.data.taskId);
      case "history.cleared":
        return this.empty();
      default:
    }
  }

  empty(): void {
    this.#counts = undefined;
    this.#sql.exec("DELETE FROM subagents");
  }

  /** Drops the cache after a transaction was rolled back. */
  revert(): void {
    this.#counts = undefined;
  }

  get(task: string): SubagentRow | undefined {
    return this.#read("WHERE task = ?", task)[0];
  }

  /** Returns what a sub-agent is told. Only its start needs it, and it may be long. */
  getAssignment(task: string): SubagentAssignment | undefined {
    return this.#sql
      .exec<{ message: string; sender: string }>("SELECT message, sender FROM subagents WHERE task = ?", task)
      .toArray()
      .map(({ message, sender }) => ({ message, from: JSON.parse(sender) as Sender }))[0];
  }

  findByCall(call: string): SubagentRow | undefined {
    return this.#read("WHERE call = ?", call)[0];
  }

  findByFacet(facet: string): SubagentRow | undefined {
    return this.#read("WHERE facet = ?", facet)[0];
  }

  /** Returns all, newest first. */
  list(limit = 1000): SubagentRow[] {
    return this.#read("ORDER BY number DESC LIMIT ?", limit);
  }

  /** Returns those that work or wait to start, oldest first; only those of one turn if it is given. */
  listActive(turn?: string): SubagentRow[] {
    if (this.#readCounts().active === 0) return [];
    return this.#read(`WHERE ${activeCondition} AND turn IS coalesce(?, turn) ORDER BY number`, turn ?? null);
  }

  /** Returns the finished ones whose report the model has not got yet, and no call waits for it. */
  listUndelivered(): SubagentRow[] {
    if (this.#readCounts().open === 0) return [];
    return this.#read(
      `WHERE ${openCondition} AND delivered = 0 AND NOT ${activeCondition} ORDER BY completed_at, number`,
    );
  }

  /** Returns the cancelled ones that have not stopped yet. */
  listUnclosed(): SubagentRow[] {
    if (this.#readCounts().open === 0) return [];
    return this.#read(`WHERE ${openCondition} AND closed = 0 AND NOT ${activeCondition} ORDER BY number`);
  }

  /** Returns the finished ones that can be deleted because there are more than `max`, oldest first. */
  listExcess(max: number): SubagentRow[] {
    return this.#read(
      `WHERE deleted = 0 AND closed = 1 AND NOT ${activeCondition} ORDER BY completed_at DESC, number DESC LIMIT -1 OFFSET ?`,
      max,
    ).toReversed();
  }

  /** Returns those that wait to start, oldest first. */
  listQueued(): SubagentRow[] {
    const { active, running, merging } = this.#readCounts();
    return active === running + merging ? [] : this.listActive().filter(({ state }) => state === "queued");
  }

  /** Returns the finished ones that one of these calls waits for. */
  listFinished(calls: readonly string[]): SubagentRow[] {
    if (calls.length === 0) return [];
    const query = `WHERE call IN (SELECT value FROM json_each(?)) AND wait = 1 AND NOT ${activeCondition} ORDER BY number`;
    return this.#read(query, JSON.stringify(calls));
  }

  /** Returns those whose forks are to be merged, oldest first. */
  listMerging(): SubagentRow[] {
    return this.#readCounts().merging === 0 ? [] : this.listActive().filter(({ state }) => state === "merging");
  }

  countActive(): number {
    return this.#readCounts().active;
  }

  countByTurn(turn: string): number {
    return this.#sql.exec<{ n: number }>("SELECT count(*) AS n FROM subagents WHERE turn = ?", turn).one().n;
  }

  /** Returns how many work, as opposed to those that wait to start. */
  countRunning(): number {
    return this.#readCounts().running;
  }

  /** Returns what the sub-agents of a turn have spent on it; leaves out one if it is given. */
  sumUsage(turn: string, except?: string): SubagentUsage {
    if (this.#readCounts().all === 0) return noUsage;
    const sum = (name: string) => `coalesce(sum(usage ->> '$.${name}'), 0) AS ${name}`;
    const { unknown, costUsd, ...rest } = this.#sql
      .exec<{ calls: number; inputTokens: number; outputTokens: number; costUsd: number; unknown: number }>(
        `SELECT ${sum("calls")}, ${sum("inputTokens")}, ${sum("outputTokens")}, ${sum("costUsd")},
          count(*) - count(usage ->> '$.costUsd') AS unknown FROM subagents WHERE turn = ? AND task IS NOT ? AND usage IS NOT NULL`,
        turn,
        except ?? null,
      )
      .one();
    return { ...rest, costUsd: unknown > 0 ? null : costUsd };
  }

  #insert({ seq, ts }: AgentEvent, data: EventData["subagent.spawned"]): void {
    this.#counts = undefined;
    const at = Date.parse(ts);
    this.#sql.exec(
      `INSERT INTO subagents (task, number, facet, child, token, turn, call, message_id, type, title, message, sender, wait,
        workspace, branch, check_command, streaming, timeout_ms, state, delivered, created_at, started_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      data.taskId,
      seq,
      data.facetName,
      data.childThreadId,
      data.token,
      data.runId ?? null,
      data.callId ?? null,
      data.messageId ?? null,
      data.agentType,
      data.title,
      data.message,
      JSON.stringify(data.from),
      data.wait ? 1 : 0,
      data.workspace,
      data.branch ?? null,
      data.check ?? null,
      data.streaming ? 1 : 0,
      data.timeoutMs,
      data.queued ? "queued" : "running",
      // The result of the call that waits is its delivery.
      data.wait ? 1 : 0,
      at,
      data.queued ? null : at,
    );
  }

  #setUsage({ taskId, usage }: Pick<EventData["subagent.spent"], "taskId" | "usage">): void {
    if (usage) this.#update("usage = ?", taskId, JSON.stringify(usage));
  }

  #complete({ ts }: AgentEvent, data: EventData["subagent.completed"]): void {
    this.#update(
      `closed = ?,
       state = ?, completed_at = ?, result = ?, result_blob = ?, error = ?, usage = ?, steps = ?, merge = ?,
       reported = NULL, waiting_for = NULL`,
      data.taskId,
      data.unconfirmed ? 0 : 1,
      data.status,
      Date.parse(ts),
      data.result ?? null,
      data.resultBlob ?? null,
      data.error ?? null,
      JSON.stringify(data.usage),
      data.steps,
      data.merge ? JSON.stringify(data.merge) : null,
    );
  }

  #close({ taskId, merge }: EventData["subagent.closed"]): void {
    if (merge) this.#update("closed = 1, merge = ?", taskId, JSON.stringify(merge));
    else this.#update("closed = 1", taskId);
  }

  #update(assignments: string, task: string, ...values: SqlStorageValue[]): void {
    this.#counts = undefined;
    this.#sql.exec(`UPDATE subagents SET ${assignments} WHERE task = ?`, ...values, task);
  }

  #read(rest: string, ...values: SqlStorageValue[]): SubagentRow[] {
    return this.#sql
      .exec<StoredSubagent>(`SELECT ${storedColumns.join(", ")} FROM subagents ${rest}`, ...values)
      .toArray()
      .map(toSubagentRow);
  }

  #readCounts(): Counts {
    this.#counts ??= this.#sql
      .exec<Counts & Record<string, number>>(
        `SELECT (SELECT count(*) FROM subagents) AS "all", count(*) AS active,
          coalesce(sum(state = 'running' AND reported IS NULL), 0) AS running,
          coalesce(sum(state = 'running' AND reported IS NOT NULL), 0) AS merging,
          (SELECT count(*) FROM subagents WHERE ${openCondition} AND NOT ${activeCondition}) AS open
         FROM subagents WHERE ${activeCondition}`,
      )
      .one();
    return this.#counts;
  }
}
