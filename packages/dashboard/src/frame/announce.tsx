import { createStore, useStore } from "../api/store.ts";

const announcement = createStore("");

/** Announces a text to screen readers. */
export function announce(text: string): void {
  announcement.set(text);
}

/**
 * Two live regions, so that the title of a new page does not interrupt the announcement of the action that led to it.
 */
export function Announcer({ title }: { title: string }) {
  return (
    <>
      <p className="visually-hidden" role="status">
        {title}
      </p>
      <p className="visually-hidden" role="status">
        {useStore(announcement)}
      </p>
    </>
  );
}
