/** Returns the path that the other side's file is kept at beside our own: `notes.conflict-1a2b3c4d.md`. */
export function conflictPath(path: string, hash: string, attempt = 0): string {
  const slash = path.lastIndexOf("/") + 1;
  const name = path.slice(slash);
  const dot = name.lastIndexOf(".");
  const [stem, ending] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, ""];
  const mark = `.conflict-${hash.slice(0, 8)}${attempt > 0 ? `-${attempt + 1}` : ""}`;
  // File systems allow names of up to 255 bytes.
  const tail = truncate(ending, 60);
  return path.slice(0, slash) + truncate(stem, 250 - Buffer.byteLength(mark + tail)) + mark + tail;
}

function truncate(text: string, maxBytes: number): string {
  return [...text].reduce((kept, next) => (Buffer.byteLength(kept + next) <= maxBytes ? kept + next : kept), "");
}
