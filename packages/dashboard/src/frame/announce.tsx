import { createStore, useStore } from "../api/store.ts";

interface Announcement {
  number: number;
  text: string;
}

/** Kept so that an announcement right after another does not replace it before it was read. */
const maxAnnouncements = 5;

const announcements = createStore<readonly Announcement[]>([]);

/** Announces a text to screen readers. */
export function announce(text: string): void {
  const latest = announcements.get();
  const number = (latest.at(-1)?.number ?? 0) + 1;
  announcements.set([...latest, { number, text }].slice(-maxAnnouncements));
}

/**
 * Two live regions, so that the title of a new page does not interrupt the announcement of the action that led to it.
 * Only what is added to the second one is read.
 */
export function Announcer({ title }: { title: string }) {
  return (
    <>
      <p className="visually-hidden" role="status">
        {title}
      </p>
      <div className="visually-hidden" role="status" aria-atomic="false">
        {useStore(announcements).map(({ number, text }) => (
          <p key={number}>{text}</p>
        ))}
      </div>
    </>
  );
}
