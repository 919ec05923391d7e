/** What one side or the other has of a file: the hash of its content, or nothing. */
type Side = string | undefined;

/**
 * What is to be done about a file, by what it was when both had the same:
 * - `fetch` and `send`: one side has changed it, the other gets it
 * - `removeHere` and `removeThere`: one side has deleted it, and the other has not touched it
 * - `both`: each has changed it in its own way
 * - `agreed`: both have the same, or neither has it
 */
export type Decision = "fetch" | "send" | "removeHere" | "removeThere" | "both" | "agreed";

export function decided(here: Side, there: Side, before: Side): Decision {
  if (here === there) return "agreed";
  if (here === before) return there === undefined ? "removeHere" : "fetch";
  if (there === before) return here === undefined ? "removeThere" : "send";
  // Where one has deleted what the other has changed, the change is worth more.
  if (here === undefined) return "fetch";
  return there === undefined ? "send" : "both";
}

/** The name that the other one's file is kept by beside one's own: `notes.conflict-1a2b3c4d.md`. */
export function conflictPath(path: string, hash: string, attempt = 0): string {
  const slash = path.lastIndexOf("/") + 1;
  const name = path.slice(slash);
  const dot = name.lastIndexOf(".");
  const [stem, ending] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, ""];
  const mark = `.conflict-${hash.slice(0, 8)}${attempt > 0 ? `-${attempt + 1}` : ""}`;
  // A name may be 255 bytes long.
  const short = (text: string, most: number) => [...text].reduce((kept, next) => (Buffer.byteLength(kept + next) <= most ? kept + next : kept), "");
  const tail = short(ending, 60);
  return path.slice(0, slash) + short(stem, 250 - Buffer.byteLength(mark + tail)) + mark + tail;
}
