import type { SlotRenewal } from "@thinkery/sdk/internal";
import type { ChildEnd } from "./supervise.ts";

export type SlotEndCause = NonNullable<SlotRenewal["ended"]>;

// V8 and the allocator below it; they have no other way to say it.
const outOfMemoryPattern = /out of memory|reached heap limit|tcmalloc: allocation failed|unable to allocate|bad_alloc/i;

/** Does a process say with this that it has no memory left? Much may be said after it: a table of what it had. */
export const isOutOfMemoryLine = (line: string): boolean => outOfMemoryPattern.test(line);

/** Why the process of a slot is gone. One that was killed while it went down by itself went down by itself. */
export function toEndCause({ exit, killedFor }: ChildEnd, hasToldOfMemory: boolean): SlotEndCause {
  const killed = exit.signal === "SIGKILL" ? killedFor : undefined;
  if (killed === "silence") return "silence";
  if (exit.signal === "SIGXCPU") return "cpu";
  if (hasToldOfMemory) return "memory";
  return killed ? "asked" : "crash";
}
