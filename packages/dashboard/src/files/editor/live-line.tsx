import { type Store, useStore } from "../../api/store.ts";
import type { LiveState } from "./live-session.ts";

const tones = { connecting: "quiet", open: "ok", lost: "warn", refused: "bad" } as const;

interface LiveLineProps {
  state: Store<LiveState>;
  path: string;
  mayWrite: boolean;
  /** There is no such file any more. */
  gone: boolean;
}

/** How the connection is, and who else is in this file. */
export function LiveLine({ state, path, mayWrite, gone }: LiveLineProps) {
  const { line, unsent, late, people } = useStore(state);
  const isLate = line === "open" && late;
  const here = people.filter((person) => person.path === path);
  const elsewhere = people.length - here.length;
  return (
    <div className="live-line" data-line={line}>
      <p role="status">
        <span
          className="dot"
          data-tone={isLate ? "warn" : tones[line]}
          data-busy={line === "connecting" || line === "lost" || isLate || undefined}
        />
        {isLate ? "Not saved yet: waiting for the host…" : describeConnection(line, { unsent, mayWrite, gone })}
      </p>
      {people.length > 0 && (
        <ul className="people" aria-label="Who else is here">
          {here.map(({ id, name, tone }) => (
            <li key={id} className="person-here" data-tone={tone}>
              {name}
            </li>
          ))}
          {elsewhere > 0 && (
            <li className="faint">
              {elsewhere === 1 ? "one more in other files" : `${elsewhere} more in other files`}
            </li>
          )}
        </ul>
      )}
    </div>
  );
}

function describeConnection(
  line: LiveState["line"],
  { unsent, mayWrite, gone }: { unsent: boolean; mayWrite: boolean; gone: boolean },
): string {
  switch (line) {
    case "connecting":
      return "Connecting…";
    case "open":
      if (gone) return "Connected.";
      return mayWrite ? "Live: what you type is saved." : "Live. You may read here, not write.";
    case "lost":
      return mayWrite
        ? `Offline: your changes are kept and sent when the host is back.${unsent ? " Some are not sent yet." : ""}`
        : "Offline: trying again…";
    case "refused":
      return "Not connected.";
  }
}
