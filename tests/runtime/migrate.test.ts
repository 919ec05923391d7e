import { afterAll, beforeAll, expect, test } from "vitest";
import { type BareWorker, bareWorker } from "../kit/workerd.ts";

let worker: BareWorker;

beforeAll(async () => {
  worker = await bareWorker(new URL("migrate.worker.ts", import.meta.url), { objects: ["Store"] });
});

afterAll(() => worker?.stop());

const open = async (object: string, migrations: string[], query = "SELECT 1 AS one"): Promise<any> => {
  const response = await fetch(`${worker.url}/${object}`, { method: "POST", body: JSON.stringify({ migrations, query }) });
  return response.json();
};

const first = "CREATE TABLE notes (text TEXT NOT NULL); INSERT INTO notes VALUES ('old');";
const second = "ALTER TABLE notes ADD COLUMN stars INTEGER NOT NULL DEFAULT 3;";

test("a new object gets all steps, an old one only what it has not had, and its data stays", async () => {
  expect(await open("a", [first], "SELECT * FROM notes")).toEqual({ rows: [{ text: "old" }] });
  expect(await open("a", [first], "SELECT * FROM notes")).toEqual({ rows: [{ text: "old" }] });
  expect(await open("a", [first, second], "SELECT * FROM notes")).toEqual({ rows: [{ text: "old", stars: 3 }] });
  expect(await open("b", [first, second], "SELECT * FROM notes")).toEqual({ rows: [{ text: "old", stars: 3 }] });
});

test("data of a newer release is refused and left as it is", async () => {
  await open("c", [first, second]);
  expect((await open("c", [first])).error).toContain("newer Thinkery");
  expect(await open("c", [first, second], "SELECT stars FROM notes")).toEqual({ rows: [{ stars: 3 }] });
});

test("a step that fails leaves nothing of itself or of the steps before it", async () => {
  await open("d", [first]);
  const { error, tables } = await open("d", [first, "CREATE TABLE half (a);", "CREATE TABLE half (a);"]);
  expect(error).toBeTruthy();
  expect(tables).toEqual(["notes", "thinkery_schema"]);
  expect(await open("d", [first, second], "SELECT stars FROM notes")).toEqual({ rows: [{ stars: 3 }] });
});
