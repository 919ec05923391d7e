import { fail } from "@thinkery/sdk";
import type { Decision } from "./sync-decision.ts";

/** What is to be done about one file. One that was moved here is moved there, and its history goes with it. */
export type Task = { path: string; decision: Exclude<Decision, "agreed"> } | { path: string; decision: "moveThere"; from: string };

/** Each side's files by their hashes. */
export interface Sides {
  here: ReadonlyMap<string, { hash: string }>;
  there: ReadonlyMap<string, string>;
}

/** A file that has gone and one that has come with the same in it are one that was moved. */
export function withMoves(tasks: readonly Task[], { here, there }: Sides): Task[] {
  const gone = new Map<string, string[]>();
  for (const { path, decision } of tasks) {
    if (decision !== "removeThere") continue;
    const hash = there.get(path) as string;
    gone.set(hash, [...(gone.get(hash) ?? []), path]);
  }
  if (gone.size === 0) return [...tasks];
  const moved = new Set<string>();
  const moves = tasks.map((task): Task => {
    const { path, decision } = task;
    const from = decision === "send" && !there.has(path) ? origin(path, gone.get(here.get(path)?.hash ?? "") ?? []) : undefined;
    if (from === undefined) return task;
    moved.add(from);
    return { path, decision: "moveThere", from };
  });
  return moves.filter(({ path, decision }) => !(decision === "removeThere" && moved.has(path)));
}

/** Takes one out of those that a file may have been. One that kept its name is the likeliest. */
function origin(path: string, candidates: string[]): string | undefined {
  const name = (one: string) => one.slice(one.lastIndexOf("/") + 1);
  const likeliest = candidates.findIndex((candidate) => name(candidate) === name(path));
  return candidates.splice(Math.max(likeliest, 0), 1)[0];
}

/** What is ignored has to be known before anything else comes. */
export function rulesFirst(tasks: readonly Task[]): Task[] {
  return tasks.filter(({ path, decision }) => decision === "fetch" && /(?:^|\/)\.gitignore$/.test(path));
}

/** So many files are not deleted at once because nobody sees them any more: a disk may be gone. */
const suspicious = 10;

/** What is still there under another name is not gone. */
export function refuseVanished(tasks: readonly Task[], { here, there }: Sides, { known, folder }: { known: number; folder: string }): void {
  const refuse = (count: number, from: string, where: string) => {
    if (count < suspicious || count * 2 <= known) return;
    throw fail("conflict", `${count} of ${known} files are gone from ${from} at once. If they should be deleted ${where} too, say so with --force; nothing was done.`);
  };
  const gone = (decision: Decision, hashOf: (path: string) => string | undefined, left: Iterable<string>) => {
    const hashes = new Set(left);
    return tasks.filter((task) => task.decision === decision && !hashes.has(hashOf(task.path) ?? "")).length;
  };
  refuse(gone("removeThere", (path) => there.get(path), [...here.values()].map(({ hash }) => hash)), "the folder", "from the workspace");
  refuse(gone("removeHere", (path) => here.get(path)?.hash, there.values()), "the workspace", `from ${folder}`);
}
