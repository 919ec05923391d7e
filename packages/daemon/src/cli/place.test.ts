import { expect, test } from "vitest";
import { place } from "./place.ts";

test("a path below the user's folder is written with ~", () => {
  expect(place("/home/ann/.thinkery", "/home/ann")).toBe("~/.thinkery");
  expect(place("/home/ann", "/home/ann")).toBe("~");
  expect(place("/home/anna/x", "/home/ann")).toBe("/home/anna/x");
});
