import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readAppFiles } from "./app-files.ts";

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "thinkery-app-"));
  await mkdir(join(folder, "shop/lib"), { recursive: true });
  await writeFile(join(folder, "shop/server.ts"), "main");
  await writeFile(join(folder, "shop/lib/a.ts"), "\ufeffa");
  await writeFile(join(folder, "outside.ts"), "x");
  await writeFile(join(folder, "shop/picture.png"), Buffer.from([0x89, 0xff, 0xfe]));
  await writeFile(join(folder, "shop/big.ts"), "x".repeat(1024 * 1024 + 1));
});

afterAll(() => rm(folder, { recursive: true }));

test("modules are named relative to the main one, whatever the working folder", async () => {
  expect(await readAppFiles(folder, "shop/server.ts", [])).toEqual({ code: "main" });
  expect(await readAppFiles(folder, "shop/server.ts", ["shop/lib/a.ts"])).toEqual({
    code: "main",
    modules: { "lib/a.ts": "a" },
  });
  expect(await readAppFiles(join(folder, "shop/lib"), "../server.ts", ["a.ts"])).toEqual({
    code: "main",
    modules: { "lib/a.ts": "a" },
  });
  // A shell glob may include the main module again.
  expect(await readAppFiles(join(folder, "shop"), "./server.ts", ["server.ts", "lib/a.ts"])).toEqual({
    code: "main",
    modules: { "lib/a.ts": "a" },
  });
});

test.each([
  ["missing.ts", [], "Cannot read “missing.ts”: ENOENT."],
  ["shop", [], "Cannot read “shop”: EISDIR."],
  [
    "shop/server.ts",
    ["outside.ts"],
    "“outside.ts” is outside the folder of “shop/server.ts”, so the app cannot import it.",
  ],
  ["shop/server.ts", ["shop/picture.png"], "“shop/picture.png” is not UTF-8 text."],
  ["shop/big.ts", [], "“shop/big.ts” is too large for an app (maximum 1048576 bytes)."],
])("%s with %j is rejected with a clear error", async (main, more, message) => {
  await expect(readAppFiles(folder, main, more)).rejects.toMatchObject({ code: "bad_request", message });
});
