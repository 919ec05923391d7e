import type { Changed } from "@thinkery/sdk/react";
import type { Listing } from "../api/files.ts";

/** So often at most the host is asked again, however much an agent writes. */
const minIntervalMs = 400;
/** A person's typing is one version until somebody looks at it, and then another one begins. So nobody looks at once. */
const typingDelayMs = 15_000;

/** Looks again when there is a reason: soon, and however many reasons there are, not more often than is good. */
export class Refresher {
  readonly #refresh: () => void;
  #lastRefreshAt = Date.now();
  #dueAt = Number.POSITIVE_INFINITY;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(look: () => void) {
    this.#refresh = look;
  }

  schedule(): void {
    this.#scheduleAt(Math.max(Date.now(), this.#lastRefreshAt + minIntervalMs));
  }

  /** Something was changed; `listing` is what is known of the files. */
  handleChange(changed: Changed, listing: Listing | undefined): void {
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

/** May it be that somebody types? Whoever has the text open sees it there; the list would only have other sizes. */
function isTyped({ by, changes, more }: Changed, listing: Listing | undefined): boolean {
  if (by !== "user" || more > 0) return false;
  const texts = new Set(changes.map(({ path }) => path));
  const listed = listing?.files.filter(({ path, kind }) => kind === "text" && texts.has(path)) ?? [];
  return changes.every(({ kind }) => kind === "edit") && listed.length === texts.size;
}
