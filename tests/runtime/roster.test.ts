import { afterAll, beforeAll, expect, test } from "vitest";
import { type BareWorker, startBareWorker } from "../kit/workerd.ts";

let worker: BareWorker;

beforeAll(async () => {
  worker = await startBareWorker(new URL("roster.worker.ts", import.meta.url), { objects: ["Keeper"] });
});

afterAll(() => worker?.stop());

const on =
  (object: string) =>
  async (step: string, input: object | string = {}): Promise<any> => {
    const body = JSON.stringify({ step, ...(typeof input === "string" ? { name: input } : input) });
    return (await fetch(`${worker.url}/${object}`, { method: "POST", body })).json();
  };

test("a name is taken from its reservation on, and listed from its confirmation to its condemnation", async () => {
  const keeper = on("life");
  const listed = async () => (await keeper("page")).rows.map(({ name }: { name: string }) => name);
  await keeper("reserve", "a");
  expect([await keeper("row", "a"), await listed()]).toEqual(["creating", []]);
  await keeper("confirm", "a");
  expect([await keeper("row", "a"), await listed()]).toEqual(["ready", ["a"]]);
  await keeper("condemn", "a");
  expect([await keeper("row", "a"), await listed()]).toEqual(["deleting", []]);
  await keeper("drop", "a");
  expect([await keeper("row", "a"), await listed()]).toEqual([null, []]);
});

test("an addition the other object refuses gives the name back, or condemns it where something may be left", async () => {
  const keeper = on("refused");
  await keeper("add", "fine");
  expect(await keeper("row", "fine")).toBe("ready");
  expect(await keeper("refuse", { name: "given", refused: "give back" })).toBe("no");
  expect(await keeper("row", "given")).toBe(null);
  expect(await keeper("refuse", { name: "left", refused: "condemn" })).toBe("no");
  expect(await keeper("settle")).toEqual({ any: true, told: ["erase left"] });
  expect(await keeper("row", "left")).toBe(null);
});

test("what was cut off is finished, each thing in its own direction, and only once", async () => {
  const keeper = on("cut");
  for (const name of ["kept", "half-made", "half-gone"]) await keeper("reserve", name);
  for (const name of ["kept", "half-gone"]) await keeper("confirm", name);
  await keeper("condemn", "half-gone");
  expect(await keeper("settle")).toEqual({ any: true, told: ["create half-made:red", "erase half-gone"] });
  expect((await keeper("page")).rows.map(({ name }: { name: string }) => name)).toEqual(["half-made", "kept"]);
  expect(await keeper("settle")).toEqual({ any: false, told: [] });
});

test("one that cannot be settled does not hold up the others, and is tried again", async () => {
  const keeper = on("stuck");
  for (const name of ["a", "b"]) await keeper("reserve", name);
  expect(await keeper("settle", { fails: ["a"] })).toEqual({ any: true, told: ["create b:red"] });
  expect(await keeper("settle")).toEqual({ any: true, told: ["create a:red"] });
});

test("a condemned name does not come back by a late confirmation", async () => {
  const keeper = on("late");
  await keeper("reserve", "a");
  await keeper("condemn", "a");
  await keeper("confirm", "a");
  expect(await keeper("row", "a")).toBe("deleting");
});

test("pages join without a gap or a repeat, and the last one says so", async () => {
  const keeper = on("pages");
  const names = ["a", "b", "c", "d", "e"];
  for (const name of names) {
    await keeper("reserve", name);
    await keeper("confirm", name);
  }
  const seen: string[] = [];
  let after: string | undefined;
  do {
    const page = await keeper("page", { limit: 2, ...(after ? { after } : {}) });
    seen.push(...page.rows.map(({ name }: { name: string }) => name));
    after = page.next;
  } while (after);
  expect(seen).toEqual(names);
  expect((await keeper("page", { limit: 5 })).next).toBeUndefined();
});
