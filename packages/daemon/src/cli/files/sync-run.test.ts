import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fail } from "@thinkery/sdk";
import { expect, onTestFinished, test, vi } from "vitest";
import { createTempFolder } from "../../host/fixture.ts";
import { FakeRemote } from "./sync-fixture.ts";
import { Mirror } from "./sync-mirror.ts";
import { keepSynced, syncOnce } from "./sync-run.ts";

function openFolder() {
  const folder = createTempFolder();
  const remote = new FakeRemote();
  const log: string[] = [];
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const mirror = new Mirror({
    folder,
    remote,
    onEvent: ({ action, path }) => log.push(`${action} ${path}`),
    onState: async () => {},
    settleMs: 50,
  });
  const start = () =>
    keepSynced({
      folder,
      mirror,
      remote,
      signal: stop.signal,
      force: false,
      onSynced: () => log.push("in sync"),
      onHostChange: (isAvailable) => log.push(isAvailable ? "back" : "away"),
      reconnect: async () => void log.push("reconnect"),
    });
  const waitUntil = (condition: () => boolean) => vi.waitUntil(condition, { timeout: 10_000, interval: 10 });
  return { folder, remote, log, stop, start, waitUntil, mirror };
}

const readText = (folder: string, path: string) =>
  existsSync(join(folder, path)) ? readFileSync(join(folder, path), "utf8") : undefined;

test("changes are synced immediately, also in folders that are created and removed", async () => {
  const { folder, remote, log, stop, start, waitUntil } = openFolder();
  const running = start();
  await waitUntil(() => log.includes("in sync"));
  writeFileSync(join(folder, "a"), "1");
  await waitUntil(() => remote.texts.a === "1");
  remote.write({ "deep/er/b": "2" });
  await waitUntil(() => readText(folder, "deep/er/b") === "2");
  appendFileSync(join(folder, "deep/er/b"), "3");
  await waitUntil(() => remote.texts["deep/er/b"] === "23");
  mkdirSync(join(folder, "new/folder"), { recursive: true });
  writeFileSync(join(folder, "new/folder/c"), "c");
  await waitUntil(() => remote.texts["new/folder/c"] === "c");
  // A different folder with the same name.
  renameSync(join(folder, "new"), join(folder, "old"));
  mkdirSync(join(folder, "new/folder"), { recursive: true });
  await waitUntil(() => remote.texts["old/folder/c"] === "c" && remote.texts["new/folder/c"] === undefined);
  writeFileSync(join(folder, "new/folder/d"), "d");
  await waitUntil(() => remote.texts["new/folder/d"] === "d");
  rmSync(join(folder, "old"), { recursive: true });
  await waitUntil(() => remote.texts["old/folder/c"] === undefined);
  stop.abort();
  await running;
});

test("an unavailable host is waited for, and changes made meanwhile are synced", async () => {
  const { folder, remote, log, stop, start, waitUntil } = openFolder();
  const running = start();
  await waitUntil(() => log.includes("in sync"));
  remote.onRequest = () => {
    throw fail("unavailable", "The host is unavailable.");
  };
  writeFileSync(join(folder, "a"), "1");
  await waitUntil(() => log.includes("reconnect"));
  remote.onRequest = () => {};
  await waitUntil(() => remote.texts.a === "1");
  expect(log.filter((entry) => entry === "away" || entry === "back")).toEqual(["away", "back"]);
  stop.abort();
  expect(await running).toBe(true);
});

test("stopping returns whether both sides are in sync", async () => {
  const { folder, remote, log, stop, start, waitUntil } = openFolder();
  const running = start();
  await waitUntil(() => log.includes("in sync"));
  remote.edit = () => {
    stop.abort();
    return Promise.reject(fail("unavailable", "The host is unavailable."));
  };
  writeFileSync(join(folder, "a"), "1");
  expect(await running).toBe(false);
});

test("a deleted agent or folder ends the sync with an error", async () => {
  const one = openFolder();
  const running = one.start();
  await one.waitUntil(() => one.log.includes("in sync"));
  one.remote.onRequest = () => {
    throw fail("not_found", "Agent not found.");
  };
  writeFileSync(join(one.folder, "a"), "1");
  await expect(running).rejects.toMatchObject({ code: "not_found" });
  const other = openFolder();
  other.remote.write({ a: "1" });
  const otherRunning = other.start();
  await other.waitUntil(() => other.log.includes("in sync"));
  rmSync(other.folder, { recursive: true });
  await expect(otherRunning).rejects.toMatchObject({ code: "not_found" });
  expect(other.remote.texts).toEqual({ a: "1" });
});

test("a single sync ends when both sides are in sync, after waiting for files that are being written", async () => {
  const { folder, remote, mirror } = openFolder();
  writeFileSync(join(folder, "a"), "1");
  remote.write({ b: "2" });
  expect(await syncOnce({ mirror, force: false, signal: new AbortController().signal })).toBe(0);
  expect([remote.texts, readText(folder, "b")]).toEqual([{ a: "1", b: "2" }, "2"]);
});
