import type { Version } from "@thinkery/sdk";

/** What was read so far of a history, the newest first. */
export interface LoadedVersions {
  versions: Version[];
  /** Where the next page begins, if there is one. */
  next?: number | undefined;
  oldest?: number | undefined;
  error?: Error;
}

/** The newest page takes the place of what it covers; what was loaded behind it stays. */
export function mergePages(page: LoadedVersions, before: LoadedVersions | undefined): LoadedVersions {
  const last = page.versions.at(-1)?.id;
  const known = before?.versions ?? [];
  // So much was made meanwhile that there is a gap between them.
  const isApart = last !== undefined && known.every(({ id }) => id < last);
  const behind = last === undefined || page.next === undefined || isApart ? [] : known.filter(({ id }) => id < last);
  return behind.length === 0 ? page : { ...page, versions: [...page.versions, ...behind], next: before?.next };
}

interface ListPosition {
  place: string;
  read: LoadedVersions;
  /** How far down it was. */
  top: number;
}

let lastPosition: ListPosition | undefined;

/** Whoever looks at a version and comes back finds the list where they left it. */
export const recallPosition = (place: string): ListPosition | undefined =>
  lastPosition?.place === place ? lastPosition : undefined;

export function rememberPosition(where: ListPosition): void {
  lastPosition = where;
}
