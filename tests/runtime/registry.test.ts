import { afterAll, beforeAll, expect, test } from "vitest";
import { type BareWorker, startBareWorker } from "../kit/workerd.ts";

let worker: BareWorker;

beforeAll(async () => {
  worker = await startBareWorker(new URL("registry.worker.ts", import.meta.url), { objects: ["RegistryObject"] });
});

afterAll(() => worker?.stop());

const openRegistry =
  (object: string) =>
  async (step: string, input: object | string = {}): Promise<any> => {
    const body = JSON.stringify({ step, ...(typeof input === "string" ? { name: input } : input) });
    return (await fetch(`${worker.url}/${object}`, { method: "POST", body })).json();
  };

test("a name is taken once reserved, and listed from its confirmation until it is marked for deletion", async () => {
  const registry = openRegistry("life");
  const listNames = async () => (await registry("page")).rows.map(({ name }: { name: string }) => name);
  await registry("reserve", "a");
  expect([await registry("state", "a"), await listNames()]).toEqual(["creating", []]);
  await registry("confirm", "a");
  expect([await registry("state", "a"), await listNames()]).toEqual(["ready", ["a"]]);
  await registry("markDeleting", "a");
  expect([await registry("state", "a"), await listNames()]).toEqual(["deleting", []]);
  await registry("remove", "a");
  expect([await registry("state", "a"), await listNames()]).toEqual([null, []]);
});

test("an addition that the other object refuses releases the name, or marks it for deletion if something may be left", async () => {
  const registry = openRegistry("refused");
  await registry("add", "fine");
  expect(await registry("state", "fine")).toBe("ready");
  expect(await registry("refuse", { name: "given", onRefusal: "release" })).toBe("no");
  expect(await registry("state", "given")).toBe(null);
  expect(await registry("refuse", { name: "left", onRefusal: "delete" })).toBe("no");
  expect(await registry("settle")).toEqual({ settled: true, calls: ["erase left"] });
  expect(await registry("state", "left")).toBe(null);
});

test("interrupted creations and deletions are completed, and only once", async () => {
  const registry = openRegistry("cut");
  for (const name of ["kept", "half-made", "half-gone"]) await registry("reserve", name);
  for (const name of ["kept", "half-gone"]) await registry("confirm", name);
  await registry("markDeleting", "half-gone");
  expect(await registry("settle")).toEqual({ settled: true, calls: ["create half-made:red", "erase half-gone"] });
  expect((await registry("page")).rows.map(({ name }: { name: string }) => name)).toEqual(["half-made", "kept"]);
  expect(await registry("settle")).toEqual({ settled: false, calls: [] });
});

test("an entry that cannot be settled does not block the others and is retried", async () => {
  const registry = openRegistry("stuck");
  for (const name of ["a", "b"]) await registry("reserve", name);
  expect(await registry("settle", { fails: ["a"] })).toEqual({ settled: true, calls: ["create b:red"] });
  expect(await registry("settle")).toEqual({ settled: true, calls: ["create a:red"] });
});

test("a late confirmation does not restore a name that is marked for deletion", async () => {
  const registry = openRegistry("late");
  await registry("reserve", "a");
  await registry("markDeleting", "a");
  await registry("confirm", "a");
  expect(await registry("state", "a")).toBe("deleting");
});

test("pages have no gaps or duplicates, and the last one has no next", async () => {
  const registry = openRegistry("pages");
  const names = ["a", "b", "c", "d", "e"];
  for (const name of names) {
    await registry("reserve", name);
    await registry("confirm", name);
  }
  const seen: string[] = [];
  let after: string | undefined;
  do {
    const page = await registry("page", { limit: 2, ...(after ? { after } : {}) });
    seen.push(...page.rows.map(({ name }: { name: string }) => name));
    after = page.next;
  } while (after);
  expect(seen).toEqual(names);
  expect((await registry("page", { limit: 5 })).next).toBeUndefined();
});

test("a user has at most 1,000 agencies, of which removed ones do not count", async () => {
  const filled = await openRegistry("agencies")("fillAgencies");
  expect(filled).toEqual({ count: 1000, code: "conflict", afterRemoval: null });
});
