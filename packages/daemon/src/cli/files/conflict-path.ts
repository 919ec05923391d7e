/** Returns the path for a copy of the other side's file: `notes.conflict-1a2b3c4d.md`. */
export function conflictPath(path: string, hash: string, attempt = 0): string {
  const slash = path.lastIndexOf("/") + 1;
  const name = path.slice(slash);
  const dot = name.lastIndexOf(".");
  const [stem, extension] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, ""];
  const suffix = `.conflict-${hash.slice(0, 8)}${attempt > 0 ? `-${attempt + 1}` : ""}`;
  // File systems allow names of up to 255 bytes.
  const tail = truncate(extension, 60);
  return path.slice(0, slash) + truncate(stem, 250 - Buffer.byteLength(suffix + tail)) + suffix + tail;
}

function truncate(text: string, maxBytes: number): string {
  return [...text].reduce((start, next) => (Buffer.byteLength(start + next) <= maxBytes ? start + next : start), "");
}
