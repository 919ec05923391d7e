import { expect, test } from "vitest";
import { createRandom } from "../../../../../tests/kit/random.ts";
import { matchesWildcard } from "./wildcard.ts";

test("stars match what a regular expression matches, for random texts and patterns", () => {
  const { below, pick, seed } = createRandom("stars");
  const word = (letters: string[], length: number) => Array.from({ length }, () => pick(letters)).join("");
  const repeat = (times: number) => word(["a", "b"], 1 + below(3)).repeat(times);
  for (let run = 0; run < 5000; run++) {
    // Long parts use a different search than short ones.
    const isLong = run % 2 === 0;
    const pattern = isLong ? ["", "", ""].map(() => repeat(2 + below(12))).join("*") : word(["a", "b", "*"], below(8));
    const longText = pattern.replace(/\*/g, () => repeat(below(12))).slice(0, 20 + below(80));
    const text = isLong ? longText : word(["a", "b"], below(10));
    const expression = new RegExp(`^${pattern.replace(/\*/g, "[ab]*")}$`);
    expect(matchesWildcard(text, pattern), `${text} matches ${pattern}, SEED=${seed}`).toBe(expression.test(text));
  }
});

test("a pattern of many stars takes no longer than one of few", () => {
  expect(matchesWildcard("a".repeat(100_000), `${"*a".repeat(900)}*b`)).toBe(false);
});

test("a long part that almost matches everywhere does not take longer", () => {
  const part = `${"a".repeat(500)}b${"a".repeat(500)}`;
  const text = "a".repeat(5_000_000);
  const cpu = process.cpuUsage();
  expect(matchesWildcard(text, `*${part}*`)).toBe(false);
  expect(matchesWildcard(`${text}b${text}`, `*${part}*`)).toBe(true);
  // The platform's own search takes several seconds.
  expect(process.cpuUsage(cpu).user).toBeLessThan(1_500_000);
});
