import type { Random } from "../../../../../tests/kit/random.ts";

const words = ["", "a", "b", "{", "}", "  return x;", "😀", "é", "x\r", "const a = 1;", "const b = 1;"];

/** A text of few different lines, so that they repeat; some end with a newline, some do not. */
export function createText(random: Random, most = 12): string {
  const lines = Array.from({ length: random.below(most) }, () => random.pick(words));
  return lines.join("\n") + (random.chance(0.7) && lines.length > 0 ? "\n" : "");
}

/** A text that was edited here and there, by lines and within them. */
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

/** Pairs that make a comparison work hard, each of about so many lines, and a megabyte where the lines are few. */
export function createHardPairs(count: number): Record<string, [string, string]> {
  const padding = " ".repeat(Math.max(0, Math.floor(1_000_000 / count) - 8));
  const lines = (line: (index: number) => string, many = count) =>
    Array.from({ length: many }, (_, index) => padding + line(index)).join("\n");
  const chained = (own: string) =>
    Array.from({ length: Math.floor(count / 4) }, (_, index) => [
      `${index + 1}`,
      `${own}${index}`,
      index === 0 ? "first" : `${index}`,
      `${own}-${index}`,
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
    "two lines in turn, against each other": [
      lines((index) => letter("ab", index)),
      `c\n${lines((index) => letter("ba", index))}c`,
    ],
    "few lines in any order": [
      lines((index) => letter("abcdefg", index * index)),
      `z\n${lines((index) => letter("gfedcba", index * 3 + ((index * index) % 5)))}z`,
    ],
    backwards: [lines((index) => `${index}`), lines((index) => `${count - index}`)],
    "halves exchanged": [lines((index) => `${index}`), lines((index) => `${(index + count / 2) % count}`)],
    "fixed points one within the other": [
      lines((index) => `${Math.floor(index / 2)}`),
      lines((index) => `${Math.floor((index + 1) / 2)}`),
    ],
    // Each is found only when the one before it has split what is left, which is almost everything.
    "fixed points one behind the other": [chained("x"), chained("y")].map((items) =>
      lines((index) => items[index] as string, items.length),
    ) as [string, string],
    "nothing but line ends": ["\n".repeat(count), `x${"\n".repeat(count - 3)}x`],
    "one line without an end": ["a".repeat(1_000_000), `${"a".repeat(500_000)}b${"a".repeat(500_000)}`],
  };
}
