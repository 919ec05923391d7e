import type {
  AgentEvent,
  Approval,
  ApprovalList,
  ApprovalStatus,
  AskedCall,
  CallDecision,
  EventData,
} from "@thinkery/sdk";
import { formatApprovalPreview } from "./format-approval-preview.ts";
import { readCursor, takePage } from "./page.ts";

interface Row extends Record<string, SqlStorageValue> {
  id: string;
  number: number;
  turn: string;
  status: ApprovalStatus;
  calls: string;
  digest: string;
  created_at: number;
  expires_at: number;
  answered_at: number | null;
  answered_by: string | null;
  reason: string | null;
}

interface ApprovalPageQuery {
  status: ApprovalStatus | undefined;
  limit: number;
  after: string | undefined;
}

/** A call that a person has decided about. */
export interface DecidedCall {
  approval: Approval;
  call: AskedCall;
  decision: Omit<CallDecision, "callId">;
}

/** The approvals of an agent: a projection of its log. */
export class Approvals {
  readonly #sql: SqlStorage;
  readonly #agent: string;
  /** The approvals of turns that are not over, read once per wake: nearly always there are none. */
  #current: Map<string, Approval> | undefined;

  constructor(sql: SqlStorage, agent: string) {
    this.#sql = sql;
    this.#agent = agent;
  }

  apply(event: AgentEvent): void {
    switch (event.type) {
      case "hitl.interrupt":
        return this.#add(event.seq, Date.parse(event.ts), event.data);
      case "hitl.resume":
        return this.#decide(Date.parse(event.ts), event.data);
      case "agent.completed":
      case "agent.error":
      case "run.canceled":
        return this.#endTurn(event.data.runId, Date.parse(event.ts));
      case "history.cleared":
        return this.empty();
      default:
    }
  }

  empty(): void {
    this.#current = undefined;
    this.#sql.exec("DELETE FROM approvals");
  }

  /** Drops what is cached in memory after a transaction was rolled back. */
  revert(): void {
    this.#current = undefined;
  }

  get(id: string): Approval | undefined {
    const [row] = this.#sql.exec<Row>("SELECT * FROM approvals WHERE id = ?", id).toArray();
    return row && this.#toApproval(row);
  }

  /** Returns approvals, newest first; all of them without a status. */
  list(status?: ApprovalStatus, limit = 200): Approval[] {
    return this.#sql
      .exec<Row>(
        "SELECT * FROM approvals WHERE status = coalesce(?, status) ORDER BY number DESC LIMIT ?",
        status ?? null,
        limit,
      )
      .toArray()
      .map((row) => this.#toApproval(row));
  }

  /** Returns a page, newest first; of all approvals without a status. It ends by size, too. */
  readPage({ status, limit, after }: ApprovalPageQuery): ApprovalList {
    const rows = this.#sql.exec<Row>(
      "SELECT * FROM approvals WHERE status = coalesce(?, status) AND number < ? ORDER BY number DESC LIMIT ?",
      status ?? null,
      readCursor(after, Number.MAX_SAFE_INTEGER),
      limit + 1,
    );
    const { items, ...rest } = takePage(rows, {
      limit,
      toItem: (row) => this.#toApproval(row),
      countChars: ({ calls }) => calls.length,
      toCursor: ({ number }) => String(number),
    });
    return { approvals: items, ...rest };
  }

  /** Reads all approvals, oldest first, one at a time: each may have megabytes. */
  *readPages(): Generator<Approval[]> {
    const rows = this.#sql.exec<{ id: string }>("SELECT id FROM approvals ORDER BY number").toArray();
    for (const { id } of rows) {
      const approval = this.get(id);
      if (approval) yield [approval];
    }
  }

  /** Returns the pending approvals, oldest first. */
  listPending(turn?: string): Approval[] {
    return [...this.#getCurrent().values()].filter(
      (approval) => approval.status === "pending" && (turn === undefined || approval.turn === turn),
    );
  }

  /** Returns the ids of a turn's calls that still have to be decided. */
  listUndecidedCalls(turn: string): string[] {
    return this.listPending(turn).flatMap(({ calls }) => calls.map(({ id }) => id));
  }

  /** Returns a call of a turn that is not over, if all calls of its approval are decided. */
  findDecision(callId: string): DecidedCall | undefined {
    for (const approval of this.#getCurrent().values()) {
      const call = approval.calls.find(({ id }) => id === callId);
      if (!call) continue;
      const { decision } = call;
      return decision && approval.status !== "pending" ? { approval, call, decision } : undefined;
    }
    return undefined;
  }

  #add(number: number, at: number, data: EventData["hitl.interrupt"]): void {
    const { approvalId, runId, proposedToolCalls, digest, expiresAt } = data;
    const calls: AskedCall[] = proposedToolCalls.map(({ callId, toolName, ...call }) => ({
      id: callId,
      name: toolName,
      ...call,
    }));
    this.#sql.exec(
      `INSERT INTO approvals (id, number, turn, status, calls, digest, created_at, expires_at)
       VALUES (?, ?, ?, 'pending', ?, ?, ?, ?)`,
      approvalId,
      number,
      runId,
      JSON.stringify(calls),
      digest,
      at,
      Date.parse(expiresAt),
    );
    this.#refresh(approvalId);
  }

  #decide(at: number, { approvalId, decisions, expired, by, reason }: EventData["hitl.resume"]): void {
    const approval = this.get(approvalId);
    if (!approval) return;
    const byCall = new Map(decisions.map(({ callId, ...decision }) => [callId, decision]));
    const calls = approval.calls.map((call) => {
      const decision = byCall.get(call.id);
      return decision ? { ...call, decision } : call;
    });
    const isDecided = calls.every(({ decision }) => decision !== undefined);
    const status = getStatus(calls, isDecided, expired);
    this.#sql.exec(
      "UPDATE approvals SET calls = ?, status = ?, answered_at = ?, answered_by = ?, reason = ? WHERE id = ?",
      JSON.stringify(calls),
      status,
      at,
      by ?? null,
      reason ?? null,
      approvalId,
    );
    this.#refresh(approvalId);
  }

  /** Nothing of a turn that is over can be decided any more. */
  #endTurn(turn: string, at: number): void {
    if (this.#current?.size === 0) return;
    this.#sql.exec(
      `UPDATE approvals SET status = 'expired', answered_at = ?, reason = 'The turn ended first.'
       WHERE turn = ? AND status = 'pending'`,
      at,
      turn,
    );
    this.#current = undefined;
  }

  #getCurrent(): Map<string, Approval> {
    this.#current ??= new Map(
      this.#sql
        .exec<Row>(
          `SELECT * FROM approvals WHERE turn IN (SELECT id FROM turns WHERE status IN ('queued', 'running', 'paused'))
           ORDER BY number`,
        )
        .toArray()
        .map((row) => [row.id, this.#toApproval(row)]),
    );
    return this.#current;
  }

  #refresh(id: string): void {
    const approval = this.get(id);
    if (approval) this.#current?.set(id, approval);
  }

  #toApproval(row: Row): Approval {
    const calls = JSON.parse(row.calls) as AskedCall[];
    const preview = formatApprovalPreview(calls);
    return {
      id: row.id,
      status: row.status,
      agent: this.#agent,
      turn: row.turn,
      calls,
      ...(preview ? { preview } : {}),
      digest: row.digest,
      createdAt: new Date(row.created_at).toISOString(),
      expiresAt: new Date(row.expires_at).toISOString(),
      ...(row.answered_at === null ? {} : { answeredAt: new Date(row.answered_at).toISOString() }),
      ...(row.answered_by === null ? {} : { answeredBy: row.answered_by }),
      ...(row.reason === null ? {} : { reason: row.reason }),
    };
  }
}

function getStatus(calls: readonly AskedCall[], isDecided: boolean, expired: boolean | undefined): ApprovalStatus {
  if (expired) return "expired";
  if (!isDecided) return "pending";
  return calls.some(({ decision }) => decision?.approved) ? "approved" : "denied";
}
