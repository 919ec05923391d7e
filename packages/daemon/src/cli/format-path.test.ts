import { expect, test } from "vitest";
import { formatPath } from "./format-path.ts";

test("a path in the home folder is abbreviated with ~", () => {
  expect(formatPath("/home/ann/.thinkery", "/home/ann")).toBe("~/.thinkery");
  expect(formatPath("/home/ann", "/home/ann")).toBe("~");
  expect(formatPath("/home/anna/x", "/home/ann")).toBe("/home/anna/x");
});
