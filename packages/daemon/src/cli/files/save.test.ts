import { execFileSync } from "node:child_process";
import {
  chmodSync,
  createReadStream,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { createTempFolder } from "../../host/fixture.ts";
import { saveFile } from "./save.ts";

const createStream = (...pieces: string[]) => Readable.from(pieces.map((piece) => Buffer.from(piece)));

/** One that is cut off in the middle. */
async function* createCutOffStream() {
  yield Buffer.from("half");
  throw new TypeError("terminated");
}

test("a file is saved, over another one too, which keeps its permissions and is where its link leads", async () => {
  const folder = createTempFolder();
  const path = join(folder, "a");
  expect(await saveFile(path, createStream("one", "two"), { named: "a", isNew: true })).toBe(6);
  chmodSync(path, 0o640);
  symlinkSync("a", join(folder, "link"));
  expect(await saveFile(join(folder, "link"), createStream("three"), { named: "link" })).toBe(5);
  expect([readFileSync(path, "utf8"), statSync(path).mode & 0o777, readdirSync(folder).sort()]).toEqual([
    "three",
    0o640,
    ["a", "link"],
  ]);
});

test("what was there stays when the new one does not come whole, and where nothing can be written", async () => {
  const folder = createTempFolder();
  const path = join(folder, "a");
  writeFileSync(path, "precious");
  mkdirSync(join(folder, "sub"));
  await expect(saveFile(path, Readable.from(createCutOffStream()), { named: "a" })).rejects.toMatchObject({
    code: "unavailable",
  });
  await expect(saveFile(path, createStream("x"), { named: "a", isNew: true })).rejects.toMatchObject({
    code: "conflict",
    message: expect.stringContaining("“a” is there already"),
  });
  await expect(saveFile(join(folder, "sub"), createStream("x"), { named: "sub" })).rejects.toMatchObject({
    code: "bad_request",
    message: expect.stringContaining("“sub” cannot be written"),
  });
  await expect(saveFile(join(folder, "nowhere/a"), createStream("x"), { named: "nowhere/a" })).rejects.toMatchObject({
    code: "bad_request",
  });
  await expect(
    saveFile(join(folder, "new"), Readable.from(createCutOffStream()), { named: "new" }),
  ).rejects.toMatchObject({ code: "unavailable" });
  expect([readFileSync(path, "utf8"), readdirSync(folder).sort()]).toEqual(["precious", ["a", "sub"]]);
});

test("a pipe is written to, not replaced", async () => {
  const pipe = join(createTempFolder(), "pipe");
  execFileSync("sh", ["-c", 'mkfifo -- "$0"', pipe]);
  const [read] = await Promise.all([
    text(createReadStream(pipe)),
    saveFile(pipe, createStream("through"), { named: "pipe" }),
  ]);
  expect([read, statSync(pipe).isFIFO()]).toEqual(["through", true]);
});
