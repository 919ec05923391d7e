import type { Version } from "@thinkery/sdk";

/** What was read so far of a history, the newest first. */
export interface ReadVersions {
  versions: Version[];
  /** Where the next page begins, if there is one. */
  next?: number | undefined;
  oldest?: number | undefined;
  error?: Error;
}

/** The newest page takes the place of what it covers; what was loaded behind it stays. */
export function joined(page: ReadVersions, before: ReadVersions | undefined): ReadVersions {
  const last = page.versions.at(-1)?.id;
  const known = before?.versions ?? [];
  // So much was made meanwhile that there is a gap between them.
  const isApart = last !== undefined && known.every(({ id }) => id < last);
  const behind = last === undefined || page.next === undefined || isApart ? [] : known.filter(({ id }) => id < last);
  return behind.length === 0 ? page : { ...page, versions: [...page.versions, ...behind], next: before?.next };
}

interface Left {
  place: string;
  read: ReadVersions;
  /** How far down it was. */
  top: number;
}

let left: Left | undefined;

/** Whoever looks at a version and comes back finds the list where they left it. */
export const leftAt = (place: string): Left | undefined => (left?.place === place ? left : undefined);

export function leave(where: Left): void {
  left = where;
}
