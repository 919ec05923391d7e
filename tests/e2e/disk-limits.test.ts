import { randomBytes } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Scope } from "@thinkery/sdk";
import { createClient } from "@thinkery/sdk/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createHomePath, type HostProcess, removeHome, startHostProcess } from "../kit/host-process.ts";
import { waitUntil } from "../kit/wait-until.ts";

let host: HostProcess;
let home: string;

beforeAll(async () => {
  home = await createHomePath();
  await mkdir(home, { mode: 0o700 });
  const workspace = { maxTotalMb: 1, maxFiles: 5, maxBlobMb: 2, blobGraceSeconds: 1 };
  await writeFile(join(home, "config.jsonc"), JSON.stringify({ sandboxSlots: 1, workspace }));
  host = await startHostProcess({ home });
});

afterAll(async () => {
  await host?.stop();
  await removeHome(home);
});

const random = (kilobytes: number) => new Uint8Array(randomBytes(kilobytes * 1000));
const openClient = async (user: string, ...scopes: Scope[]) => {
  const { token } = await host.client.call("createToken", { body: { name: "t", user, scopes } });
  return createClient({ url: host.url, token });
};

test("the files that branches add count towards the quota, and unchanged ones do not", async () => {
  await host.client.agents().create({ name: "ada" });
  const ada = host.client.agent("ada");
  const params = { agency: "global", agent: "ada" };
  await ada.putFile("main.bin", random(600));
  for (const name of ["one", "two"]) await host.client.call("createBranch", { params, body: { name } });
  await ada.putFile("one.bin", random(300), { branch: "one" });
  const tooMuch = () => ada.putFile("two.bin", random(300), { branch: "two" });
  await expect(tooMuch()).rejects.toMatchObject({ code: "too_large", message: expect.stringContaining("branches") });
  await expect(ada.putFile("more.bin", random(300))).rejects.toMatchObject({ code: "too_large" });
  for (const number of [1, 2, 3]) await ada.putFile(`${number}.txt`, "small", { branch: "two" });
  await expect(ada.putFile("4.txt", "small", { branch: "two" })).rejects.toMatchObject({ code: "too_large" });
  await ada.putFile("1.txt", "tiny", { branch: "two" });
  expect(await host.client.call("getDiskUsage", { params })).toMatchObject({
    files: { files: 1, bytes: 600_000 },
    branches: { branches: 2, files: 4, bytes: 300_000 + 4 + 5 + 5 },
  });
  const { stdout } = await host.runCli(["info", "ada"]);
  expect(stdout).toMatch(/^branches +2, with 4 changed files \(300 kB\)$/m);
  expect(stdout).toMatch(/^blobs +2 \(900 kB\)$/m);
  await host.client.call("deleteBranch", { params: { ...params, branch: "one" } });
  await tooMuch().catch((error: Error) => expect(error.message).toContain("5 files"));
  await ada.deleteFile("3.txt", { branch: "two" });
  await tooMuch();
});

test("old versions of large files are limited, and a collection makes room again", async () => {
  await host.client.agents().create({ name: "bea" });
  const bea = host.client.agent("bea");
  const params = { agency: "global", agent: "bea" };
  await host.client.call("createBranch", { params, body: { name: "try" } });
  for (let version = 0; version < 4; version++) await bea.putFile("a.bin", random(500), { branch: "try" });
  await expect(bea.putFile("a.bin", random(500))).rejects.toMatchObject({
    code: "too_large",
    message: expect.stringContaining("thinkery gc"),
  });
  await bea.putFile("a.txt", "text is not a blob");
  await host.client.call("deleteBranch", { params: { ...params, branch: "try" } });
  await waitUntil("room for a blob", async () => {
    await host.client.call("collectBlobs", { body: {} });
    return bea.putFile("a.bin", random(500)).catch(() => undefined);
  });
});

test("a user over the disk limit can neither store nor start turns, but delete", async () => {
  const added = await host.runCli(["user", "add", "eve", "--disk-mb", "2"]);
  expect(added.code).toBe(0);
  const eve = await openClient("eve", "admin");
  for (const name of ["one", "two"])
    await eve.call("createAgent", { params: { agency: "eve" }, body: { name, model: "scripted:tour" } });
  const put = (agent: string, path: string, kilobytes: number) =>
    eve.agent(`${agent}@eve`).putFile(path, random(kilobytes));
  await put("one", "a.bin", 900);
  const full = { code: "too_large", message: expect.stringContaining("disk space") };
  await expect(put("two", "b.bin", 900)).rejects.toMatchObject(full);
  const two = { agency: "eve", agent: "two" };
  await expect(
    eve.call("editFiles", { params: two, body: { edits: [{ write: "b.txt", content: "x".repeat(900_000) }] } }),
  ).rejects.toMatchObject(full);
  const data = Buffer.from(random(600)).toString("base64");
  const attachments = [{ name: "a", mediaType: "application/octet-stream", data }];
  await expect(eve.call("invoke", { params: two, body: { message: "hello", attachments } })).rejects.toMatchObject(
    full,
  );
  expect((await host.runCli(["user", "ls"])).stdout).toMatch(/eve .* MB of 2 MB/);

  await host.client.call("removeUser", { params: { user: "eve" } });
  await host.client.call("addUser", { body: { name: "eve", limits: { diskMb: 1 } } });
  const again = await openClient("eve", "admin");
  const names = ["one", "two", "three", "four", "five"];
  for (const name of names)
    await again.call("createAgent", { params: { agency: "eve" }, body: { name, model: "scripted:tour" } });
  const invoke = (agent: string) =>
    again.call("invoke", { params: { agency: "eve", agent }, body: { message: "hello" } });
  // Five agents with a conversation are more than a megabyte.
  await waitUntil("the limit to be reached", async () => {
    for (const agent of names) {
      const result = await invoke(agent).catch((error: unknown) => error);
      if (result instanceof Error) return expect(result).toMatchObject(full) ?? true;
    }
    return undefined;
  });
  const general = { agency: "eve", channel: "general" };
  await expect(
    again.call("postChannelMessage", { params: general, body: { content: "x".repeat(60_000) } }),
  ).rejects.toMatchObject(full);
  for (const agent of ["one", "two", "four", "five"])
    await again.call("deleteAgent", { params: { agency: "eve", agent } });
  await waitUntil("room for a turn", () => invoke("three").catch(() => undefined));
});

test("old versions of an agency's documents are limited", async () => {
  await host.client.call("createAgency", { body: { id: "archive" } });
  const documents = host.client.documents("archive");
  for (let version = 0; version < 4; version++) await documents.write("a.bin", random(500));
  await expect(documents.write("a.bin", random(500))).rejects.toMatchObject({
    code: "too_large",
    message: expect.stringMatching(/^This agency already stores 1 MB of large documents/),
  });
  await documents.write("a.txt", "text is not a blob");
  expect((await documents.read("a.bin", { version: 1 })).size).toBe(500_000);
});

test("documents and resources of an agency count towards the disk limit of its user", async () => {
  await host.client.call("addUser", { body: { name: "ida", limits: { diskMb: 2 } } });
  const ida = await openClient("ida", "admin");
  const countBytes = async () =>
    (await host.client.call("listUsers", { query: {} })).users.find(({ name }) => name === "ida")?.diskBytes ?? 0;
  await ida.call("createAgency", { body: { id: "den" } });
  await ida.documents("den").write("a.bin", random(900));
  expect(await countBytes()).toBeGreaterThan(900_000);
  const full = { code: "too_large", message: expect.stringContaining("disk space") };
  await expect(ida.resources("den").create(random(1200))).rejects.toMatchObject(full);
  const fillUp = async () => {
    for (let version = 0; version < 50; version++)
      await ida.documents("den").write("a.txt", randomBytes(40_000).toString("hex"));
  };
  await expect(fillUp()).rejects.toMatchObject(full);
  await ida.call("deleteAgency", { params: { agency: "den" } });
  await waitUntil("the space to be free", async () => (await countBytes()) === 0);
  await ida.documents().write("b.bin", random(900));
});

test("versions, moves and branches count towards a user's disk limit, and deleting does not", async () => {
  await host.client.call("addUser", { body: { name: "hal", limits: { diskMb: 3 } } });
  const hal = await openClient("hal", "admin");
  const params = { agency: "hal", agent: "one" };
  const full = { code: "too_large", message: expect.stringContaining("disk space") };
  const openAgent = async (agent: string) => {
    await hal.call("createAgent", { params: { agency: "hal" }, body: { name: agent } });
    return hal.agent(`${agent}@hal`);
  };
  const one = await openAgent("one");
  const randomText = (kilobytes: number) => randomBytes(kilobytes * 500).toString("hex");
  const rewrite = async () => {
    for (let version = 0; version < 10; version++) await one.putFile("a.txt", randomText(400));
  };
  await expect(rewrite()).rejects.toMatchObject(full);
  const { users } = await host.client.call("listUsers", { query: {} });
  expect(users.find(({ name }) => name === "hal")?.diskBytes).toBeLessThan(4_000_000);
  for (let file = 0; file < 50; file++) await one.putFile(`many/${file % 2}.txt`, randomText(10)).catch(() => {});
  const move = (from: string, to: string) => hal.call("editFiles", { params, body: { edits: [{ move: from, to }] } });
  const moveForever = async () => {
    for (let moves = 0; moves < 1_000; moves++)
      await move(...((moves % 2 ? ["b", "many"] : ["many", "b"]) as [string, string]));
  };
  await expect(moveForever()).rejects.toMatchObject(full);
  await one.deleteFile("a.txt");
  await hal.call("deleteAgent", { params });

  const two = await openAgent("two");
  await two.putFile("a.txt", randomText(400));
  const createBranches = async () => {
    for (let branch = 0; branch < 100; branch++)
      await hal.call("createBranch", { params: { agency: "hal", agent: "two" }, body: { name: `b${branch}` } });
  };
  await expect(createBranches()).rejects.toMatchObject(full);
  const { branches } = await hal.call("listBranches", { params: { agency: "hal", agent: "two" } });
  expect(branches.length).toBeLessThan(7);
  await hal.call("deleteBranch", { params: { agency: "hal", agent: "two", branch: "b0" } });
});

test("the host's owner has no disk limit, and a user without one neither", async () => {
  const fay = await openClient("fay", "admin");
  await fay.call("createAgent", { params: { agency: "fay" }, body: { name: "one" } });
  await fay.agent("one@fay").putFile("a.bin", random(900));
  const { users } = await host.client.call("listUsers", { query: {} });
  expect(users.find(({ name }) => name === "fay")).toMatchObject({ diskBytes: expect.any(Number), limits: {} });
});
