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
  /** Comes back when something that is done here was noticed. */
  const isNoticed = async (work: () => void) => {
    const before = changes;
    work();
    await vi.waitUntil(() => changes > before, { timeout: 5000, interval: 5 });
  };
  return { folder, watch, noticed: isNoticed };
}

test("what happens in a folder is noticed, and in one that has taken the place of another", async () => {
  const { folder, watch, noticed } = openWatch();
  mkdirSync(join(folder, "new/deep"), { recursive: true });
  expect(watch.setFolders(["", "new", "new/deep"])).toBe(true);
  expect(watch.setFolders(["", "new", "new/deep"])).toBe(false);
  await noticed(() => writeFileSync(join(folder, "new/deep/a"), "a"));
  await noticed(() => renameSync(join(folder, "new"), join(folder, "old")));
  await noticed(() => mkdirSync(join(folder, "new/deep"), { recursive: true }));
  expect(watch.setFolders(["", "old", "old/deep", "new", "new/deep"])).toBe(true);
  await noticed(() => writeFileSync(join(folder, "new/deep/b"), "b"));
  await noticed(() => writeFileSync(join(folder, "old/deep/c"), "c"));
});

test("a folder that is gone is not missed", () => {
  const { watch } = openWatch();
  watch.setFolders(["", "never"]);
  expect(watch.isBlind).toBe(false);
});
