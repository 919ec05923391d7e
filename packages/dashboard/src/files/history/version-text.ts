import type { Change, Origin, Version } from "@thinkery/sdk";
import { formatCount } from "../../parts/amount.ts";
import { getFileName } from "../tree/rows.ts";

const changeVerbs: Record<Change["kind"], string> = { add: "added", edit: "edited", delete: "deleted", move: "moved" };

/** Name of an author as shown to `reader`; `owner` is the agent that owns the files. */
export function getAuthorName({ kind, user, agent }: Origin, reader: string, owner: string | undefined): string {
  // An agent's name may be prefixed with its agency.
  if (kind === "agent") return agent?.slice(agent.lastIndexOf("~") + 1) ?? owner ?? "an agent";
  return user === reader || user === undefined ? "you" : user;
}

/** Like `getAuthorName`, for the start of a sentence. */
export function getAuthorLabel(...args: Parameters<typeof getAuthorName>): string {
  const name = getAuthorName(...args);
  return name === "you" ? "You" : name;
}

/** Summarizes a version in one line. */
export function summarizeVersion({
  changes,
  more = 0,
  reverts,
  merges,
}: Pick<Version, "changes" | "more" | "reverts" | "merges">): string {
  if (merges !== undefined) return `merged branch ${merges}`;
  if (reverts?.length)
    return `reverted ${reverts.length === 1 ? `version ${reverts[0]}` : formatCount(reverts.length, "version")}`;
  return summarizeChanges(changes, more);
}

export function summarizeChanges(changes: readonly Change[], more = 0): string {
  const [first, second] = changes;
  if (!first) return more > 0 ? `changed ${formatCount(more, "file")}` : "made no changes";
  const count = changes.length + more;
  if (count === 1) return describeChange(first);
  const verb = changes.every(({ kind }) => kind === first.kind) && more === 0 ? changeVerbs[first.kind] : "changed";
  if (count === 2 && second) return `${verb} ${getFileName(first.path)} and ${getFileName(second.path)}`;
  return `${verb} ${getFileName(first.path)} and ${count - 1} more`;
}

export function describeChange({ path, kind, from }: Change): string {
  return kind === "move" && from !== undefined ? `moved ${from} to ${path}` : `${changeVerbs[kind]} ${path}`;
}
