import {
  type Approval,
  type ApprovalList,
  type ApprovalQuery,
  type ApprovalStatus,
  fail,
  type PageQuery,
  type Question,
  type QuestionList,
} from "@thinkery/sdk";
import { takePage } from "../store/page.ts";

/** Something of an agent that a person can answer, or has answered. */
export type InboxItem = { id: string; isPending: boolean; status: ApprovalStatus; createdAt: string } & (
  | { kind: "approval"; value: Approval }
  | { kind: "question"; value: Question }
);

/** Answered items that are kept, over all agents. */
const maxAnswered = 500;

/** What the agents of a user wait for, as each last sent it. The agents themselves decide what is still open. */
export class Inbox {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Replaces the items of an agent, `agency~agent/sub-agent`. Returns whether anything has changed. */
  put(agent: string, items: readonly InboxItem[]): boolean {
    const before = this.#read(agent);
    this.#sql.exec("DELETE FROM inbox WHERE agent = ?", agent);
    for (const { id, kind, isPending, status, createdAt, value } of items) {
      this.#sql.exec(
        `INSERT OR REPLACE INTO inbox (id, agent, kind, pending, status, created_at, value) VALUES (?, ?, ?, ?, ?, ?, ?)`,
        id,
        agent,
        kind,
        isPending ? 1 : 0,
        status,
        Date.parse(createdAt),
        JSON.stringify(value),
      );
    }
    this.#sql.exec(
      `DELETE FROM inbox WHERE pending = 0 AND id NOT IN
       (SELECT id FROM inbox WHERE pending = 0 ORDER BY created_at DESC LIMIT ?)`,
      maxAnswered,
    );
    return before !== this.#read(agent);
  }

  /** Removes everything of an agent and those below it, or of all agents of an agency, `agency~`. */
  forget(agent: string): void {
    const isAgency = agent.endsWith("~");
    const below = isAgency ? agent : `${agent}/`;
    this.#sql.exec(
      "DELETE FROM inbox WHERE agent = ? OR (agent >= ? AND agent < ?)",
      agent,
      below,
      `${below.slice(0, -1)}${String.fromCharCode(below.charCodeAt(below.length - 1) + 1)}`,
    );
  }

  countPending(): number {
    return this.#sql.exec<{ n: number }>("SELECT count(*) AS n FROM inbox WHERE pending = 1").one().n;
  }

  /** Returns which agent an item belongs to. */
  findAgent(id: string): string | undefined {
    return this.#sql.exec<{ agent: string }>("SELECT agent FROM inbox WHERE id = ?", id).toArray()[0]?.agent;
  }

  /** Returns the pending approvals, oldest first, or others, newest first. `agency` is a prefix, `agency~`. */
  listApprovals({ status = "pending", id, ...page }: ApprovalQuery, agency = ""): ApprovalList {
    const found = this.#list<Approval>({ kind: "approval", status, agency, page, ...(id === undefined ? {} : { id }) });
    const { items, ...rest } = found;
    return { approvals: items, ...rest };
  }

  listQuestions(page: PageQuery, agency = ""): QuestionList {
    const { items, ...rest } = this.#list<Question>({ kind: "question", status: "pending", agency, page });
    return { questions: items, ...rest };
  }

  /** Returns all items of an agent as text. A call that was decided does not change the status of its approval. */
  #read(agent: string): string {
    return JSON.stringify(
      this.#sql.exec("SELECT id, status, value FROM inbox WHERE agent = ? ORDER BY id", agent).toArray(),
    );
  }

  #list<T>({ kind, status, agency, id, page: { limit, after } }: ListOptions): { items: T[]; next?: string } {
    const isPending = status === "pending";
    const last = after === undefined ? undefined : parsePosition(after);
    const rows = this.#sql.exec<{ id: string; at: number; value: string }>(
      `SELECT id, created_at AS at, value FROM inbox
       WHERE kind = ? AND (? = 'all' OR status = ?) AND substr(agent, 1, ?) = ? AND id = coalesce(?, id)
       AND (? IS NULL OR (created_at, id) ${isPending ? ">" : "<"} (?, ?))
       ORDER BY created_at ${isPending ? "" : "DESC"}, id ${isPending ? "" : "DESC"} LIMIT ?`,
      kind,
      status,
      status,
      agency.length,
      agency,
      id ?? null,
      last ? last.at : null,
      last ? last.at : null,
      last ? last.id : null,
      limit + 1,
    );
    return takePage(rows, {
      limit,
      toItem: ({ value }) => JSON.parse(value) as T,
      countChars: ({ value }) => value.length,
      toCursor: (row) => formatPosition(row),
    });
  }
}

interface ListOptions {
  kind: InboxItem["kind"];
  status: ApprovalStatus | "all";
  agency: string;
  id?: string;
  page: PageQuery;
}

/** The place of an item in the order of an inbox: when it was created (epoch ms), then its id. */
export interface InboxPosition {
  at: number;
  id: string;
}

export const formatPosition = ({ at, id }: InboxPosition) => `${at}.${id}`;

export function comparePositions(one: InboxPosition, other: InboxPosition): number {
  if (one.at !== other.at) return one.at - other.at;
  if (one.id === other.id) return 0;
  return one.id < other.id ? -1 : 1;
}

function parsePosition(text: string): InboxPosition {
  const [, at, id = ""] = /^(\d{1,15})\.(.+)$/.exec(text) ?? [];
  if (at === undefined) throw fail("bad_request", "“after” is not the `next` of an earlier page.");
  return { at: Number(at), id };
}
