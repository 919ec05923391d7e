import type { Change, Origin, Version } from "@thinkery/sdk";
import { formatCount } from "../../parts/amount.ts";
import { getFileName } from "../tree/rows.ts";

const changeVerbs: Record<Change["kind"], string> = { add: "added", edit: "edited", delete: "deleted", move: "moved" };

/** Who did it, as a reader knows them. */
export function getAuthorName({ kind, user, agent }: Origin, reader: string, host: string): string {
  // An agent may be named with its agency, as its object is.
  if (kind === "agent") return agent?.slice(agent.lastIndexOf("~") + 1) ?? host;
  return user === reader || user === undefined ? "you" : user;
}

/** The same where a sentence begins; names stay as they are. */
export function getAuthorLabel(...given: Parameters<typeof getAuthorName>): string {
  const who = getAuthorName(...given);
  return who === "you" ? "You" : who;
}

/** What a version is, in one line. */
export function summarizeVersion({
  changes,
  more = 0,
  reverts,
  merges,
}: Pick<Version, "changes" | "more" | "reverts" | "merges">): string {
  if (merges !== undefined) return `merged the branch ${merges}`;
  if (reverts?.length)
    return `took back ${reverts.length === 1 ? `version ${reverts[0]}` : formatCount(reverts.length, "version")}`;
  return summarizeChanges(changes, more);
}

export function summarizeChanges(changes: readonly Change[], more = 0): string {
  const [first, second] = changes;
  if (!first) return more > 0 ? `changed ${formatCount(more, "file")}` : "changed nothing";
  const count = changes.length + more;
  if (count === 1) return describeChange(first);
  const deed = changes.every(({ kind }) => kind === first.kind) && more === 0 ? changeVerbs[first.kind] : "changed";
  if (count === 2 && second) return `${deed} ${getFileName(first.path)} and ${getFileName(second.path)}`;
  return `${deed} ${getFileName(first.path)} and ${count - 1} more`;
}

export function describeChange({ path, kind, from }: Change): string {
  return kind === "move" && from !== undefined ? `moved ${from} to ${path}` : `${changeVerbs[kind]} ${path}`;
}
