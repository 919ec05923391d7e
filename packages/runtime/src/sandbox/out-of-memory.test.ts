import { expect, test } from "vitest";
import { isOutOfMemory } from "./out-of-memory.ts";

test.each([
  "RangeError: Array buffer allocation failed\n    at code:1:37",
  "RangeError: Failed to allocate memory for ArrayBuffer\n    at code:1:209",
  "DataCloneError: Data cannot be cloned, out of memory.",
])("“%s” means that the process must be replaced", (message) => {
  expect(isOutOfMemory(message)).toBe(true);
});

test("other errors do not", () => {
  expect(isOutOfMemory("RangeError: Invalid array length\n    at code:1:8")).toBe(false);
});
