import { type Answer, type Attachment, fail, type NewEvent } from "@thinkery/sdk";
import type { AgentStore } from "../../store/agent-store.ts";
import type { StoredContinuation } from "../../store/continuations.ts";
import { parseUntrustedSchema } from "../../tools/untrusted-schema.ts";

const maxAnswerChars = 200_000;
const maxIssues = 5;

/** Returns the open question that an answer is about. */
export function findQuestion(
  store: AgentStore,
  { continuationId }: Pick<Answer, "continuationId">,
): StoredContinuation {
  const open = store.continuations.listOpen();
  if (continuationId !== undefined) {
    const found = open.find((continuation) => continuation.continuationId === continuationId);
    if (!found) throw fail("not_found", "No question with this id is open: it may have been answered already.");
    if (found.kind !== "input") throw fail("conflict", `The turn waits for a ${found.kind}, not for an answer.`);
    return found;
  }
  const [first, second] = open.filter(({ kind }) => kind === "input");
  if (!first) throw fail("conflict", "The agent has no open question.");
  if (second) throw fail("bad_request", "Several questions are open. Say which with `continuationId`.");
  return first;
}

/** Throws if a value is not an answer to the question, which then stays open. */
export function checkAnswer({ schema }: StoredContinuation, value: unknown): void {
  if (value === undefined) throw createIssue("The value is missing.");
  if ((JSON.stringify(value) ?? "").length > maxAnswerChars) {
    throw createIssue(`It is longer than ${maxAnswerChars} characters.`);
  }
  if (!schema) {
    if (typeof value !== "string") throw createIssue("Expected text.");
    return;
  }
  const { error } = parseUntrustedSchema(schema).safeParse(value);
  if (!error) return;
  const issues = error.issues.slice(0, maxIssues);
  throw createIssue(issues.map(({ path, message }) => `${["value", ...path].join(".")}: ${message}`).join("; "));
}

export interface AnswerOrigin {
  /** Who answered. */
  by?: string | undefined;
  /** The whole of what arrived, if it is too long for the value. */
  attachment?: Attachment | undefined;
}

export function createAnswerEvent(
  { runId, continuationId, callId }: StoredContinuation,
  value: unknown,
  { by, attachment }: AnswerOrigin = {},
): NewEvent {
  return {
    type: "continuation.resolved",
    data: {
      runId,
      continuationId,
      callId,
      ...(value === undefined ? {} : { value }),
      ...(by === undefined ? {} : { by }),
      ...(attachment ? { attachment } : {}),
    },
  };
}

function createIssue(message: string): Error {
  return fail("bad_request", `Invalid \`value\`: ${message}`, { issues: [{ path: ["value"], message }] });
}
