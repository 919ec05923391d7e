import { strToU8, zipSync } from "fflate";

const fileCount = 3000;
const filler = Array.from({ length: 40 }, (_, line) => `line ${line}`).join("\n");

export const createManyFiles = (text: string) =>
  Object.fromEntries(
    Array.from({ length: fileCount }, (_, index) => [
      `src/folder-${index % 50}/file-${index}.txt`,
      strToU8(`${text} ${index}\n${filler}`),
    ]),
  );

/** A name of almost 255 bytes. The first 240 are the same for all. */
export const padName = (index: number): string => `${"n".repeat(240)}-${index}.bin`;

const maxChars = 400_000;
const range = (count: number) => Array.from({ length: count }, (_, index) => index);
const fill = (toLine: (index: number) => string, lines: number) => range(lines).map(toLine).join("\n");

/** A text in three versions that are hard to compare. */
interface ChangePair {
  name: string;
  base(): string;
  mine(): string;
  theirs(): string;
}

export const changePairs: readonly ChangePair[] = [
  {
    name: "all-different",
    base: () => fill((line) => `base ${line}`, 20_000),
    mine: () => fill((line) => `mine ${line}`, 20_000),
    theirs: () => fill((line) => `theirs ${line}`, 20_000),
  },
  {
    name: "short-lines",
    base: () => "a\nb\n".repeat(100_000),
    mine: () => "b\na\nc\n".repeat(70_000),
    theirs: () => "b\nb\na\n".repeat(70_000),
  },
  {
    name: "one-line",
    base: () => "ab".repeat(maxChars / 2),
    mine: () => "ba".repeat(maxChars / 2),
    theirs: () => "abc".repeat(maxChars / 3),
  },
  {
    name: "reversed",
    base: () => fill((line) => `line ${line}`, 20_000),
    mine: () => fill((line) => `line ${20_000 - line}`, 20_000),
    theirs: () => fill((line) => `line ${(line * 7919) % 20_000}`, 20_000),
  },
  {
    name: "every-second",
    base: () => fill((line) => `line ${line}`, 20_000),
    mine: () => fill((line) => `line ${line}${line % 2 ? " mine" : ""}`, 20_000),
    theirs: () => fill((line) => `line ${line}${line % 2 ? "" : " theirs"}`, 20_000),
  },
  {
    name: "empty-lines",
    base: () => "\n".repeat(maxChars),
    mine: () => "\n \n".repeat(maxChars / 3),
    theirs: () => "\n\t".repeat(maxChars / 2),
  },
];

export const createPairZip = (version: "base" | "mine" | "theirs"): Uint8Array =>
  zipSync(Object.fromEntries(changePairs.map((pair) => [`${pair.name}.txt`, strToU8(pair[version]())])));

export const largeZips: readonly { what: string; zip(): Uint8Array }[] = [
  { what: "a zip of 3,000 files", zip: () => zipSync(createManyFiles("third")) },
  {
    what: "a zip of 8,000 empty files",
    zip: () => zipSync(Object.fromEntries(range(8000).map((index) => [`e/${index}`, new Uint8Array()])), { level: 0 }),
  },
  { what: "a zip that is larger unpacked", zip: () => zipSync({ "bomb.bin": new Uint8Array(100_000_000) }) },
  {
    what: "a zip with long names",
    zip: () => zipSync(Object.fromEntries(range(1000).map((index) => [padName(index), new Uint8Array([0])]))),
  },
  {
    what: "a zip with deep folders",
    zip: () =>
      zipSync(Object.fromEntries(range(300).map((index) => [`d${index}/${range(100).join("/")}`, strToU8("a")]))),
  },
  {
    what: "a zip of names that differ in case",
    zip: () =>
      zipSync(
        Object.fromEntries(range(2000).map((index) => [`${index % 2 ? "Name" : "name"}${index >> 1}`, strToU8("a")])),
      ),
  },
];
