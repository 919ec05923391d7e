import type { Random } from "../../../../../tests/kit/random.ts";

const words = ["", "a", "b", "{", "}", "  return x;", "😀", "é", "x\r", "const a = 1;", "const b = 1;"];

/** Creates a text of few distinct lines, so that they repeat, with or without a final newline. */
export function createText(random: Random, maxLines = 12): string {
  const lines = Array.from({ length: random.below(maxLines) }, () => random.pick(words));
  return lines.join("\n") + (random.chance(0.7) && lines.length > 0 ? "\n" : "");
}

/** Makes random edits to a text, of whole lines and within lines. */
export function editText(random: Random, text: string, edits = 1 + random.below(4)): string {
  let out = text;
  for (let edit = 0; edit < edits; edit += 1) {
    const characters = Array.from(out);
    const from = random.below(characters.length + 1);
    const length = random.chance(0.5) ? random.below(4) : random.below(20);
    const inserted = random.chance(0.3) ? "" : random.chance(0.5) ? `${random.pick(words)}\n` : random.pick(words);
    characters.splice(from, random.chance(0.6) ? length : 0, inserted);
    out = characters.join("");
  }
  return out;
}

/** Creates worst-case pairs of about this many lines, padded to a megabyte if there are few lines. */
export function createHardPairs(count: number): Record<string, [string, string]> {
  const padding = " ".repeat(Math.max(0, Math.floor(1_000_000 / count) - 8));
  const lines = (line: (index: number) => string, total = count) =>
    Array.from({ length: total }, (_, index) => padding + line(index)).join("\n");
  const chained = (prefix: string) =>
    Array.from({ length: Math.floor(count / 4) }, (_, index) => [
      `${index + 1}`,
      `${prefix}${index}`,
      index === 0 ? "first" : `${index}`,
      `${prefix}-${index}`,
    ]).flat();
  const letter = (letters: string, index: number) => letters[index % letters.length] as string;
  return {
    "all lines equal": [lines(() => "a"), `b\n${lines(() => "a", count - 7)}\nc`],
    "all lines different": [lines((index) => `x${index}`), lines((index) => `y${index}`)],
    "every second line different": [
      lines((index) => (index % 2 ? `${index}` : `x${index}`)),
      lines((index) => (index % 2 ? `${index}` : `y${index}`)),
    ],
    "every second line a bracket": [
      lines((index) => (index % 2 ? "}" : `x${index}`)),
      lines((index) => (index % 2 ? "}" : `y${index}`)),
    ],
    "every 20th line different, the others repeat": [
      lines((index) => (index % 20 ? letter("abcdefghijk", index) : `x${index}`)),
      lines((index) => (index % 20 ? letter("abcdefghijk", index) : `y${index}`)),
    ],
    "two alternating lines, out of phase": [
      lines((index) => letter("ab", index)),
      `c\n${lines((index) => letter("ba", index))}c`,
    ],
    "few distinct lines in any order": [
      lines((index) => letter("abcdefg", index * index)),
      `z\n${lines((index) => letter("gfedcba", index * 3 + ((index * index) % 5)))}z`,
    ],
    backwards: [lines((index) => `${index}`), lines((index) => `${count - index}`)],
    "swapped halves": [lines((index) => `${index}`), lines((index) => `${(index + count / 2) % count}`)],
    "nested fixed points": [
      lines((index) => `${Math.floor(index / 2)}`),
      lines((index) => `${Math.floor((index + 1) / 2)}`),
    ],
    // Each fixed point is found only after the previous one has split the rest, which is almost everything.
    "chained fixed points": [chained("x"), chained("y")].map((items) =>
      lines((index) => items[index] as string, items.length),
    ) as [string, string],
    "only line endings": ["\n".repeat(count), `x${"\n".repeat(count - 3)}x`],
    "one line without a line ending": ["a".repeat(1_000_000), `${"a".repeat(500_000)}b${"a".repeat(500_000)}`],
  };
}
