import { randomBytes } from "node:crypto";
import { mkdir, readdir, rename, rm, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Collection } from "@thinkery/sdk";
import { createClient } from "@thinkery/sdk/client";
import { afterEach, expect, test } from "vitest";
import { createHomePath, type HostProcess, removeHome, startHostProcess } from "../kit/host-process.ts";
import { waitUntil } from "../kit/wait-until.ts";

let host: HostProcess | undefined;
let home = "";

afterEach(async () => {
  await host?.stop();
  await removeHome(home);
});

/** By default blobs are collected a second after they were last needed. */
async function start(workspace: object = { blobGraceSeconds: 1 }): Promise<HostProcess> {
  home = await createHomePath();
  await mkdir(home, { mode: 0o700 });
  await writeFile(join(home, "config.jsonc"), JSON.stringify({ sandboxSlots: 1, workspace }));
  return (host = await startHostProcess({ home }));
}

async function listBlobs(): Promise<string[]> {
  const names = await readdir(join(home, "blobs"), { recursive: true });
  return names.map((name) => name.replace("/", "")).filter((name) => /^[0-9a-f]{64}$/.test(name));
}

async function collect({ runCli }: HostProcess, ...flags: string[]): Promise<Collection> {
  const { code, stdout, stderr } = await runCli(["gc", "--json", ...flags]);
  expect([code, stderr]).toEqual([0, ""]);
  return JSON.parse(stdout) as Collection;
}

/** Waits until what was stored or removed by now is no longer recent. */
async function passGrace(): Promise<void> {
  const until = Date.now() + 1_100;
  await waitUntil("the grace period to pass", () => Date.now() > until);
}

const random = (size = 100_000) => new Uint8Array(randomBytes(size));

test("deleting an agent deletes its blobs, and not those of another agent", async () => {
  const { client } = await start();
  const shared = random();
  for (const name of ["ada", "bea"]) await client.agents().create({ name });
  await client.agent("ada").putFile("own.bin", random());
  for (const name of ["ada", "bea"]) await client.agent(name).putFile("shared.bin", shared);
  expect(await listBlobs()).toHaveLength(2);
  const params = { agency: "global", agent: "ada" };
  await client.call("deleteAgent", { params });
  await waitUntil("the blob to be deleted", async () => (await listBlobs()).length === 1);
  expect((await client.agent("bea").file("shared.bin")).bytes).toEqual(shared);
});

test("gc keeps what files, versions, branches, messages and apps need, and deletes everything else", async () => {
  const running = await start();
  const { client } = running;
  await client.agents().create({ name: "ada", model: "scripted:tour" });
  const ada = client.agent("ada");
  const params = { agency: "global", agent: "ada" };
  const [first, second, onBranch, cut] = [random(), random(), random(), random()];
  await ada.putFile("a.bin", first);
  await ada.putFile("a.bin", second);
  await client.call("createBranch", { params, body: { name: "try" } });
  await ada.putFile("b.bin", onBranch, { branch: "try" });
  await client.call("createBranch", { params, body: { name: "cut" } });
  await ada.putFile("c.bin", cut, { branch: "cut" });
  const attachment = {
    name: "dot.bin",
    mediaType: "application/octet-stream",
    data: Buffer.from(random()).toString("base64"),
  };
  await client.call("invoke", { params, body: { message: "hello", attachments: [attachment] } });
  await client.call("putApp", { params, body: { code: "export default { fetch() { return new Response('x') } }" } });
  await waitUntil("the turn to end", async () => (await client.call("getUsage", { params })).turns.completed === 1);
  const all = (await listBlobs()).length;
  expect(all).toBe(6);

  expect((await collect(running)).report).toMatchObject({ needed: { blobs: 6 }, freed: { blobs: 0 }, missing: 0 });
  expect(await client.call("getDiskUsage", { params })).toMatchObject({
    files: { files: 1, bytes: 100_000 },
    branches: { branches: 2, files: 2, bytes: 200_000 },
    blobs: { blobs: 6 },
  });

  await client.call("deleteBranch", { params: { ...params, branch: "cut" } });
  await passGrace();
  expect((await collect(running, "--dry-run")).report).toMatchObject({ needed: { blobs: 5 }, freed: { blobs: 1 } });
  expect(await listBlobs()).toHaveLength(6);
  const { report } = await collect(running);
  expect(report).toMatchObject({ needed: { blobs: 5 }, freed: { blobs: 1, bytes: 100_000 }, missing: 0 });
  expect(await listBlobs()).toHaveLength(5);
  expect((await ada.file("a.bin", { version: 1 })).bytes).toEqual(first);
  expect((await ada.file("b.bin", { branch: "try" })).bytes).toEqual(onBranch);

  await client.call("clearMessages", { params });
  await passGrace();
  expect((await collect(running)).report).toMatchObject({ needed: { blobs: 4 }, freed: { blobs: 1 } });
  expect(await client.call("getDiskUsage", { params })).toMatchObject({ blobs: { blobs: 4 } });
});

test("gc keeps what documents, their earlier versions and resources need, and deleting the agency deletes it", async () => {
  const running = await start({ blobGraceSeconds: 1, retainVersions: 50 });
  const { client } = running;
  await client.call("createAgency", { body: { id: "den" } });
  const [first, second, removed] = [random(), random(), random()];
  const documents = client.documents("den");
  await documents.write("a.bin", first);
  await documents.write("a.bin", second);
  await documents.write("b.bin", removed);
  await documents.delete("b.bin");
  const { id } = await client.resources("den").create("what was found", { type: "text/markdown" });
  await client.agents("den").create({ name: "ada" });
  await client.agent("ada@den").putFile("shared.bin", first);
  await passGrace();
  const { report, unknownAgents } = await collect(running);
  expect(report).toMatchObject({ needed: { blobs: 4 }, freed: { blobs: 0 }, unknown: { blobs: 0 }, missing: 0 });
  expect(unknownAgents).toBe(0);
  expect((await documents.read("a.bin", { version: 1 })).bytes).toEqual(first);
  expect((await documents.read("b.bin", { version: 3 })).bytes).toEqual(removed);
  expect((await client.resources("den").read(id)).text()).toBe("what was found");

  // Pruning deletes the earlier versions, and with them what only they needed.
  for (let version = 0; version < 100; version++) await documents.write("notes.md", String(version));
  await passGrace();
  expect((await collect(running)).report).toMatchObject({ needed: { blobs: 3 }, freed: { blobs: 1 }, missing: 0 });
  expect((await documents.read("a.bin")).bytes).toEqual(second);
  expect((await client.agent("ada@den").file("shared.bin")).bytes).toEqual(first);

  await client.call("deleteAgency", { params: { agency: "den" } });
  await waitUntil("the blobs to be deleted", async () => (await listBlobs()).length === 0);
  expect(await collect(running)).toMatchObject({ report: { missing: 0 }, unreadable: [], unknownAgents: 0 });
});

test("what was removed or stored only now is left for a later collection", async () => {
  const running = await start({ blobGraceSeconds: 600 });
  const { client } = running;
  await client.agents().create({ name: "ada" });
  const params = { agency: "global", agent: "ada" };
  await client.call("createBranch", { params, body: { name: "try" } });
  await client.agent("ada").putFile("b.bin", random(), { branch: "try" });
  await client.call("deleteBranch", { params: { ...params, branch: "try" } });
  await writeFile(join(home, "blobs", "stray"), "not a blob");
  const { stdout } = await running.runCli(["gc"]);
  expect(stdout).toMatch(/^recent +1 \(100 kB\), left for a later run$/m);
  expect(stdout).toMatch(/^deleted +0 \(0 B\)$/m);
  expect(await listBlobs()).toHaveLength(1);
});

test("blobs of an earlier release are indexed by the first collection, and those that nobody needs are deleted", async () => {
  let running = await start();
  await running.client.agents().create({ name: "ada" });
  await running.client.agent("ada").putFile("a.bin", random());
  const { id } = await running.client.resources().create("kept");
  await running.client.documents().write("a.bin", random());
  await running.stop();
  // Earlier releases had no index, and left the blobs of deleted agents.
  await rm(join(home, "objects", "blob-index"), { recursive: true });
  const stray = "ab".repeat(32);
  await mkdir(join(home, "blobs", "ab"), { recursive: true });
  await writeFile(join(home, "blobs", "ab", stray.slice(2)), "left by a deleted agent");
  await utimes(join(home, "blobs", "ab", stray.slice(2)), 1000, 1000);
  running = host = await startHostProcess({ home });
  expect((await collect(running)).report).toMatchObject({ needed: { blobs: 3 }, freed: { blobs: 1 }, missing: 0 });
  expect(await listBlobs()).not.toContain(stray);
  expect((await running.client.resources().read(id)).text()).toBe("kept");
  // From now on its blobs are known, and go with it.
  await running.client.call("deleteAgent", { params: { agency: "global", agent: "ada" } });
  await waitUntil("the blob to be deleted", async () => (await listBlobs()).length === 2);
});

test("while an agent cannot be read, nothing is deleted that it may need", async () => {
  let running = await start();
  for (const name of ["ada", "bea"]) await running.client.agents().create({ name });
  await running.client.agent("ada").putFile("a.bin", random());
  await running.client.agent("bea").putFile("b.bin", random());
  await running.stop();
  await rm(join(home, "objects", "blob-index"), { recursive: true });
  const damaged = (await readdir(join(home, "objects", "think"))).filter((name) => /^[0-9a-f]{64}\.sqlite/.test(name));
  for (const name of damaged) {
    const path = join(home, "objects", "think", name);
    await rename(path, `${path}.whole`);
    if (name.endsWith(".sqlite")) await writeFile(path, randomBytes(8192));
  }
  running = host = await startHostProcess({ home });
  // Whatever is recent is kept in any case.
  await passGrace();
  const { report, unreadable } = await collect(running);
  expect(unreadable).toEqual(["global~ada", "global~bea"]);
  expect(report).toMatchObject({ unknown: { blobs: 2 }, freed: { blobs: 0 } });
  await running.stop();
  for (const name of damaged) {
    const path = join(home, "objects", "think", name);
    await rename(`${path}.whole`, path);
  }
  running = host = await startHostProcess({ home });
  expect(await collect(running)).toMatchObject({ report: { needed: { blobs: 2 }, missing: 0 }, unreadable: [] });
});

test("while an agency cannot be read, nothing is deleted that it may need", async () => {
  let running = await start();
  await running.client.documents().write("a.bin", random());
  await running.client.resources().create("kept");
  await running.stop();
  await rm(join(home, "objects", "blob-index"), { recursive: true });
  const folder = join(home, "objects", "agency");
  const damaged = (await readdir(folder)).filter((name) => /^[0-9a-f]{64}\.sqlite/.test(name));
  for (const name of damaged) {
    await rename(join(folder, name), join(folder, `${name}.whole`));
    if (name.endsWith(".sqlite")) await writeFile(join(folder, name), randomBytes(8192));
  }
  running = host = await startHostProcess({ home });
  await passGrace();
  const { report, unreadable } = await collect(running);
  expect(unreadable).toEqual(["owner/global"]);
  expect(report).toMatchObject({ unknown: { blobs: 2 }, freed: { blobs: 0 } });
  await running.stop();
  for (const name of damaged) await rename(join(folder, `${name}.whole`), join(folder, name));
  running = host = await startHostProcess({ home });
  expect(await collect(running)).toMatchObject({ report: { needed: { blobs: 2 }, missing: 0 }, unreadable: [] });
});

test("only the owner's admin can collect blobs", async () => {
  const { client, url } = await start();
  for (const [user, scope] of [
    ["owner", "chat"],
    ["bob", "chat"],
    ["bob", "admin"],
  ] as const) {
    const { token } = await client.call("createToken", { body: { name: "t", user, scopes: [scope] } });
    const other = createClient({ url, token });
    await expect(other.call("collectBlobs", { body: {} })).rejects.toMatchObject({ code: "forbidden" });
  }
});
