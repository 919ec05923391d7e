import { expect, test } from "vitest";
import { limitLineRate } from "./line-rate-limit.ts";

test("only so many lines get through in a while, cut to size, and it is told how many did not", () => {
  const heard: string[] = [];
  let now = 0;
  const say = limitLineRate(
    (line) => heard.push(line),
    { lines: 2, perMs: 100, longest: 5 },
    () => now,
  );
  for (const line of ["one", "a long one", "three", "four"]) say(line);
  now = 100;
  say("five");
  now = 300;
  say("six");
  expect(heard).toEqual(["one", "a lon …(cut)", "(2 more lines are not kept)", "five", "six"]);
});
