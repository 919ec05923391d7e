import type { SlotRenewal } from "@thinkery/sdk";
import type { ChildEnd } from "./supervise.ts";

export type SlotEndCause = NonNullable<SlotRenewal["ended"]>;

// V8 and the allocator below it; they have no other way to say it.
const outOfMemory = /out of memory|reached heap limit|tcmalloc: allocation failed|bad_alloc/i;

/** Why the process of a slot is gone. One that was killed while it went down by itself went down by itself. */
export function causeOf({ exit, killedFor, lastLines }: ChildEnd): SlotEndCause {
  const killed = exit.signal === "SIGKILL" ? killedFor : undefined;
  if (killed === "silence") return "silence";
  if (exit.signal === "SIGXCPU") return "cpu";
  if (lastLines.some((line) => outOfMemory.test(line))) return "memory";
  return killed ? "asked" : "crash";
}
