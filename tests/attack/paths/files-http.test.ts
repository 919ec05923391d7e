import { readdir } from "node:fs/promises";
import http from "node:http";
import { dirname, join } from "node:path";
import { buffer } from "node:stream/consumers";
import { parseFilePath } from "@thinkery/sdk";
import { zipFiles } from "@thinkery/sdk/internal";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type HostProcess, startHostProcess } from "../../kit/host-process.ts";
import { sample } from "../../kit/sample.ts";
import { send } from "../../kit/wire.ts";
import { pathCases as allCases } from "./cases.ts";

// Hostile paths by every way in: as an address, in edits, as a name in a zip, as a folder to list. What is written
// is in the workspace under the name that it should have, and nowhere else.

const pathCases = sample(allCases, { name: "hostile paths by HTTP", size: 200, kindOf: ({ why }) => why });

let house: HostProcess;
const agent = new http.Agent({ keepAlive: true, maxSockets: 8 });

beforeAll(async () => {
  house = await startHostProcess();
});

afterAll(async () => {
  agent.destroy();
  await house?.stop();
});

const newAgent = async (name: string) => (await house.client.agents().create({ name })).name;

function ask(method: string, path: string, body?: string | Buffer) {
  const headers = {
    authorization: `Bearer ${house.token}`,
    ...(typeof body === "string" ? { "content-type": "application/json" } : {}),
  };
  return send({ port: house.port, agent, method, path, headers, ...(body === undefined ? {} : { body }) });
}

/** All of the sample, a few at a time: each has an agent of its own, so that none is in the way of another. */
async function forEachCase(
  prefix: string,
  attempt: (agent: string, path: string, lands: string | undefined) => Promise<void>,
): Promise<void> {
  const left = [...pathCases];
  const worker = async (_: unknown, index: number) => {
    const name = await newAgent(`${prefix}-${index}`);
    for (let one = left.pop(); one; one = left.pop()) await attempt(name, one.path, one.lands);
  };
  await Promise.all(Array.from({ length: 8 }, worker));
}

const listFiles = async (name: string) => (await house.client.agent(name).files()).files.map(({ path }) => path);

/** What was written is what should have been, and is taken away again. */
async function expectOnlyFile(name: string, path: string): Promise<void> {
  expect(await listFiles(name)).toEqual([path]);
  await house.client.agent(name).deleteFile(path);
}

test("edits that write, move or delete hostile paths are refused or stay inside the workspace", async () => {
  await forEachCase("edits", async (name, path, lands) => {
    // Half a character cannot be sent in UTF-8, but JSON has a way to write it.
    const answer = await ask(
      "POST",
      `/agents/${name}/files`,
      JSON.stringify({ edits: [{ write: path, content: "x" }] }),
    );
    expect([path, answer.status]).toEqual([path, lands === undefined ? 400 : 201]);
    if (lands !== undefined) return expectOnlyFile(name, lands);
    // They all ask the same judge; some are enough to know that they ask.
    if (path.length % 4 !== 0) return;
    for (const edit of [{ delete: path }, { move: "a.txt", to: path }, { move: path, to: "a.txt" }]) {
      expect([edit, (await ask("POST", `/agents/${name}/files`, JSON.stringify({ edits: [edit] }))).status]).toEqual([
        edit,
        400,
      ]);
    }
  });
}, 120_000);

test("a PUT to a hostile path is refused or stays inside the workspace", async () => {
  await forEachCase("address", async (name, path, lands) => {
    if (path.length > 2000) return;
    const written = path.toWellFormed().split("/").map(encodeURIComponent).join("/");
    // With its slashes encoded too, nothing but us takes it apart.
    for (const rest of [written, encodeURIComponent(path.toWellFormed())]) {
      const answer = await ask("PUT", `/agents/${name}/files/${rest}`, Buffer.from("x"));
      expect([path, rest, answer.status]).toEqual([
        path,
        rest,
        expect.toSatisfy((status: number) => [200, 201, 400, 404, 405].includes(status)),
      ]);
      if (answer.status !== 201) continue;
      const { path: landed } = JSON.parse(answer.body);
      // Dots are taken away on the way here; whatever is left is judged like every other path.
      if (rest.includes("/")) expect(parseFilePath(landed)).toBe(landed);
      else expect([path, landed]).toEqual([path, lands]);
      expect(
        (await ask("GET", `/agents/${name}/files/${landed.split("/").map(encodeURIComponent).join("/")}`)).body,
      ).toBe("x");
      await expectOnlyFile(name, landed);
    }
  });
}, 120_000);

test("hostile names in a zip are refused or stay inside, and a hostile folder never breaks a listing", async () => {
  await forEachCase("zip", async (name, path, lands) => {
    const under = await ask("GET", `/agents/${name}/files?under=${encodeURIComponent(path.toWellFormed())}`);
    expect([path, under.status < 500]).toEqual([path, true]);
    // A name has two bytes for its length; half a character is no UTF-8 and becomes another.
    if (!path.isWellFormed() || path.length > 10_000) return;
    const answer = await ask(
      "PUT",
      `/agents/${name}/archive`,
      await buffer(zipFiles([{ path, data: new Uint8Array([120]), modifiedAt: new Date() }])),
    );
    // One that ends with a slash is a folder, and nothing is in a folder.
    expect([path, answer.status]).toEqual([path, lands === undefined ? 400 : 200]);
    if (lands !== undefined) await expectOnlyFile(name, lands);
  });
}, 120_000);

test("nothing was written outside the workspace, and the host never restarted", async () => {
  expect(await readdir(dirname(house.home))).toEqual(["home"]);
  expect((await readdir(house.home)).toSorted()).toEqual(expect.arrayContaining(["daemon.json", "token"]));
  for (const name of await readdir(house.home))
    expect(join(house.home, name)).not.toMatch(/passwd|authorized_keys|a\.txt|\.env$/);
  expect((await house.client.call("health")).restarts).toBe(0);
});
