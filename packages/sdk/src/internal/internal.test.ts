import { expect, test } from "vitest";
import * as sdk from "../index.ts";
import * as internal from "./index.ts";

test("nothing internal is exported by the public entry point", () => {
  expect(Object.keys(internal)).toContain("turnLimitsSchema");
  expect(Object.keys(internal).filter((name) => name in sdk)).toEqual([]);
});
