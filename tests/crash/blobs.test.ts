import { createHash } from "node:crypto";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isThinkeryError } from "@thinkery/sdk";
import { type Client, createClient } from "@thinkery/sdk/client";
import { afterAll, expect, test } from "vitest";
import { createHomePath, type HostProcess, removeHome, startHostProcess } from "../kit/host-process.ts";
import { findMain } from "../kit/processes.ts";
import { createRandom } from "../kit/random.ts";
import { getRepeatCount } from "../kit/sample.ts";
import { waitUntil } from "../kit/wait-until.ts";

const kills = getRepeatCount("blob-kills", { sample: 8, full: 100 });
const writers = 3;
/** Few contents, so that agents share blobs and store again what is being deleted. */
const contentCount = 12;

let host: HostProcess;
let home: string | undefined;

afterAll(async () => {
  await host?.stop();
  if (home) await removeHome(home);
});

const createContent = (number: number) => new Uint8Array(Buffer.alloc(20_000, `content ${number}\0`));
const hashOf = (content: Uint8Array) => createHash("sha256").update(content).digest("hex");

/** What an agent or agency should contain: by path, the content that was acknowledged; undefined if that is not known. */
const maxOwners = 15;
/** After a kill, every agent and agency has to be woken to be asked. */
const timeoutMs = 60_000;

type Expected = Map<string, number | undefined>;

test(
  `over ${kills} kills of main while blobs are stored, collected and deleted with agents and agencies, none is missing`,
  async () => {
    const random = createRandom("blobs");
    home = await createHomePath();
    await mkdir(home, { mode: 0o700 });
    const workspace = { blobGraceSeconds: 5, retainVersions: 3 };
    await writeFile(
      join(home, "config.jsonc"),
      JSON.stringify({ maxFailuresPerMinute: 100_000, sandboxSlots: 1, workspace }),
    );
    host = await startHostProcess({ home });
    const owners = new Map<string, Expected>();
    let isOver = false;
    let acknowledged = 0;
    const counts = { stored: 0, deleted: 0, collected: 0 };

    /** Returns undefined if the response was lost or the host is restarting. */
    async function attempt<T>(request: (client: Client) => Promise<T>): Promise<T | undefined> {
      const client = createClient({ url: host.url, token: host.token });
      try {
        const value = await Promise.race([request(client), new Promise<undefined>((end) => setTimeout(end, 5_000))]);
        acknowledged++;
        return value;
      } catch (error) {
        if (isThinkeryError(error) && error.code !== "unavailable" && error.code !== "internal") acknowledged++;
        return undefined;
      }
    }

    async function write(writer: number): Promise<void> {
      for (let number = 0; !isOver; number++) {
        const name = `${writer === 0 ? agencyPrefix : "w"}${writer}-${number}`;
        const expected: Expected = new Map();
        await retry(() => attempt((client) => createOnce(client, name)));
        owners.set(name, expected);
        for (let file = 0; file < 6 && !isOver; file++) {
          const [path, content] = [`${random.below(3)}.bin`, random.below(contentCount)];
          expected.set(path, undefined);
          const stored = await attempt((client) => openFiles(client, name).write(path, createContent(content)));
          if (stored) expected.set(path, content);
          counts.stored++;
          if (!stored) await sleep(20);
        }
        // A few stay, so that a collection has somebody to ask and still ends between two kills.
        if ((random.below(3) === 0 && owners.size < maxOwners) || isOver) continue;
        owners.delete(name);
        await retry(() =>
          attempt(async (client) => {
            await deleteOwner(client, name).catch((error: unknown) => {
              if (!isThinkeryError(error) || error.code !== "not_found") throw error;
            });
            return true;
          }),
        );
        counts.deleted++;
      }
    }

    async function collectRepeatedly(): Promise<void> {
      while (!isOver) {
        const collection = await attempt((client) => client.call("collectBlobs", { body: {} }));
        if (collection?.state === "done") counts.collected++;
        if (!collection) await sleep(20);
      }
    }

    /** Repeats a request until there is a response, as a careful client does. */
    async function retry(request: () => Promise<unknown>): Promise<void> {
      while (!(await request())) await sleep(20);
    }

    const working = Promise.all([
      ...Array.from({ length: writers }, (_, writer) => write(writer)),
      collectRepeatedly(),
    ]);
    let killed = 0;
    for (let kill = 0; kill < kills; kill++) {
      const before = { acknowledged, ...counts };
      await waitUntil("some responses", () => acknowledged > before.acknowledged + 5);
      // Half of the kills hit the first collection, the others one after a whole one.
      if (kill % 2 === 0) await waitUntil("a collection", () => counts.collected > before.collected, { timeoutMs });
      await sleep(random.below(150));
      const main = await waitUntil("main to run", () => findMain(host.home, killed));
      killed = main.pid;
      process.kill(main.pid, "SIGKILL");
    }
    isOver = true;
    await working;

    const needed = await readAll(owners);
    // What they need is all there is, after one more collection.
    const { client } = host;
    await waitUntil("the last collection", async () => {
      const { state, report } = await client.call("collectBlobs", { body: {} });
      return state === "done" && report.recent.blobs === 0 && report.unknown.blobs === 0;
    });
    expect(await readAll(owners)).toEqual(needed);
    const last = await waitUntil("the dry run", async () => {
      const collection = await client.call("collectBlobs", { body: { dryRun: true } });
      return collection.state === "done" ? collection : undefined;
    });
    expect(last).toMatchObject({ report: { missing: 0, freed: { blobs: 0 } }, unreadable: [], unknownAgents: 0 });
    const stored = await listStored();
    expect([...needed].filter((hash) => !stored.includes(hash))).toEqual([]);
    expect(last.report.needed.blobs).toBe(stored.length);
    console.log(
      `${counts.stored} blobs stored, ${counts.deleted} agents and agencies deleted, ${counts.collected} collections over ${kills} kills`,
    );

    for (const name of owners.keys()) await deleteOwner(client, name);
    await waitUntil("all blobs to be deleted", async () => {
      await client.call("collectBlobs", { body: {} });
      return (await listStored()).length === 0;
    });
  },
  Math.max(120_000, kills * 5_000),
);

/** One of the writers stores documents of agencies, the others files of agents. */
const agencyPrefix = "team";
const isAgency = (name: string) => name.startsWith(agencyPrefix);

function openFiles(client: Client, name: string) {
  if (isAgency(name)) return client.documents(name);
  const agent = client.agent(name);
  return { read: agent.file, write: agent.putFile, list: agent.files, versions: agent.versions };
}

const deleteOwner = (client: Client, name: string) =>
  isAgency(name)
    ? client.call("deleteAgency", { params: { agency: name } })
    : client.call("deleteAgent", { params: { agency: "global", agent: name } });

async function createOnce(client: Client, name: string): Promise<boolean> {
  try {
    if (isAgency(name)) await client.call("createAgency", { body: { id: name } });
    else await client.agents().create({ name });
  } catch (error) {
    if (!(isThinkeryError(error) && error.code === "conflict")) throw error;
  }
  return true;
}

/** Reads every file of every version that is left. Returns the hashes of the current ones. */
async function readAll(owners: ReadonlyMap<string, Expected>): Promise<Set<string>> {
  const needed = new Set<string>();
  for (const [name, expected] of owners) {
    const files = openFiles(host.client, name);
    for (const [path, content] of expected) {
      if (content === undefined) continue;
      const { bytes } = await files.read(path);
      expect([name, path, hashOf(bytes)]).toEqual([name, path, hashOf(createContent(content))]);
      needed.add(hashOf(bytes));
    }
    for (const { id } of (await files.versions()).versions)
      for (const { path } of (await files.list({ version: id })).files) await files.read(path, { version: id });
  }
  return needed;
}

async function listStored(): Promise<string[]> {
  const names = await readdir(join(host.home, "blobs"), { recursive: true });
  return names.map((name) => name.replace("/", "")).filter((name) => /^[0-9a-f]{64}$/.test(name));
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
