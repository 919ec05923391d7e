import type { Version } from "@thinkery/sdk";

/** The versions loaded so far, newest first. */
export interface LoadedVersions {
  versions: Version[];
  /** Start of the next page, if there is one. */
  next?: number | undefined;
  oldest?: number | undefined;
  error?: Error;
}

/** The newest page replaces the versions it covers; older ones are kept. */
export function mergePages(page: LoadedVersions, previous: LoadedVersions | undefined): LoadedVersions {
  const last = page.versions.at(-1)?.id;
  const loaded = previous?.versions ?? [];
  // So many versions are new that there is a gap between the two.
  const hasGap = last !== undefined && loaded.every(({ id }) => id < last);
  const older = last === undefined || page.next === undefined || hasGap ? [] : loaded.filter(({ id }) => id < last);
  return older.length === 0 ? page : { ...page, versions: [...page.versions, ...older], next: previous?.next };
}

interface ListPosition {
  key: string;
  loaded: LoadedVersions;
  scrollTop: number;
}

let lastPosition: ListPosition | undefined;

/** Restores the list after the user looked at a version and came back. */
export const recallPosition = (key: string): ListPosition | undefined =>
  lastPosition?.key === key ? lastPosition : undefined;

export function rememberPosition(position: ListPosition): void {
  lastPosition = position;
}
