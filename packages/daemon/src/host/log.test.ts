import { existsSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { expect, test, vi } from "vitest";
import { createTempFolder } from "./fixture.ts";
import { readLines } from "./lines.ts";
import { openLog } from "./log.ts";

test("a line has a time and a source and is appended to the file", () => {
  const folder = createTempFolder();
  const first = openLog(folder, "x");
  first.writeLine("main", "one");
  first.close();
  const second = openLog(folder, "x");
  second.writeLine("sandbox-0", "two\nlines");
  second.close();
  const [one, two, end] = readFileSync(second.file, "utf8").split("\n");
  expect(one).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z main one$/);
  expect(two).toMatch(/Z sandbox-0 two lines$/);
  expect(end).toBe("");
  expect(statSync(second.file).mode & 0o777).toBe(0o600);
});

test("a full file is rotated and the oldest is deleted", () => {
  const log = openLog(createTempFolder(), "x", { maxBytes: 200, keep: 2 });
  for (let n = 0; n < 40; n++) log.writeLine("main", `line ${n}`);
  log.close();
  for (const file of [log.file, `${log.file}.1`, `${log.file}.2`]) expect(statSync(file).size).toBeLessThanOrEqual(200);
  expect(existsSync(`${log.file}.3`)).toBe(false);
  const text = [`${log.file}.2`, `${log.file}.1`, log.file].map((file) => readFileSync(file, "utf8")).join("");
  const numbers = [...text.matchAll(/line (\d+)/g)].map(([, n]) => Number(n));
  expect(numbers.at(-1)).toBe(39);
  expect(numbers).toEqual(numbers.map((_, index) => 40 - numbers.length + index));
});

test("secrets do not reach the file", () => {
  const log = openLog(createTempFolder(), "x");
  log.redact(["s3cret-s3cret"]);
  log.writeLine("main", "Bearer s3cret-s3cret and s3cret-s3cret");
  log.writeLine("main", "cookie: thinkery-5099=thk_b3duZXI.Zz-09_.AbC; Path=/");
  log.close();
  const text = readFileSync(log.file, "utf8");
  expect(text).toContain("Bearer [redacted] and [redacted]");
  expect(text).toContain("thinkery-5099=[redacted]; Path=/");
});

test.runIf(existsSync("/dev/full"))("a full disk drops lines, warns once and does not throw", () => {
  const folder = createTempFolder();
  symlinkSync("/dev/full", join(folder, "x.log"));
  const stderr = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  try {
    const log = openLog(folder, "x");
    for (let n = 0; n < 3; n++) log.writeLine("main", "lost");
    log.close();
    expect(stderr).toHaveBeenCalledTimes(1);
  } finally {
    stderr.mockRestore();
  }
});

test("a stream is split into lines regardless of its chunks, and an endless line is truncated", async () => {
  const stream = new PassThrough();
  const lines: string[] = [];
  readLines(stream, (line) => lines.push(line), 10);
  const euro = Buffer.from("€\n");
  for (const chunk of [
    "a",
    "b\nc\n\n",
    euro.subarray(0, 1),
    euro.subarray(1),
    "x".repeat(25),
    "y".repeat(25),
    "z\nlast",
  ])
    stream.write(chunk);
  stream.end();
  await new Promise((resolve) => stream.once("close", resolve));
  expect(lines).toEqual(["ab", "c", "€", "xxxxxxxxxx …(cut)", "last"]);
});
