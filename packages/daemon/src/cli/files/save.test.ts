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

const createStream = (...chunks: string[]) => Readable.from(chunks.map((chunk) => Buffer.from(chunk)));

/** A stream that fails in the middle. */
async function* createCutOffStream() {
  yield Buffer.from("half");
  throw new TypeError("terminated");
}

test("saving over a file keeps its permissions and follows a symbolic link", async () => {
  const folder = createTempFolder();
  const path = join(folder, "a");
  expect(await saveFile(path, createStream("one", "two"), { label: "a", isNew: true })).toBe(6);
  chmodSync(path, 0o640);
  symlinkSync("a", join(folder, "link"));
  expect(await saveFile(join(folder, "link"), createStream("three"), { label: "link" })).toBe(5);
  expect([readFileSync(path, "utf8"), statSync(path).mode & 0o777, readdirSync(folder).sort()]).toEqual([
    "three",
    0o640,
    ["a", "link"],
  ]);
});

test("an existing file is kept if the download is interrupted or cannot be written", async () => {
  const folder = createTempFolder();
  const path = join(folder, "a");
  writeFileSync(path, "precious");
  mkdirSync(join(folder, "sub"));
  await expect(saveFile(path, Readable.from(createCutOffStream()), { label: "a" })).rejects.toMatchObject({
    code: "unavailable",
  });
  await expect(saveFile(path, createStream("x"), { label: "a", isNew: true })).rejects.toMatchObject({
    code: "conflict",
    message: expect.stringContaining("“a” already exists"),
  });
  await expect(saveFile(join(folder, "sub"), createStream("x"), { label: "sub" })).rejects.toMatchObject({
    code: "bad_request",
    message: expect.stringContaining("Cannot write “sub”"),
  });
  await expect(saveFile(join(folder, "nowhere/a"), createStream("x"), { label: "nowhere/a" })).rejects.toMatchObject({
    code: "bad_request",
  });
  await expect(
    saveFile(join(folder, "new"), Readable.from(createCutOffStream()), { label: "new" }),
  ).rejects.toMatchObject({ code: "unavailable" });
  expect([readFileSync(path, "utf8"), readdirSync(folder).sort()]).toEqual(["precious", ["a", "sub"]]);
});

test("a pipe is written to, not replaced", async () => {
  const pipe = join(createTempFolder(), "pipe");
  execFileSync("sh", ["-c", 'mkfifo -- "$0"', pipe]);
  const [read] = await Promise.all([
    text(createReadStream(pipe)),
    saveFile(pipe, createStream("through"), { label: "pipe" }),
  ]);
  expect([read, statSync(pipe).isFIFO()]).toEqual(["through", true]);
});
