import type { Changed } from "@thinkery/sdk/react";
import type { Listing } from "../api/files.ts";

/** So often at most the host is asked again, however much an agent writes. */
const pause = 400;
/** A person's typing is one version until somebody looks at it, and then another one begins. So nobody looks at once. */
const whileTyped = 15_000;

/** Looks again when there is a reason: soon, and however many reasons there are, not more often than is good. */
export class Refresher {
  readonly #look: () => void;
  #last = Date.now();
  #due = Number.POSITIVE_INFINITY;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(look: () => void) {
    this.#look = look;
  }

  soon(): void {
    this.#at(Math.max(Date.now(), this.#last + pause));
  }

  /** Something was changed; `listing` is what is known of the files. */
  after(changed: Changed, listing: Listing | undefined): void {
    if (isTyped(changed, listing)) this.#at(Date.now() + whileTyped);
    else this.soon();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#due = Number.POSITIVE_INFINITY;
  }

  #at(time: number): void {
    if (time >= this.#due) return;
    clearTimeout(this.#timer);
    this.#due = time;
    this.#timer = setTimeout(() => {
      this.#due = Number.POSITIVE_INFINITY;
      this.#last = Date.now();
      this.#look();
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
