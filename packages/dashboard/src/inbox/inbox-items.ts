import type { Approval, Question } from "@thinkery/sdk";
import { type AgentPlace, type Inbox, parseAgentPlace } from "../api/inbox.ts";

/** Something of an agent that a person can answer, or has answered since the inbox was opened. */
export type InboxItem = { id: string; place: AgentPlace; createdAt: string; isOpen: boolean } & (
  | { kind: "approval"; approval: Approval }
  | { kind: "question"; question: Question }
);

/** Approvals as the host returned them for our answers, by id. The inbox has them a moment later. */
export type KnownApprovals = Readonly<Record<string, Approval>>;

/** Lists what is in the inbox of a user, oldest first. */
export function listInboxItems({ approvals, questions }: Inbox, user: string): InboxItem[] {
  const items = [
    ...approvals.map((approval): InboxItem => ({ ...toItem(approval, user), kind: "approval", approval })),
    ...questions.map((question): InboxItem => ({ ...toItem(question, user), kind: "question", question })),
  ];
  return items.sort((a, b) => a.createdAt.localeCompare(b.createdAt));
}

/**
 * Merges what is in the inbox now with what was shown before: an item that is gone stays in its place, so that nobody
 * clicks on the next one by mistake.
 */
export function mergeItems(
  shown: readonly InboxItem[],
  listed: readonly InboxItem[],
  known: KnownApprovals,
): InboxItem[] {
  const ids = new Set(listed.map(({ id }) => id));
  const shownIds = new Set(shown.map(({ id }) => id));
  const current = new Map(listed.map((item) => [item.id, item]));
  const kept = shown.map((item) => current.get(item.id) ?? { ...item, isOpen: false });
  const added = listed.filter(({ id }) => !shownIds.has(id));
  return [...kept, ...added].map((item) => applyKnown(item, known, ids.has(item.id)));
}

function applyKnown(item: InboxItem, known: KnownApprovals, isListed: boolean): InboxItem {
  if (item.kind !== "approval" || !Object.hasOwn(known, item.id)) return item;
  const approval = known[item.id];
  if (!approval || countDecided(approval) < countDecided(item.approval)) return item;
  return { ...item, approval, isOpen: isListed && approval.status === "pending" };
}

const countDecided = ({ calls, status }: Approval) =>
  status === "pending" ? calls.filter(({ decision }) => decision !== undefined).length : Infinity;

const toItem = ({ id, agent, createdAt }: Pick<Approval, "id" | "agent" | "createdAt">, user: string) => ({
  id,
  place: parseAgentPlace(agent, user),
  createdAt,
  isOpen: true,
});
