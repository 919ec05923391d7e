import { expect, test } from "vitest";
import { createRandom } from "../../../../../tests/kit/random.ts";
import { SafeText } from "./safe-text.ts";

const show = (...pieces: string[]) => {
  const safe = new SafeText();
  return pieces.map((piece) => safe.push(piece)).join("") + safe.end();
};

test("agent output cannot control the terminal", () => {
  expect(show("\u001b[2J\u001b]0;title\u0007")).toBe("\ufffd[2J\ufffd]0;title\ufffd");
  // The one-character form of ESC [, a carriage return that overwrites the line, backspaces, bidirectional overrides.
  expect(show("\u009b31m", "a\rb", "x\b\b", "\u202eevil\u2066")).toBe("\ufffd31ma\ufffdbx\ufffd\ufffd\ufffdevil\ufffd");
  expect(show("tabs\tand\nlines, ünïcödé 🙂")).toBe("tabs\tand\nlines, ünïcödé 🙂");
});

test("the result does not depend on chunk boundaries", () => {
  const random = createRandom("safe text");
  const alphabet = ["a", "\r", "\n", "\r\n", "🙂", "\u001b[1m", "\u009b"];
  for (let round = 0; round < 200; round++) {
    const text = Array.from({ length: 30 }, () => random.pick(alphabet)).join("");
    const pieces: string[] = [];
    for (let from = 0; from < text.length;) {
      const to = from + 1 + random.below(4);
      pieces.push(text.slice(from, to));
      from = to;
    }
    expect(show(...pieces)).toBe(show(text));
    expect(show(text).replace(/\n/g, "")).not.toMatch(/\p{Cc}/u);
  }
});
