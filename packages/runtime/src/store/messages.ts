import type { AgentEvent, Message, MessageQuery, MessageToolCall } from "@thinkery/sdk";
import type { Draft } from "./draft.ts";
import { MessageProjection } from "./message-projection.ts";
import {
  type MessageRow,
  toMessage,
  type TranscriptMessage,
  toTranscriptMessage,
  takeFittingRows,
} from "./message-row.ts";

/** Maximum characters per page by default: messages between objects are limited in size. */
const defaultPageChars = 4_000_000;

/** Returns the id of the message that holds a call's result. */
export const toResultId = (callId: string): string => `${callId}-result`;

/** The size of the conversation, in a provider's tokens. */
export interface ConversationSize {
  /** Everything before this position was the input. */
  position: number;
  input: number;
  /** Input and output. */
  tokens: number;
}

/** The conversation as stored, with the draft of the current step. */
export class Messages {
  readonly #sql: SqlStorage;
  readonly #projection: MessageProjection;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    this.#projection = new MessageProjection(sql);
  }

  get draft(): Draft | undefined {
    return this.#projection.draft;
  }

  apply(event: AgentEvent): void {
    this.#projection.apply(event);
  }

  empty(): void {
    this.#projection.empty();
  }

  /** Drops what is cached in memory after a transaction was rolled back. */
  revert(): void {
    this.#projection.revert();
  }

  /** Returns what the model was sent and what it said after this position, in order. */
  listTranscript(after: number): TranscriptMessage[] {
    return this.#sql
      .exec<MessageRow>(
        "SELECT * FROM messages WHERE position > ? AND (status = 'complete' OR (status = 'cancelled' AND role = 'assistant')) ORDER BY position",
        after,
      )
      .toArray()
      .map(toTranscriptMessage);
  }

  /** Returns the calls of the turn's last message with calls that have no result yet, in the model's order. */
  listUnansweredCalls(turn: string): (MessageToolCall & { malformed?: string })[] {
    const [last] = this.#sql
      .exec<{ tool_calls: string | null }>(
        "SELECT tool_calls FROM messages WHERE turn = ? AND tool_calls IS NOT NULL AND status = 'complete' ORDER BY position DESC LIMIT 1",
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

  /** Returns whether the turn's last message is the model's and has no tool calls. */
  isAnswered(turn: string): boolean {
    const [last] = this.#sql
      .exec<{ role: string; tool_calls: string | null }>(
        "SELECT role, tool_calls FROM messages WHERE turn = ? AND position IS NOT NULL ORDER BY position DESC LIMIT 1",
        turn,
      )
      .toArray();
    return last?.role === "assistant" && last.tool_calls === null;
  }

  /** Returns the number of steps of this turn in which a model call completed. */
  countCompletedSteps(turn: string): number {
    const { step } = this.#sql
      .exec<{ step: number | null }>(
        "SELECT max(step) AS step FROM messages WHERE turn = ? AND role = 'assistant' AND status = 'complete'",
        turn,
      )
      .one();
    return step ?? 0;
  }

  /** Returns the model's last text in this turn. */
  getLastText(turn: string): string {
    const [last] = this.#sql
      .exec<{ content: string }>(
        "SELECT content FROM messages WHERE turn = ? AND role = 'assistant' ORDER BY position DESC LIMIT 1",
        turn,
      )
      .toArray();
    return last?.content ?? "";
  }

  /** Returns the id of the turn's last complete message of the model. */
  getLastStepId(turn: string): string | undefined {
    const { lastCompleted } = this.#projection;
    if (lastCompleted?.turn === turn) return lastCompleted.id;
    return this.#sql
      .exec<{ id: string }>(
        "SELECT id FROM messages WHERE turn = ? AND role = 'assistant' AND status = 'complete' ORDER BY position DESC LIMIT 1",
        turn,
      )
      .toArray()[0]?.id;
  }

  /** Returns the messages that joined a running turn and were not delivered yet. */
  listWaitingIds(turn: string): string[] {
    return this.#sql
      .exec<{ id: string }>(
        "SELECT id FROM messages WHERE turn = ? AND position IS NULL AND status = 'pending' ORDER BY rowid",
        turn,
      )
      .toArray()
      .map(({ id }) => id);
  }

  /** Returns what the provider counted in its last call, and the position of its response. */
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
    const { lastCompleted } = this.#projection;
    if (lastCompleted?.id === id) return toMessage(lastCompleted);
    const [row] = this.#sql.exec<MessageRow>("SELECT * FROM messages WHERE id = ?", id).toArray();
    return row && toMessage(row);
  }

  /** Returns the message with the result of a call, if it has one. */
  getResult(callId: string): Message | undefined {
    return this.get(toResultId(callId));
  }

  /** Returns the latest page, oldest first, of at most `maxChars` characters; queued messages come last. */
  page({ before, limit }: MessageQuery, maxChars = defaultPageChars): { messages: Message[]; next?: string } {
    const rows = this.#sql.exec<MessageRow>(
      `SELECT * FROM messages WHERE ${before ? "position < ?" : "position IS NOT NULL AND 0 <> ?"} ORDER BY position DESC LIMIT ?`,
      before ?? 1,
      limit + 1,
    );
    const { taken, isComplete } = takeFittingRows(rows, limit, maxChars);
    const page = taken.toReversed();
    const oldest = page[0]?.position;
    const queued = before ? [] : this.#readQueued(limit, maxChars);
    return {
      messages: [...page, ...queued].map(toMessage),
      ...(!isComplete && oldest ? { next: String(oldest) } : {}),
    };
  }

  /** Reads the messages that are there by now, oldest first; queued ones come last. */
  *readPages(limit: number, maxChars: number): Generator<Message[]> {
    const { last } = this.#sql.exec<{ last: number | null }>("SELECT max(position) AS last FROM messages").one();
    for (let after = 0; ;) {
      const rows = this.#sql.exec<MessageRow>(
        "SELECT * FROM messages WHERE position > ? AND position <= ? ORDER BY position",
        after,
        last,
      );
      const { taken, isComplete } = takeFittingRows(rows, limit, maxChars);
      yield taken.map(toMessage);
      if (isComplete) break;
      after = taken.at(-1)?.position ?? after;
    }
    yield this.#readQueued(limit, maxChars).map(toMessage);
  }

  count(): number {
    return this.#sql.exec<{ n: number }>("SELECT count(*) AS n FROM messages").one().n;
  }

  #readQueued(limit: number, maxChars: number): MessageRow[] {
    const rows = this.#sql.exec<MessageRow>(
      "SELECT * FROM messages WHERE position IS NULL AND status = 'pending' ORDER BY rowid",
    );
    return takeFittingRows(rows, limit, maxChars).taken;
  }
}
