import type { AgentEvent, EventData, MessageToolCall } from "@thinkery/sdk";
import { positionsPerEvent } from "@thinkery/sdk/internal";
import { type Draft, reduceDraft } from "./draft.ts";
import { emptyRow, type MessageRow } from "./message-row.ts";

/** The step whose tool calls are running, by the position of its message. */
interface OpenStep {
  position: number;
  calls: readonly string[];
}

/** Writes the messages table from the log, and keeps the draft of the current step. */
export class MessageProjection {
  readonly #sql: SqlStorage;
  #draft: Draft | undefined;
  /** By turn. */
  readonly #steps = new Map<string, OpenStep>();
  /** The row written when a model call completed: it is sent to clients right after. */
  #lastCompleted: MessageRow | undefined;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  get draft(): Draft | undefined {
    return this.#draft;
  }

  /** Returns the row of the last completed model call, which need not be read back from the table. */
  get lastCompleted(): MessageRow | undefined {
    return this.#lastCompleted;
  }

  apply(event: AgentEvent): void {
    switch (event.type) {
      case "request.accepted":
        for (const message of event.data.messages) {
          const attachments = message.attachments ? JSON.stringify(message.attachments) : null;
          this.#sql.exec(
            "INSERT INTO messages (id, turn, role, status, content, attachments, timestamp) VALUES (?, ?, ?, 'pending', ?, ?, ?)",
            message.id,
            event.data.runId,
            message.role,
            message.content,
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
      case "reply.completed":
        this.#completeReply(event.seq, event.data);
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
        // Messages of a turn that never started stay readable, but are not sent to a model.
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
      case "subagent.spawned":
        this.#noteDelegation(event.data);
        break;
      case "subagent.delivered":
        this.#insertNotice(event.seq, Date.parse(event.ts), event.data);
        break;
      case "history.cleared":
        this.empty();
        break;
      default:
    }
    this.#draft = reduceDraft(this.#draft, event);
    if (event.type === "agent.completed" || event.type === "agent.error" || event.type === "run.canceled")
      this.#steps.delete(event.data.runId);
  }

  empty(): void {
    this.#sql.exec("DELETE FROM messages");
    this.#draft = undefined;
    this.#steps.clear();
    this.#lastCompleted = undefined;
  }

  /** Drops what is cached in memory after a transaction was rolled back. */
  revert(): void {
    this.#lastCompleted = undefined;
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
    this.#steps.set(data.runId, { position, calls: data.toolCalls.map(({ id }) => id) });
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
    // SQLite replaces lone surrogates: cache only a row that would read back as it was written.
    this.#lastCompleted = row.content.isWellFormed() && (row.reasoning ?? "").isWellFormed() ? row : undefined;
  }

  /** A message that code wrote. Others of the same turn may be written while the calls of an earlier one run. */
  #completeReply(seq: number, { runId, step, messageId, toolCalls }: EventData["reply.completed"]): void {
    const position = seq * positionsPerEvent;
    if (toolCalls.length > 0) this.#steps.set(runId, { position, calls: toolCalls.map(({ id }) => id) });
    this.#lastCompleted = undefined;
    this.#sql.exec(
      `INSERT INTO messages (id, position, turn, step, role, status, content, tool_calls, timestamp)
       VALUES (?, ?, ?, ?, 'assistant', 'complete', ?, ?, ?)`,
      messageId,
      position,
      runId,
      step,
      this.#draft?.text ?? "",
      toolCalls.length > 0 ? JSON.stringify(toolCalls) : null,
      this.#draft?.startedAt ?? 0,
    );
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
      draft.model || null,
      draft.attempt,
    );
  }

  #noteDelegation({ messageId, taskId }: EventData["subagent.spawned"]): void {
    if (messageId === undefined) return;
    if (this.#lastCompleted?.id === messageId) this.#lastCompleted = undefined;
    this.#sql.exec(
      "UPDATE messages SET delegated_task_ids = json_insert(coalesce(delegated_task_ids, '[]'), '$[#]', ?) WHERE id = ?",
      taskId,
      messageId,
    );
  }

  #insertNotice(seq: number, at: number, { runId, messageId, content }: EventData["subagent.delivered"]): void {
    if (messageId === undefined || content === undefined) return;
    this.#sql.exec(
      "INSERT INTO messages (id, position, turn, role, status, content, timestamp, notice) VALUES (?, ?, ?, 'user', 'complete', ?, ?, 1)",
      messageId,
      seq * positionsPerEvent,
      runId,
      content,
      at,
    );
  }

  // Results are in the order of their calls, no matter which tool finished first.
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
    const known = this.#steps.get(turn);
    if (known) return known;
    const [row] = this.#sql
      .exec<{ position: number; tool_calls: string | null }>(
        "SELECT position, tool_calls FROM messages WHERE turn = ? AND tool_calls IS NOT NULL AND status = 'complete' ORDER BY position DESC LIMIT 1",
        turn,
      )
      .toArray();
    const calls = JSON.parse(row?.tool_calls ?? "[]") as MessageToolCall[];
    const step = { position: row?.position ?? 0, calls: calls.map(({ id }) => id) };
    this.#steps.set(turn, step);
    return step;
  }
}
