import { appendFile, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { followFile, readLastLines } from "./tail.ts";

// Generous, for slow machines.
const retryTimeoutMs = { timeout: 10_000 };

let folder: string;
let file: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "thinkery-tail-"));
  file = join(folder, "x.log");
});

afterEach(() => rm(folder, { recursive: true }));

test("a missing file has no last lines", async () => {
  expect(await readLastLines(file, 5)).toBeUndefined();
});

test("the last lines are complete, even if they are longer than one read", async () => {
  const lines = Array.from({ length: 50 }, (_, index) => `${index} ${"ä".repeat(9_000)}`);
  await writeFile(file, `${lines.join("\n")}\n`);
  expect((await readLastLines(file, 7))?.lines).toEqual(lines.slice(-7));
  expect((await readLastLines(file, 500))?.lines).toEqual(lines);
  expect((await readLastLines(file, 0))?.lines).toEqual([]);
});

test("following reports each new line once, across a rotation", async () => {
  await writeFile(file, "old\n");
  const seen: string[] = [];
  const stop = new AbortController();
  const following = followFile(file, 4, (line) => seen.push(line), stop.signal);
  await appendFile(file, "one\nhal");
  await vi.waitFor(() => expect(seen).toEqual(["one"]), retryTimeoutMs);
  await appendFile(file, "f\n");
  await vi.waitFor(() => expect(seen).toEqual(["one", "half"]), retryTimeoutMs);
  await appendFile(file, "last\n");
  await rename(file, `${file}.1`);
  await writeFile(file, "first of the next\n");
  await vi.waitFor(() => expect(seen).toEqual(["one", "half", "last", "first of the next"]), retryTimeoutMs);
  stop.abort();
  await following;
});

test("following waits for a file that does not exist yet", async () => {
  const seen: string[] = [];
  const stop = new AbortController();
  const following = followFile(file, 0, (line) => seen.push(line), stop.signal);
  await writeFile(file, "hello\n");
  await vi.waitFor(() => expect(seen).toEqual(["hello"]), retryTimeoutMs);
  stop.abort();
  await following;
});
