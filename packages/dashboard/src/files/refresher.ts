import type { FileChanges } from "@thinkery/sdk/react";
import type { Listing } from "../api/files.ts";

/** Minimum time between refreshes, however much an agent writes. */
const minIntervalMs = 400;
/**
 * Typing is recorded as one version until someone reads the files, which starts a new one. So refreshes are delayed.
 */
const typingDelayMs = 15_000;

/** Throttles refreshes of the files view. */
export class Refresher {
  readonly #refresh: () => void;
  #lastRefreshAt = Date.now();
  #dueAt = Number.POSITIVE_INFINITY;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(refresh: () => void) {
    this.#refresh = refresh;
  }

  schedule(): void {
    this.#scheduleAt(Math.max(Date.now(), this.#lastRefreshAt + minIntervalMs));
  }

  /** Schedules a refresh after a change; `listing` is the current file list. */
  handleChange(changed: FileChanges, listing: Listing | undefined): void {
    if (isTyped(changed, listing)) this.#scheduleAt(Date.now() + typingDelayMs);
    else this.schedule();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#dueAt = Number.POSITIVE_INFINITY;
  }

  #scheduleAt(time: number): void {
    if (time >= this.#dueAt) return;
    clearTimeout(this.#timer);
    this.#dueAt = time;
    this.#timer = setTimeout(() => {
      this.#dueAt = Number.POSITIVE_INFINITY;
      this.#lastRefreshAt = Date.now();
      this.#refresh();
    }, time - Date.now());
  }
}

/**
 * Whether the change may be typing in listed texts. Open editors show it anyway; in the list only sizes would change.
 */
function isTyped({ by, changes, more }: FileChanges, listing: Listing | undefined): boolean {
  if (by !== "user" || more > 0) return false;
  const texts = new Set(changes.map(({ path }) => path));
  const listed = listing?.files.filter(({ path, kind }) => kind === "text" && texts.has(path)) ?? [];
  return changes.every(({ kind }) => kind === "edit") && listed.length === texts.size;
}
