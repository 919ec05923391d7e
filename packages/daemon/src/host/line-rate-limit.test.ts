import { expect, test } from "vitest";
import { limitLineRate } from "./line-rate-limit.ts";

test("lines over the limit are dropped and counted, and long ones are truncated", () => {
  const written: string[] = [];
  let now = 0;
  const write = limitLineRate(
    (line) => written.push(line),
    { maxLines: 2, perMs: 100, maxChars: 5 },
    () => now,
  );
  for (const line of ["one", "a long one", "three", "four"]) write(line);
  now = 100;
  write("five");
  now = 300;
  write("six");
  expect(written).toEqual(["one", "a lon …(cut)", "(2 more lines dropped)", "five", "six"]);
});
