import { createStore, useStore } from "../api/store.ts";

const announcement = createStore("");

/** Says something to people who hear the page. */
export function announce(text: string): void {
  announcement.set(text);
}

/** Two voices, so that the name of a new place does not cut off what was done to get there. */
export function Announcer({ title }: { title: string }) {
  return (
    <>
      <p className="unseen" role="status">
        {title}
      </p>
      <p className="unseen" role="status">
        {useStore(announcement)}
      </p>
    </>
  );
}
