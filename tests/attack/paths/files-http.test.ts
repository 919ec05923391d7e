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

// Hostile paths over HTTP: in URLs, in edits, as names in a zip, as a folder to list. Files are written in the
// workspace
// under the expected name, and nowhere else.

const pathCases = sample(allCases, { name: "hostile paths over HTTP", size: 200, kindOf: ({ kind }) => kind });

let host: HostProcess;
const agent = new http.Agent({ keepAlive: true, maxSockets: 8 });

beforeAll(async () => {
  host = await startHostProcess();
});

afterAll(async () => {
  agent.destroy();
  await host?.stop();
});

/** Whose files are written: an agent's, or those that the members of an agency share. */
const kinds = ["files", "documents"] as const;
type Kind = (typeof kinds)[number];

async function create(kind: Kind, name: string): Promise<void> {
  if (kind === "files") await host.client.agents().create({ name });
  else await host.client.call("createAgency", { body: { id: name } });
}

const buildRoot = (kind: Kind, name: string) =>
  kind === "files" ? `/agents/${name}/files` : `/agency/${name}/documents`;

function ask(method: string, path: string, body?: string | Buffer) {
  const headers = {
    authorization: `Bearer ${host.token}`,
    ...(typeof body === "string" ? { "content-type": "application/json" } : {}),
  };
  return send({ port: host.port, agent, method, path, headers, ...(body === undefined ? {} : { body }) });
}

/** Runs all cases, a few at a time. Each worker has its own agent or agency, so that cases do not conflict. */
async function forEachCase(
  kind: Kind,
  prefix: string,
  attempt: (agent: string, path: string, storedAs: string | undefined) => Promise<void>,
): Promise<void> {
  const queue = [...pathCases];
  const worker = async (_: unknown, index: number) => {
    const name = `${prefix}-${index}`;
    await create(kind, name);
    for (let next = queue.pop(); next; next = queue.pop()) await attempt(name, next.path, next.storedAs);
  };
  await Promise.all(Array.from({ length: 8 }, worker));
}

async function listFiles(name: string, kind: Kind = "files"): Promise<string[]> {
  const { client } = host;
  const { files } = await (kind === "files" ? client.agent(name).files() : client.documents(name).list());
  return files.map(({ path }) => path);
}

/** Checks that there is only this file, and deletes it. */
async function expectOnlyFile(name: string, path: string, kind: Kind = "files"): Promise<void> {
  expect(await listFiles(name, kind)).toEqual([path]);
  await (kind === "files" ? host.client.agent(name).deleteFile(path) : host.client.documents(name).delete(path));
}

test.each(kinds)(
  "edits of %s that name hostile paths are rejected or stay inside the workspace",
  async (kind) => {
    await forEachCase(kind, "edits", async (name, path, storedAs) => {
      const root = buildRoot(kind, name);
      // An unpaired surrogate cannot be encoded in UTF-8, but JSON can escape it.
      const response = await ask("POST", root, JSON.stringify({ edits: [{ write: path, content: "x" }] }));
      expect([path, response.status]).toEqual([path, storedAs === undefined ? 400 : 201]);
      if (storedAs !== undefined) return expectOnlyFile(name, storedAs, kind);
      // All edits share one validation; a quarter of the paths is enough.
      if (path.length % 4 !== 0) return;
      for (const edit of [{ delete: path }, { move: "a.txt", to: path }, { move: path, to: "a.txt" }]) {
        expect([edit, (await ask("POST", root, JSON.stringify({ edits: [edit] }))).status]).toEqual([edit, 400]);
      }
    });
  },
  120_000,
);

test.each(kinds)(
  "a PUT of %s to a hostile path is rejected or stays inside the workspace",
  async (kind) => {
    await forEachCase(kind, "address", async (name, path, storedAs) => {
      const root = buildRoot(kind, name);
      if (path.length > 2000) return;
      const encoded = path.toWellFormed().split("/").map(encodeURIComponent).join("/");
      // With encoded slashes, only our code splits it.
      for (const rest of [encoded, encodeURIComponent(path.toWellFormed())]) {
        const response = await ask("PUT", `${root}/${rest}`, Buffer.from("x"));
        expect([path, rest, response.status]).toEqual([
          path,
          rest,
          expect.toSatisfy((status: number) => [200, 201, 400, 404, 405].includes(status)),
        ]);
        if (response.status !== 201) continue;
        const { path: stored } = JSON.parse(response.body);
        // URL parsing removes dot segments; the rest is validated like every other path.
        if (rest.includes("/")) expect(parseFilePath(stored)).toBe(stored);
        else expect([path, stored]).toEqual([path, storedAs]);
        expect((await ask("GET", `${root}/${stored.split("/").map(encodeURIComponent).join("/")}`)).body).toBe("x");
        await expectOnlyFile(name, stored, kind);
      }
    });
  },
  120_000,
);

test("hostile names in a zip are rejected or stay inside, and a hostile folder never breaks a listing", async () => {
  await forEachCase("files", "zip", async (name, path, storedAs) => {
    const under = await ask("GET", `/agents/${name}/files?under=${encodeURIComponent(path.toWellFormed())}`);
    expect([path, under.status < 500]).toEqual([path, true]);
    // A zip name has a 16-bit length, and an unpaired surrogate would become another character in UTF-8.
    if (!path.isWellFormed() || path.length > 10_000) return;
    const response = await ask(
      "PUT",
      `/agents/${name}/archive`,
      await buffer(zipFiles([{ path, data: new Uint8Array([120]), modifiedAt: new Date() }])),
    );
    // A name with a trailing slash is a folder entry, and an archive without files is rejected too.
    expect([path, response.status]).toEqual([path, storedAs === undefined ? 400 : 200]);
    if (storedAs !== undefined) await expectOnlyFile(name, storedAs);
  });
}, 120_000);

test("nothing was written outside the workspace, and the host never restarted", async () => {
  expect(await readdir(dirname(host.home))).toEqual(["home"]);
  expect((await readdir(host.home)).toSorted()).toEqual(expect.arrayContaining(["daemon.json", "token"]));
  for (const name of await readdir(host.home))
    expect(join(host.home, name)).not.toMatch(/passwd|authorized_keys|a\.txt|\.env$/);
  expect((await host.client.call("health")).restarts).toBe(0);
});
