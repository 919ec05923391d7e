import { expect, test } from "vitest";
import { isOutOfMemoryLine } from "./slot-end.ts";

test.each([
  "workerd/jsg/setup.c++:43: fatal: V8 fatal error; location = ExternalEntityTable::AllocateEntry; message = : allocation failed: process out of memory",
  "2 external/tcmalloc+/tcmalloc/arena.cc:115] CHECK in AllocSlow: FATAL ERROR: Out of memory trying to allocate internal tcmalloc data (bytes=131072, object-size=41088)",
  "2 external/tcmalloc+/tcmalloc/tcmalloc.cc:1037] Unable to allocate 16777216 (new failed)",
  "<--- Last few GCs ---> FATAL ERROR: Reached heap limit",
])("recognizes out of memory: %s", (line) => {
  expect(isOutOfMemoryLine(line)).toBe(true);
});

// The allocator then tries elsewhere; code that cannot get its buffer receives a RangeError and continues.
test("a single failed allocation does not count as out of memory", () => {
  expect(
    isOutOfMemoryLine(
      "2 external/tcmalloc+/tcmalloc/internal/system_allocator.h:390] mprotect(0x4cd13fc00000, 2097152) failed (Cannot allocate memory)",
    ),
  ).toBe(false);
});
