import { type Store, useStore } from "../../api/store.ts";
import type { LiveState } from "./live-session.ts";

const tones = { connecting: "quiet", open: "ok", lost: "warn", refused: "bad" } as const;

interface LiveStatusProps {
  state: Store<LiveState>;
  path: string;
  canWrite: boolean;
  /** Whether the file no longer exists. */
  isGone: boolean;
}

/** State of the connection, and who else is in this file. */
export function LiveStatus({ state, path, canWrite, isGone }: LiveStatusProps) {
  const { connection, unsent, late, people } = useStore(state);
  const isLate = connection === "open" && late;
  const here = people.filter((person) => person.path === path);
  const elsewhere = people.length - here.length;
  return (
    <div className="live-status" data-connection={connection}>
      <p role="status">
        <span
          className="dot"
          data-tone={isLate ? "warn" : tones[connection]}
          data-busy={connection === "connecting" || connection === "lost" || isLate || undefined}
        />
        {isLate ? "Not saved yet. Waiting for the host…" : describeConnection(connection, { unsent, canWrite, isGone })}
      </p>
      {people.length > 0 && (
        <ul className="people" aria-label="Collaborators">
          {here.map(({ id, name, tone }) => (
            <li key={id} className="person-here" data-tone={tone}>
              {name}
            </li>
          ))}
          {elsewhere > 0 && <li className="faint">{elsewhere} in other files</li>}
        </ul>
      )}
    </div>
  );
}

function describeConnection(
  connection: LiveState["connection"],
  { unsent, canWrite, isGone }: { unsent: boolean; canWrite: boolean; isGone: boolean },
): string {
  switch (connection) {
    case "connecting":
      return "Connecting…";
    case "open":
      if (isGone) return "Connected";
      return canWrite ? "Live · Changes are saved automatically" : "Live · Read-only";
    case "lost":
      return canWrite
        ? `Offline. Your changes are kept and sent when the host is back.${unsent ? " Some are not sent yet." : ""}`
        : "Offline. Reconnecting…";
    case "refused":
      return "Not connected";
  }
}
