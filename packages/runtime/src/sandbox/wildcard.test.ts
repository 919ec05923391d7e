import { expect, test } from "vitest";
import { random } from "../../../../tests/kit/random.ts";
import { isLike } from "./wildcard.ts";

test("stars mean what they mean in an expression, for random words and patterns", () => {
  const { below, pick, seed } = random("stars");
  const word = (letters: string[], length: number) => Array.from({ length }, () => pick(letters)).join("");
  for (let run = 0; run < 5000; run++) {
    const pattern = word(["a", "b", "*"], below(8));
    const text = word(["a", "b"], below(10));
    const expression = new RegExp(`^${pattern.replace(/\*/g, "[ab]*")}$`);
    expect(isLike(text, pattern), `${text} like ${pattern}, SEED=${seed}`).toBe(expression.test(text));
  }
});

test("a pattern of many stars takes no longer than one of few", () => {
  expect(isLike("a".repeat(100_000), `${"*a".repeat(900)}*b`)).toBe(false);
});
