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
  const said: string[] = [];
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const mirror = new Mirror({
    folder,
    remote,
    onEvent: ({ did, path }) => said.push(`${did} ${path}`),
    onState: async () => {},
    restMs: 50,
  });
  const end = () =>
    keepSynced({
      folder,
      mirror,
      remote,
      signal: stop.signal,
      isSure: false,
      onSynced: () => said.push("alike"),
      onHostChange: (isThere) => said.push(isThere ? "back" : "away"),
      reconnect: async () => void said.push("looked for it"),
    });
  const waitUntil = (condition: () => boolean) => vi.waitUntil(condition, { timeout: 10_000, interval: 10 });
  return { folder, remote, said, stop, end, soon: waitUntil, mirror };
}

const readText = (folder: string, path: string) =>
  existsSync(join(folder, path)) ? readFileSync(join(folder, path), "utf8") : undefined;

test("what changes on one side is on the other at once, in folders that come and go too", async () => {
  const { folder, remote, said, stop, end, soon } = openFolder();
  const over = end();
  await soon(() => said.includes("alike"));
  writeFileSync(join(folder, "a"), "1");
  await soon(() => remote.texts.a === "1");
  remote.write({ "deep/er/b": "2" });
  await soon(() => readText(folder, "deep/er/b") === "2");
  appendFileSync(join(folder, "deep/er/b"), "3");
  await soon(() => remote.texts["deep/er/b"] === "23");
  mkdirSync(join(folder, "new/folder"), { recursive: true });
  writeFileSync(join(folder, "new/folder/c"), "c");
  await soon(() => remote.texts["new/folder/c"] === "c");
  // The same name, and another folder behind it.
  renameSync(join(folder, "new"), join(folder, "old"));
  mkdirSync(join(folder, "new/folder"), { recursive: true });
  await soon(() => remote.texts["old/folder/c"] === "c" && remote.texts["new/folder/c"] === undefined);
  writeFileSync(join(folder, "new/folder/d"), "d");
  await soon(() => remote.texts["new/folder/d"] === "d");
  rmSync(join(folder, "old"), { recursive: true });
  await soon(() => remote.texts["old/folder/c"] === undefined);
  stop.abort();
  await over;
});

test("a host that goes away is waited for, and what happened meanwhile is made good", async () => {
  const { folder, remote, said, stop, end, soon } = openFolder();
  const over = end();
  await soon(() => said.includes("alike"));
  remote.onRequest = () => {
    throw fail("unavailable", "The host does not answer.");
  };
  writeFileSync(join(folder, "a"), "1");
  await soon(() => said.includes("looked for it"));
  remote.onRequest = () => {};
  await soon(() => remote.texts.a === "1");
  expect(said.filter((one) => one === "away" || one === "back")).toEqual(["away", "back"]);
  stop.abort();
  expect(await over).toBe(true);
});

test("whoever stops is told whether both are alike", async () => {
  const { folder, remote, said, stop, end, soon } = openFolder();
  const over = end();
  await soon(() => said.includes("alike"));
  remote.edit = () => {
    stop.abort();
    return Promise.reject(fail("unavailable", "The host does not answer."));
  };
  writeFileSync(join(folder, "a"), "1");
  expect(await over).toBe(false);
});

test("what cannot be made good ends it: the agent is gone, or the folder", async () => {
  const one = openFolder();
  const over = one.end();
  await one.soon(() => one.said.includes("alike"));
  one.remote.onRequest = () => {
    throw fail("not_found", "There is no such agent.");
  };
  writeFileSync(join(one.folder, "a"), "1");
  await expect(over).rejects.toMatchObject({ code: "not_found" });
  const other = openFolder();
  other.remote.write({ a: "1" });
  const end = other.end();
  await other.soon(() => other.said.includes("alike"));
  rmSync(other.folder, { recursive: true });
  await expect(end).rejects.toMatchObject({ code: "not_found" });
  expect(other.remote.texts).toEqual({ a: "1" });
});

test("once is until both are alike, and a file that is being written is waited for", async () => {
  const { folder, remote, mirror } = openFolder();
  writeFileSync(join(folder, "a"), "1");
  remote.write({ b: "2" });
  expect(await syncOnce({ mirror, isSure: false, signal: new AbortController().signal })).toBe(0);
  expect([remote.texts, readText(folder, "b")]).toEqual([{ a: "1", b: "2" }, "2"]);
});
