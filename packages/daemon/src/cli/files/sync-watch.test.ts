import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { createTempFolder } from "../../host/fixture.ts";
import { FolderWatch } from "./sync-watch.ts";

function openWatch() {
  const folder = createTempFolder();
  let changes = 0;
  const watch = new FolderWatch(folder, () => changes++);
  onTestFinished(() => watch.close());
  /** Resolves when a change made by `work` was reported. */
  const expectChange = async (work: () => void) => {
    const before = changes;
    work();
    await vi.waitUntil(() => changes > before, { timeout: 5000, interval: 5 });
  };
  return { folder, watch, expectChange };
}

test("changes are reported, also in a folder that replaced another one", async () => {
  const { folder, watch, expectChange } = openWatch();
  mkdirSync(join(folder, "new/deep"), { recursive: true });
  expect(watch.setFolders(["", "new", "new/deep"])).toBe(true);
  expect(watch.setFolders(["", "new", "new/deep"])).toBe(false);
  await expectChange(() => writeFileSync(join(folder, "new/deep/a"), "a"));
  await expectChange(() => renameSync(join(folder, "new"), join(folder, "old")));
  await expectChange(() => mkdirSync(join(folder, "new/deep"), { recursive: true }));
  expect(watch.setFolders(["", "old", "old/deep", "new", "new/deep"])).toBe(true);
  await expectChange(() => writeFileSync(join(folder, "new/deep/b"), "b"));
  await expectChange(() => writeFileSync(join(folder, "old/deep/c"), "c"));
});

test("a deleted folder is not an error", () => {
  const { watch } = openWatch();
  watch.setFolders(["", "never"]);
  expect(watch.isBlind).toBe(false);
});
