import type { AgentEvent, EventData, Message, MessageQuery, MessageToolCall } from "@thinkery/sdk";
import { positionsPerEvent } from "@thinkery/sdk/internal";
import { type Draft, reduceDraft } from "./draft.ts";
import {
  emptyRow,
  type MessageRow,
  toMessage,
  type TranscriptMessage,
  toTranscriptMessage,
  takeFittingRows,
} from "./message-row.ts";

/** So many characters stand on a page where nothing else is said: what crosses to another object is limited. */
const defaultPageChars = 4_000_000;

interface OpenStep {
  position: number;
  calls: readonly string[];
}

/** How large the conversation was, in a provider's tokens. */
export interface ConversationSize {
  /** What stands before this place was the input. */
  position: number;
  input: number;
  /** With the answer. */
  tokens: number;
}

/** The conversation: a projection of the log, with the draft of the step that is under way. */
export class Messages {
  readonly #sql: SqlStorage;
  #draft: Draft | undefined;
  #step: OpenStep | undefined;
  /** The row that was written last when a model finished: clients are told of it right after. */
  #lastWritten: MessageRow | undefined;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  get draft(): Draft | undefined {
    return this.#draft;
  }

  apply(event: AgentEvent): void {
    switch (event.type) {
      case "request.accepted":
        for (const said of event.data.messages) {
          const attachments = said.attachments ? JSON.stringify(said.attachments) : null;
          this.#sql.exec(
            "INSERT INTO messages (id, turn, role, status, content, attachments, timestamp) VALUES (?, ?, ?, 'pending', ?, ?, ?)",
            said.id,
            event.data.runId,
            said.role,
            said.content,
            attachments,
            Date.parse(event.ts),
          );
        }
        break;
      case "run.started":
        this.#assignPositions(event.seq, "turn = ? AND position IS NULL", event.data.runId);
        break;
      case "message.delivered":
        this.#assignPositions(
          event.seq,
          "id IN (SELECT value FROM json_each(?)) AND position IS NULL",
          JSON.stringify(event.data.messageIds),
        );
        break;
      case "message.requeued":
        this.#sql.exec(
          "UPDATE messages SET turn = ? WHERE id IN (SELECT value FROM json_each(?))",
          event.data.runId,
          JSON.stringify(event.data.messageIds),
        );
        break;
      case "model.completed":
        this.#complete(event.seq, event.data);
        break;
      case "tool.output":
        this.#insertResult(
          event.data.callId,
          event.data.messageId,
          event,
          event.data.output,
          JSON.stringify(event.data.result),
          null,
        );
        break;
      case "tool.error": {
        const { callId, messageId, toolName: name, error } = event.data;
        const result = {
          callId,
          name,
          summary: error.slice(0, 500),
          preview: error.slice(0, 500),
          size: error.length,
          failed: true,
        };
        this.#insertResult(callId, messageId, event, error, JSON.stringify(result), error);
        break;
      }
      case "run.canceled":
        if (this.#draft?.text && this.#draft.runId === event.data.runId) this.#insertPartial(event.seq, this.#draft);
        // What was said for a turn that never began stays readable, but no model is told.
        this.#assignPositions(event.seq, "turn = ? AND position IS NULL", event.data.runId, "cancelled");
        break;
      case "agent.error":
        this.#sql.exec(
          "INSERT INTO messages (id, position, turn, role, status, content, error, timestamp) VALUES (?, ?, ?, 'assistant', 'error', '', ?, ?)",
          `${event.data.runId}-error`,
          event.seq * positionsPerEvent,
          event.data.runId,
          [event.data.error, event.data.advice].filter(Boolean).join(" "),
          Date.parse(event.ts),
        );
        break;
      case "history.cleared":
        this.empty();
        break;
      default:
    }
    this.#draft = reduceDraft(this.#draft, event);
  }

  empty(): void {
    this.#sql.exec("DELETE FROM messages");
    this.#draft = undefined;
    this.#step = undefined;
    this.#lastWritten = undefined;
  }

  /** Forgets what a transaction wrote that was rolled back. */
  revert(): void {
    this.#lastWritten = undefined;
  }

  /** What the model has been told and has said after this place, in order. */
  listTranscript(after: number): TranscriptMessage[] {
    return this.#sql
      .exec<MessageRow>(
        "SELECT * FROM messages WHERE position > ? AND (status = 'complete' OR (status = 'cancelled' AND role = 'assistant')) ORDER BY position",
        after,
      )
      .toArray()
      .map(toTranscriptMessage);
  }

  /** The calls of the turn's last step that have no result yet, in the model's order. */
  listUnansweredCalls(turn: string): (MessageToolCall & { malformed?: string })[] {
    const [last] = this.#sql
      .exec<{ tool_calls: string | null }>(
        "SELECT tool_calls FROM messages WHERE turn = ? AND role = 'assistant' AND status = 'complete' ORDER BY position DESC LIMIT 1",
        turn,
      )
      .toArray();
    const calls = JSON.parse(last?.tool_calls ?? "[]") as MessageToolCall[];
    if (calls.length === 0) return calls;
    const answered = new Set(
      this.#sql
        .exec<{ id: string }>(
          "SELECT tool_result ->> 'callId' AS id FROM messages WHERE turn = ? AND role = 'tool'",
          turn,
        )
        .toArray()
        .map(({ id }) => id),
    );
    return calls.filter(({ id }) => !answered.has(id));
  }

  /** Is the last thing said in this turn the model's, and did it ask for nothing? */
  isAnswered(turn: string): boolean {
    const [last] = this.#sql
      .exec<{ role: string; tool_calls: string | null }>(
        "SELECT role, tool_calls FROM messages WHERE turn = ? AND position IS NOT NULL ORDER BY position DESC LIMIT 1",
        turn,
      )
      .toArray();
    return last?.role === "assistant" && last.tool_calls === null;
  }

  /** Steps of this turn in which the model had its say. */
  countCompletedSteps(turn: string): number {
    const { step } = this.#sql
      .exec<{ step: number | null }>(
        "SELECT max(step) AS step FROM messages WHERE turn = ? AND role = 'assistant' AND status = 'complete'",
        turn,
      )
      .one();
    return step ?? 0;
  }

  /** What the model said last in this turn. */
  getLastText(turn: string): string {
    const [last] = this.#sql
      .exec<{ content: string }>(
        "SELECT content FROM messages WHERE turn = ? AND role = 'assistant' ORDER BY position DESC LIMIT 1",
        turn,
      )
      .toArray();
    return last?.content ?? "";
  }

  /** Messages of a running turn that joined it and have no place yet. */
  listWaitingIds(turn: string): string[] {
    return this.#sql
      .exec<{ id: string }>(
        "SELECT id FROM messages WHERE turn = ? AND position IS NULL AND status = 'pending' ORDER BY rowid",
        turn,
      )
      .toArray()
      .map(({ id }) => id);
  }

  /** What the provider counted when it was last asked, and the place of its answer. */
  getLastSize(): ConversationSize | undefined {
    const [row] = this.#sql
      .exec<{ position: number; input: number; output: number }>(
        `SELECT position, tokens_input AS input, tokens_output AS output FROM messages
         WHERE role = 'assistant' AND status = 'complete' AND tokens_input > 0 ORDER BY position DESC LIMIT 1`,
      )
      .toArray();
    return row && { position: row.position, input: row.input, tokens: row.input + row.output };
  }

  listByTurn(turn: string): Message[] {
    return this.#sql
      .exec<MessageRow>("SELECT * FROM messages WHERE turn = ? ORDER BY position", turn)
      .toArray()
      .map(toMessage);
  }

  get(id: string): Message | undefined {
    if (this.#lastWritten?.id === id) return toMessage(this.#lastWritten);
    const [row] = this.#sql.exec<MessageRow>("SELECT * FROM messages WHERE id = ?", id).toArray();
    return row && toMessage(row);
  }

  /** The latest page, oldest first, of at most so many characters; what waits in the queue comes last. */
  page({ before, limit }: MessageQuery, most = defaultPageChars): { messages: Message[]; next?: string } {
    const rows = this.#sql.exec<MessageRow>(
      `SELECT * FROM messages WHERE ${before ? "position < ?" : "position IS NOT NULL AND 0 <> ?"} ORDER BY position DESC LIMIT ?`,
      before ?? 1,
      limit + 1,
    );
    const { taken, whole } = takeFittingRows(rows, limit, most);
    const shown = taken.toReversed();
    const oldest = shown[0]?.position;
    const queued = before
      ? []
      : takeFittingRows(
          this.#sql.exec<MessageRow>(
            "SELECT * FROM messages WHERE position IS NULL AND status = 'pending' ORDER BY rowid",
          ),
          limit,
          most,
        ).taken;
    return { messages: [...shown, ...queued].map(toMessage), ...(!whole && oldest ? { next: String(oldest) } : {}) };
  }

  count(): number {
    return this.#sql.exec<{ n: number }>("SELECT count(*) AS n FROM messages").one().n;
  }

  #assignPositions(seq: number, where: string, value: string, status: "complete" | "cancelled" = "complete"): void {
    const ids = this.#sql
      .exec<{ id: string }>(`SELECT id FROM messages WHERE ${where} ORDER BY rowid`, value)
      .toArray();
    for (const [index, { id }] of ids.entries()) {
      this.#sql.exec(
        "UPDATE messages SET position = ?, status = ? WHERE id = ?",
        seq * positionsPerEvent + index,
        status,
        id,
      );
    }
  }

  #complete(seq: number, data: EventData["model.completed"]): void {
    const draft = this.#draft;
    const position = seq * positionsPerEvent;
    this.#step = { position, calls: data.toolCalls.map(({ id }) => id) };
    const row: MessageRow = {
      ...emptyRow,
      id: data.messageId,
      position,
      turn: data.runId,
      step: data.step,
      role: "assistant",
      status: "complete",
      content: draft?.text ?? "",
      tool_calls: data.toolCalls.length > 0 ? JSON.stringify(data.toolCalls) : null,
      reasoning: draft?.reasoningSize ? draft.reasoning : null,
      reasoning_full_size: draft?.reasoningSize || null,
      timestamp: draft?.startedAt ?? 0,
      model: data.model,
      tokens_input: data.usage.inputTokens,
      tokens_output: data.usage.outputTokens,
      cost_usd: data.usage.costUsd,
      attempt: draft?.attempt ?? 1,
      replay: data.replay === undefined ? null : JSON.stringify(data.replay),
    };
    this.#sql.exec(
      `INSERT INTO messages (id, position, turn, step, role, status, content, tool_calls, reasoning, reasoning_full_size, timestamp,
        model, tokens_input, tokens_output, cost_usd, attempt, replay)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      row.id,
      row.position,
      row.turn,
      row.step,
      row.role,
      row.status,
      row.content,
      row.tool_calls,
      row.reasoning,
      row.reasoning_full_size,
      row.timestamp,
      row.model,
      row.tokens_input,
      row.tokens_output,
      row.cost_usd,
      row.attempt,
      row.replay,
    );
    // SQLite stores half characters as others: only a row that reads back as it was written is kept.
    this.#lastWritten = row.content.isWellFormed() && (row.reasoning ?? "").isWellFormed() ? row : undefined;
  }

  #insertPartial(seq: number, draft: Draft): void {
    this.#sql.exec(
      `INSERT INTO messages (id, position, turn, step, role, status, content, reasoning, reasoning_full_size, timestamp, model, attempt)
       VALUES (?, ?, ?, ?, 'assistant', 'cancelled', ?, ?, ?, ?, ?, ?)`,
      draft.messageId,
      seq * positionsPerEvent,
      draft.runId,
      draft.step,
      draft.text,
      draft.reasoningSize ? draft.reasoning : null,
      draft.reasoningSize || null,
      draft.startedAt,
      draft.model,
      draft.attempt,
    );
  }

  // Results stand in the order of the calls, whichever tool came back first.
  #insertResult(
    callId: string,
    id: string,
    event: AgentEvent & { data: { runId: string } },
    content: string,
    result: string,
    error: string | null,
  ): void {
    const step = this.#getOpenStep(event.data.runId);
    const position = step.position + 1 + Math.max(0, step.calls.indexOf(callId));
    this.#sql.exec(
      "INSERT INTO messages (id, position, turn, role, status, content, tool_result, error, timestamp) VALUES (?, ?, ?, 'tool', 'complete', ?, ?, ?, ?)",
      id,
      position,
      event.data.runId,
      content,
      result,
      error,
      Date.parse(event.ts),
    );
  }

  #getOpenStep(turn: string): OpenStep {
    if (this.#step) return this.#step;
    const [row] = this.#sql
      .exec<{ position: number; tool_calls: string | null }>(
        "SELECT position, tool_calls FROM messages WHERE turn = ? AND role = 'assistant' AND status = 'complete' ORDER BY position DESC LIMIT 1",
        turn,
      )
      .toArray();
    const calls = JSON.parse(row?.tool_calls ?? "[]") as MessageToolCall[];
    this.#step = { position: row?.position ?? 0, calls: calls.map(({ id }) => id) };
    return this.#step;
  }
}
