import type { Action, ActionQuery, AgentEvent } from "@thinkery/sdk";
import type { Redact } from "@thinkery/sdk/internal";

interface Row extends Record<string, SqlStorageValue> {
  number: number;
  id: string;
  timestamp: number;
  turn: string;
  tool: string;
  action: string;
  input: string;
  output_summary: string | null;
  duration_ms: number;
  success: number;
  error: string | null;
  message_id: string | null;
  agent: string | null;
}

interface NewAction {
  callId: string;
  runId: string;
  toolName: string;
  action: string;
  input: string;
  summary: string | undefined;
  error: string | undefined;
  ms: number;
  message: string | null;
  agent: string | null;
}

const maxSummaryChars = 500;

/** The action log: one line per tool call, without the content it handled. */
export class Actions {
  readonly #sql: SqlStorage;
  readonly #agent: string;
  readonly #redact: Redact;
  /** Inputs of running calls, and the message that made them. After a wake they are read from the tables. */
  readonly #inputs = new Map<string, string>();
  #lastMessage: { turn: string; message: string } | undefined;

  constructor(sql: SqlStorage, agent: string, redact: Redact) {
    this.#sql = sql;
    this.#agent = agent;
    this.#redact = redact;
  }

  apply(event: AgentEvent): void {
    if (event.type === "history.cleared") this.empty();
    if (event.type === "model.completed" || event.type === "reply.completed")
      this.#lastMessage = { turn: event.data.runId, message: event.data.messageId };
    if (event.type === "tool.started" || event.type === "capability.called") {
      this.#inputs.set(event.data.callId, JSON.stringify(event.data.args) ?? "");
    }
    if (event.type === "subagent.action") this.#insertRelayed(event);
    if (event.type !== "tool.output" && event.type !== "tool.error" && event.type !== "capability.answered") return;
    const { callId, runId, toolName, ms, action } = event.data;
    const { summary, error } = getOutcome(event);
    const input = this.#inputs.get(callId) ?? this.#readStoredInput(callId);
    this.#inputs.delete(callId);
    const message = this.#lastMessage?.turn === runId ? this.#lastMessage.message : this.#readMessageId(runId);
    this.#insert(event, { callId, runId, toolName, action, input, summary, error, ms, message, agent: null });
  }

  /** An action of a sub-agent, in the turn that delegated to it. */
  #insertRelayed(event: Extract<AgentEvent, { type: "subagent.action" }>): void {
    const { runId = "", messageId, summary, error, ...rest } = event.data;
    this.#insert(event, { ...rest, runId, summary, error, message: messageId ?? null });
  }

  #insert({ seq, ts }: AgentEvent, action: NewAction): void {
    const { error, summary } = action;
    this.#sql.exec(
      `INSERT INTO actions (number, id, timestamp, turn, tool, action, input, output_summary, duration_ms, success, error, message_id, agent)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      seq,
      action.callId,
      Date.parse(ts),
      action.runId,
      action.toolName,
      action.action,
      this.#shorten(action.input),
      summary === undefined ? null : this.#shorten(summary),
      Math.round(action.ms),
      error === undefined ? 1 : 0,
      error === undefined ? null : this.#shorten(error),
      action.message,
      action.agent,
    );
  }

  empty(): void {
    this.#inputs.clear();
    this.#lastMessage = undefined;
    this.#sql.exec("DELETE FROM actions");
  }

  getLatest(): Action | undefined {
    const [row] = this.#sql.exec<Row>("SELECT * FROM actions ORDER BY number DESC LIMIT 1").toArray();
    return row && this.#toAction(row);
  }

  /** Returns the actions after this number, oldest first. */
  readAfter(number: number, limit: number): (Action & { number: number })[] {
    return this.#sql
      .exec<Row>("SELECT * FROM actions WHERE number > ? ORDER BY number LIMIT ?", number, limit)
      .toArray()
      .map((row) => ({ ...this.#toAction(row), number: row.number }));
  }

  /** Returns a page of actions, newest first. */
  page(query: ActionQuery): { actions: Action[]; next?: string } {
    const conditions: string[] = [];
    const values: SqlStorageValue[] = [];
    const where = (condition: string, value: SqlStorageValue | undefined) => {
      if (value === undefined) return;
      conditions.push(condition);
      values.push(value);
    };
    where("tool = ?", query.tool);
    where("success = ?", query.success === undefined ? undefined : Number(query.success === "true"));
    where("message_id = ?", query.message);
    where("timestamp >= ?", query.since);
    where("number < ?", query.after === undefined ? undefined : Number(query.after) || 0);
    const filter = conditions.length > 0 ? `WHERE ${conditions.join(" AND ")}` : "";
    const rows = this.#sql
      .exec<Row>(`SELECT * FROM actions ${filter} ORDER BY number DESC LIMIT ?`, ...values, query.limit + 1)
      .toArray();
    const page = rows.slice(0, query.limit);
    const last = page.at(-1);
    return {
      actions: page.map((row) => this.#toAction(row)),
      ...(rows.length > query.limit && last ? { next: String(last.number) } : {}),
    };
  }

  #readStoredInput(call: string): string {
    return this.#sql.exec<{ input: string }>("SELECT input FROM ledger WHERE call = ?", call).toArray()[0]?.input ?? "";
  }

  #readMessageId(turn: string): string | null {
    const [row] = this.#sql
      .exec<{ id: string }>(
        "SELECT id FROM messages WHERE turn = ? AND role = 'assistant' AND status = 'complete' ORDER BY position DESC LIMIT 1",
        turn,
      )
      .toArray();
    return row?.id ?? null;
  }

  #shorten(text: string): string {
    const clean = this.#redact(text);
    return clean.length > maxSummaryChars ? `${clean.slice(0, maxSummaryChars)}… (${clean.length} characters)` : clean;
  }

  #toAction(row: Row): Action {
    return {
      id: row.id,
      sessionId: this.#agent,
      timestamp: row.timestamp,
      tool: row.tool,
      action: row.action,
      input: row.input,
      ...(row.output_summary !== null ? { outputSummary: row.output_summary } : {}),
      durationMs: row.duration_ms,
      success: row.success === 1,
      ...(row.error !== null ? { error: row.error } : {}),
      ...(row.message_id !== null ? { messageId: row.message_id } : {}),
      runId: row.turn,
      ...(row.agent === null ? {} : { agent: row.agent }),
    };
  }
}

function getOutcome(event: Extract<AgentEvent, { type: "tool.output" | "tool.error" | "capability.answered" }>): {
  summary?: string;
  error?: string;
} {
  if (event.type === "tool.output") return { summary: event.data.result.summary };
  if (event.type === "tool.error") return { error: event.data.error };
  return event.data.error === undefined ? { summary: event.data.summary ?? "" } : { error: event.data.error };
}
