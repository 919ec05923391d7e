import type { AgentEvent } from "@thinkery/sdk";

export interface LedgerRow extends Record<string, SqlStorageValue> {
  call: string;
  turn: string;
  tool: string;
  input: string;
  idempotent: number;
  state: "started" | "deferred" | "done" | "failed";
  runs: number;
  /** The call whose code made this call; null if the model made it. */
  parent_call: string | null;
}

/** A call made by the model or by code. */
interface StartedCall {
  callId: string;
  runId: string;
  step: number;
  toolName: string;
  args: unknown;
  idempotent?: boolean;
  parentCallId?: string;
}

/** Which tool calls were started and which are settled. A row is on disk before its call can have an effect. */
export class Ledger {
  readonly #sql: SqlStorage;
  /** The ids of all calls with a row, read once per wake: nearly all lookups are for new calls. */
  #calls: Set<string> | undefined;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  apply(event: AgentEvent): void {
    switch (event.type) {
      case "tool.started":
        return this.#start(event.seq, event.data);
      case "tool.deferred":
        this.#sql.exec("UPDATE ledger SET state = 'deferred' WHERE call = ? AND state = 'started'", event.data.callId);
        return;
      case "tool.output":
        this.#sql.exec("UPDATE ledger SET state = 'done' WHERE call = ?", event.data.callId);
        return;
      case "tool.error":
        this.#sql.exec("UPDATE ledger SET state = 'failed' WHERE call = ?", event.data.callId);
        return;
      case "capability.called":
        return this.#start(event.seq, event.data);
      case "capability.answered":
        this.#sql.exec(
          "UPDATE ledger SET state = ? WHERE call = ?",
          event.data.errorCode ? "failed" : "done",
          event.data.callId,
        );
        return;
      case "history.cleared":
        this.empty();
        return;
      default:
    }
  }

  #start(number: number, { callId, runId, step, toolName, args, idempotent = false, parentCallId }: StartedCall): void {
    this.#calls?.add(callId);
    this.#sql.exec(
      `INSERT INTO ledger (call, turn, step, number, tool, input, idempotent, state, parent_call) VALUES (?, ?, ?, ?, ?, ?, ?, 'started', ?)
       ON CONFLICT (call) DO UPDATE SET runs = runs + 1, state = 'started'`,
      callId,
      runId,
      step,
      number,
      toolName,
      JSON.stringify(args) ?? "null",
      idempotent ? 1 : 0,
      parentCallId ?? null,
    );
  }

  empty(): void {
    this.#calls = undefined;
    this.#sql.exec("DELETE FROM ledger");
  }

  has(call: string): boolean {
    this.#calls ??= new Set(
      this.#sql
        .exec<{ call: string }>("SELECT call FROM ledger")
        .toArray()
        .map((row) => row.call),
    );
    return this.#calls.has(call);
  }

  get(call: string): LedgerRow | undefined {
    if (!this.has(call)) return undefined;
    return this.#sql.exec<LedgerRow>("SELECT * FROM ledger WHERE call = ?", call).toArray()[0];
  }

  /** Returns the turn's calls that wait for a reported result. */
  listDeferred(turn: string): string[] {
    return this.#sql
      .exec<{ call: string }>("SELECT call FROM ledger WHERE turn = ? AND state = 'deferred'", turn)
      .toArray()
      .map(({ call }) => call);
  }

  /** Returns the calls of a tool that wait for a reported result, in any turn. */
  listDeferredCalls(tool: string): string[] {
    return this.#sql
      .exec<{ call: string }>("SELECT call FROM ledger WHERE state = 'deferred' AND tool = ?", tool)
      .toArray()
      .map(({ call }) => call);
  }

  /** Whether a call of the turn succeeded whose tool is none of these. */
  hasOtherResult(turn: string, tools: readonly string[]): boolean {
    const query =
      "SELECT 1 FROM ledger WHERE turn = ? AND state = 'done' AND tool NOT IN (SELECT value FROM json_each(?)) LIMIT 1";
    return this.#sql.exec(query, turn, JSON.stringify(tools)).toArray().length > 0;
  }

  /** Returns the path that the turn's latest call with a path was about. */
  findLastPath(turn: string): string | undefined {
    return this.#sql
      .exec<{ path: string }>(
        `SELECT input ->> 'path' AS path FROM ledger
         WHERE turn = ? AND json_valid(input) AND json_type(input, '$.path') = 'text' ORDER BY number DESC LIMIT 1`,
        turn,
      )
      .toArray()[0]?.path;
  }

  /** Returns the turn's unfinished calls made by code; only those of one parent call if it is given. */
  listOpenChildren(turn: string, parentCallId?: string): { call: string; tool: string; parent_call: string }[] {
    return this.#sql
      .exec<{ call: string; tool: string; parent_call: string }>(
        "SELECT call, tool, parent_call FROM ledger WHERE turn = ? AND parent_call IS NOT NULL AND state = 'started' AND parent_call = coalesce(?, parent_call)",
        turn,
        parentCallId ?? null,
      )
      .toArray();
  }
}
