import type { SlotRenewal } from "@thinkery/sdk/internal";
import type { ChildEnd } from "./supervise.ts";

export type SlotEndCause = NonNullable<SlotRenewal["ended"]>;

// Messages of V8 and its allocator; there is no other sign of it.
const outOfMemoryPattern = /out of memory|reached heap limit|tcmalloc: allocation failed|unable to allocate|bad_alloc/i;

/**
 * Tells whether a line reports that memory ran out. It may be followed by many more lines, such as a table of heap
 * usage.
 */
export const isOutOfMemoryLine = (line: string): boolean => outOfMemoryPattern.test(line);

/** Returns why a slot's process ended. A process that we killed while it was already crashing counts as crashed. */
export function toEndCause({ exit, killedFor }: ChildEnd, wasOutOfMemory: boolean): SlotEndCause {
  const killed = exit.signal === "SIGKILL" ? killedFor : undefined;
  if (killed === "silence") return "silence";
  if (exit.signal === "SIGXCPU") return "cpu";
  if (wasOutOfMemory) return "memory";
  return killed ? "asked" : "crash";
}
