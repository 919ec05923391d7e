import { createHash, randomBytes } from "node:crypto";
import { access, mkdir, rm, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { BlobReport } from "@thinkery/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { waitUntil } from "../kit/wait-until.ts";
import { type BareWorker, startBareWorker } from "../kit/workerd.ts";

let worker: BareWorker;

beforeAll(async () => {
  worker = await startBareWorker(new URL("blob-index.worker.ts", import.meta.url), {
    objects: ["BlobIndex"],
    bindings: [
      `(name = "DISK", service = "blobs")`,
      `(name = "BLOBS", service = (name = "main", entrypoint = "Disk"))`,
      `(name = "OBJECTS", service = "agents")`,
    ],
    services: [
      `(name = "blobs", disk = (path = "@/blobs", writable = true, allowDotfiles = true))`,
      `(name = "agents", disk = (path = "@/blobs/..", writable = false))`,
    ],
  });
});

afterAll(() => worker?.stop());

async function call<T>(method: string, ...input: unknown[]): Promise<T> {
  const response = await fetch(`${worker.url}/${method}`, { method: "POST", body: JSON.stringify(input) });
  const value = (await response.json()) as T & { message?: string; code?: string };
  if (!response.ok) throw Object.assign(new Error(value.message), { code: value.code });
  return value;
}

const createOwner = (key: string) => ({ key, object: createHash("sha256").update(key).digest("hex") });
const getPath = (hash: string) => join(worker.folder, "blobs", hash.slice(0, 2), hash.slice(2));
const isStored = (hash: string) =>
  access(getPath(hash)).then(
    () => true,
    () => false,
  );

/** Writes bytes to the disk as an agent does, without telling the index. */
async function write(content: Uint8Array = randomBytes(100)): Promise<string> {
  const hash = createHash("sha256").update(content).digest("hex");
  await mkdir(join(getPath(hash), ".."), { recursive: true });
  await writeFile(getPath(hash), content);
  return hash;
}

const reserve = (owner: string, hash: string, maxBytes = 1e9) =>
  call("reserve", createOwner(owner), { hash, size: 100 }, maxBytes);

async function store(owner: string, content?: Uint8Array): Promise<string> {
  const hash = await write(content);
  await reserve(owner, hash);
  return hash;
}

interface Visit {
  visit: number;
  cutoff: number;
  dryRun: boolean;
}

const startVisit = async (options: Partial<Visit> = {}): Promise<Visit> => ({
  visit: await call("startVisit"),
  cutoff: Date.now() + 60_000,
  dryRun: false,
  ...options,
});
const sweep = (hash: string, visit: Visit, isComplete = true) =>
  call<BlobReport>("sweepFolder", hash.slice(0, 2), visit, isComplete);

test("a deleted agent's blobs are deleted soon, except those that another agent needs", async () => {
  const [own, shared] = [await store("a"), await store("a")];
  await reserve("b", shared);
  expect(await call("getTotals", "a")).toEqual({ blobs: 2, bytes: 200 });
  await call("release", "a");
  await waitUntil("the blob to be deleted", async () => !(await isStored(own)));
  expect(await isStored(shared)).toBe(true);
  expect(await call("getTotals", "a")).toEqual({ blobs: 0, bytes: 0 });
  await call("release", "a");
  await call("release", "b");
  await waitUntil("the other blob to be deleted", async () => !(await isStored(shared)));
});

test("a new agent of the same name keeps what it stores while the old one's blobs are deleted", async () => {
  const content = randomBytes(100);
  const [old, kept] = [await store("again"), await store("again", content)];
  await call("release", "again");
  await reserve("again", kept);
  await write(content);
  await waitUntil("the old blob to be deleted", async () => !(await isStored(old)));
  expect(await isStored(kept)).toBe(true);
  expect(await call("getTotals", "again")).toEqual({ blobs: 1, bytes: 100 });
});

test("storing a blob waits for a deletion of the same blob that is under way", async () => {
  const content = randomBytes(100);
  const hash = await store("c", content);
  await fetch(`${worker.url}/hold`);
  await call("release", "c");
  await waitUntil("the deletion to begin", async () => (await (await fetch(`${worker.url}/waiting`)).json()) === 1);
  let isReserved = false;
  const reserving = reserve("d", hash).then(() => (isReserved = true));
  // Another blob is not held up, and by its response the first one had the time to overtake the deletion.
  await reserve("d", await write());
  expect(isReserved).toBe(false);
  await fetch(`${worker.url}/go`);
  await reserving;
  await write(content);
  await call("release", "nobody");
  const visit = await startVisit();
  await call("recordVisit", createOwner("d"), [{ hash, size: 100 }], visit);
  expect(await sweep(hash, visit)).toMatchObject({ missing: 0 });
  expect(await isStored(hash)).toBe(true);
});

test("the background waits for a collection that deletes the same blob, and holds up nobody", async () => {
  const hash = await store("e");
  const visit = await startVisit();
  for (const owner of ["e", "without blobs"]) await call("recordVisit", createOwner(owner), [], visit);
  await call("finishVisit", "e", visit);
  await fetch(`${worker.url}/hold`);
  const sweeping = sweep(hash, visit);
  await waitUntil("the deletion to begin", async () => (await (await fetch(`${worker.url}/waiting`)).json()) === 1);
  await call("release", "without blobs");
  await waitUntil("the background to begin", async () =>
    (await call<string[]>("listUnvisited", { visit: visit.visit + 1 }, "")).every((key) => key !== "without blobs"),
  );
  await reserve("f", await write());
  await fetch(`${worker.url}/go`, { signal: AbortSignal.timeout(5_000) });
  expect((await sweeping).freed.blobs).toBeGreaterThan(0);
  expect(await isStored(hash)).toBe(false);
  await call("release", "f");
});

test.each([
  { title: "after it", isAlarmLost: false },
  { title: "after it, even if the list of all alarms is lost", isAlarmLost: true },
])("a deletion that a crash interrupts is finished $title", async ({ isAlarmLost }) => {
  const hashes = await Promise.all(Array.from({ length: 40 }, () => store("e")));
  await fetch(`${worker.url}/hold`);
  await call("release", "e");
  await waitUntil("the deletion to begin", async () => (await (await fetch(`${worker.url}/waiting`)).json()) !== 0);
  expect(await Promise.all(hashes.map(isStored))).not.toContain(false);
  const alarms = ["", "-wal", "-shm"].map((end) => join(worker.folder, "objects/BlobIndex", `metadata.sqlite${end}`));
  if (isAlarmLost) for (const file of alarms) await rm(file);
  await worker.restart();
  // Wakes the index, as the next blob would; its alarm may come first.
  await call("getTotals", "e");
  for (const hash of hashes) await waitUntil("each blob to be deleted", async () => !(await isStored(hash)));
});

test("a visit drops the references that the agent did not confirm, unless they are recent", async () => {
  const [needed, unused, recent] = [await store("f"), await store("f"), await store("f")];
  const confirm = (visit: Visit) => call("recordVisit", createOwner("f"), [{ hash: needed, size: 100 }], visit);

  const tooEarly = await startVisit({ cutoff: Date.now() - 60_000 });
  await confirm(tooEarly);
  await call("finishVisit", "f", tooEarly);
  expect(await sweep(unused, tooEarly)).toMatchObject({ recent: { blobs: expect.any(Number) }, freed: { blobs: 0 } });

  const dry = await startVisit({ dryRun: true });
  await confirm(dry);
  await call("finishVisit", "f", dry);
  expect((await sweep(unused, dry)).freed.blobs).toBeGreaterThan(0);
  expect(await isStored(unused)).toBe(true);
  expect(await call("getTotals", "f")).toEqual({ blobs: 3, bytes: 300 });

  const cutoff = Date.now();
  await waitUntil("the clock to move on", () => Date.now() > cutoff);
  await reserve("f", recent);
  const visit = await startVisit({ cutoff });
  await confirm(visit);
  await call("finishVisit", "f", visit);
  for (const hash of [needed, unused, recent]) await sweep(hash, visit);
  expect(await Promise.all([needed, unused, recent].map(isStored))).toEqual([true, false, true]);
});

test("an older visit that ends late drops nothing that a newer one confirmed, and the other way round", async () => {
  const hash = await store("g");
  const [older, newer] = [await startVisit(), await startVisit()];
  const confirm = (visit: Visit) => call("recordVisit", createOwner("g"), [{ hash, size: 100 }], visit);
  await confirm(newer);
  await confirm(older);
  await call("finishVisit", "g", newer);
  await call("finishVisit", "g", older);
  expect(await call("getTotals", "g")).toEqual({ blobs: 1, bytes: 100 });
});

test("a blob without references is deleted only if all agents were asked and it is not recent", async () => {
  const hash = await write();
  const recent = await startVisit({ cutoff: Date.now() - 60_000 });
  expect((await sweep(hash, recent)).recent.blobs).toBeGreaterThan(0);
  expect((await sweep(hash, await startVisit(), false)).unknown.blobs).toBeGreaterThan(0);
  expect((await sweep(hash, await startVisit({ dryRun: true }))).freed.blobs).toBeGreaterThan(0);
  expect(await isStored(hash)).toBe(true);
  expect((await sweep(hash, await startVisit())).freed.blobs).toBeGreaterThan(0);
  expect(await isStored(hash)).toBe(false);
});

test("what interrupted writes left is deleted when it is old, and nothing else of such a name", async () => {
  const folder = join(worker.folder, "blobs", "00");
  await mkdir(folder, { recursive: true });
  const [old, young, other] = [`.${"1".repeat(62)}.5.0.tmp`, `.${"2".repeat(62)}.5.0.tmp`, ".notes.tmp"];
  for (const name of [old, young, other]) await writeFile(join(folder, name), "x");
  for (const name of [old, other]) await utimes(join(folder, name), 1000, 1000);
  const visit = await startVisit({ cutoff: Date.now() - 60_000 });
  expect((await call<BlobReport>("sweepFolder", "00", visit, true)).partials).toBe(1);
  const names = [old, young, other].map((name) =>
    access(join(folder, name)).then(
      () => name,
      () => undefined,
    ),
  );
  expect(await Promise.all(names)).toEqual([undefined, young, other]);
});

test("a reference without a blob is reported if it is needed", async () => {
  const hash = randomBytes(32).toString("hex");
  await reserve("h", hash);
  const visit = await startVisit();
  expect((await sweep(hash, visit)).missing).toBe(0);
  await call("recordVisit", createOwner("h"), [{ hash, size: 100 }], visit);
  expect((await sweep(hash, visit)).missing).toBe(1);
});

test("an agent cannot refer to more than allowed, but to what it has as often as it likes", async () => {
  const hash = await store("i");
  await expect(reserve("i", await write(), 199)).rejects.toMatchObject({ code: "too_large" });
  await reserve("i", hash, 199);
  await reserve("i", await write(), 200);
});

test.each(["think", "agency"])(
  "objects in %s with data that nobody asked are counted, deleted ones are not",
  async (name) => {
    const folder = join(worker.folder, name);
    await mkdir(folder);
    const [asked, unknown, deleted, writing] = ["asked", "unknown", "deleted", "writing"].map(createOwner);
    for (const [owner, bytes] of [
      [asked, 8192],
      [unknown, 8192],
      [deleted, 4096],
      [writing, 4096],
    ] as const)
      await writeFile(join(folder, `${owner?.object}.sqlite`), Buffer.alloc(bytes));
    await writeFile(join(folder, `${writing?.object}.sqlite-wal`), "x");
    await writeFile(join(folder, "metadata.sqlite"), Buffer.alloc(9000));
    const visit = await startVisit();
    await call("recordVisit", asked, [], visit);
    expect(await call("countUnknownOwners", visit)).toBe(2);
    await rm(folder, { recursive: true });
  },
);
