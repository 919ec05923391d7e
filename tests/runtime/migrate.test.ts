import { afterAll, beforeAll, expect, test } from "vitest";
import { type BareWorker, startBareWorker } from "../kit/workerd.ts";

let worker: BareWorker;

beforeAll(async () => {
  worker = await startBareWorker(new URL("migrate.worker.ts", import.meta.url), { objects: ["Store"] });
});

afterAll(() => worker?.stop());

const open = async (object: string, migrations: string[], query = "SELECT 1 AS one"): Promise<any> => {
  const response = await fetch(`${worker.url}/${object}`, {
    method: "POST",
    body: JSON.stringify({ migrations, query }),
  });
  return response.json();
};

const first = "CREATE TABLE notes (text TEXT NOT NULL); INSERT INTO notes VALUES ('old');";
const second = "ALTER TABLE notes ADD COLUMN stars INTEGER NOT NULL DEFAULT 3;";

test("a new object runs all migrations, an existing one only the missing ones, and its data is kept", async () => {
  expect(await open("a", [first], "SELECT * FROM notes")).toEqual({ rows: [{ text: "old" }] });
  expect(await open("a", [first], "SELECT * FROM notes")).toEqual({ rows: [{ text: "old" }] });
  expect(await open("a", [first, second], "SELECT * FROM notes")).toEqual({ rows: [{ text: "old", stars: 3 }] });
  expect(await open("b", [first, second], "SELECT * FROM notes")).toEqual({ rows: [{ text: "old", stars: 3 }] });
});

test("data of a newer release is rejected and left unchanged", async () => {
  await open("c", [first, second]);
  expect((await open("c", [first])).error).toContain("newer Thinkery");
  expect(await open("c", [first, second], "SELECT stars FROM notes")).toEqual({ rows: [{ stars: 3 }] });
});

test("a failed migration rolls back itself and those before it", async () => {
  await open("d", [first]);
  const { error, tables } = await open("d", [first, "CREATE TABLE half (a);", "CREATE TABLE half (a);"]);
  expect(error).toBeTruthy();
  expect(tables).toEqual(["notes", "thinkery_features"]);
  expect(await open("d", [first, second], "SELECT stars FROM notes")).toEqual({ rows: [{ stars: 3 }] });
});

test("each feature has its own migrations, and a new feature is added to existing data", async () => {
  const ask = async (schema: object, query: string) =>
    (await fetch(`${worker.url}/features`, { method: "POST", body: JSON.stringify({ schema, query }) })).json();
  await ask({ notes: [first] }, "SELECT 1");
  const tags = "CREATE TABLE tags (tag TEXT NOT NULL);";
  expect(
    await ask(
      { notes: [first, second], tags: [tags] },
      "SELECT (SELECT stars FROM notes) AS stars, (SELECT count(*) FROM tags) AS tags",
    ),
  ).toEqual({ rows: [{ stars: 3, tags: 0 }] });
  expect(await ask({ notes: [first, second] }, "SELECT 1")).toMatchObject({
    error: expect.stringContaining("newer Thinkery"),
  });
});

test.each([4, 5, 6])(
  "an agent of a release with a single counter at %d migrations opens with all features",
  async (formerSteps) => {
    const query =
      "SELECT feature, version FROM thinkery_features UNION ALL SELECT name, 0 FROM pragma_table_info('versions') WHERE name = 'key' ORDER BY feature";
    const response = await fetch(`${worker.url}/former-${formerSteps}`, {
      method: "POST",
      body: JSON.stringify({ formerSteps, query }),
    });
    expect(await response.json()).toEqual({
      rows: [
        { feature: "agent", version: 6 },
        { feature: "childSpending", version: 1 },
        { feature: "code", version: 1 },
        { feature: "files", version: 5 },
        { feature: "key", version: 0 },
        { feature: "schedules", version: 1 },
        { feature: "subagents", version: 3 },
        { feature: "tasks", version: 1 },
        { feature: "team", version: 1 },
        { feature: "waits", version: 2 },
        { feature: "webhooks", version: 1 },
      ],
    });
  },
);

test("a new agent's tables are the same as if all migrations had been replayed", async () => {
  const query = `SELECT m.type, m.tbl_name, m.name, c.cid, c.name AS column, c.type AS kind, c."notnull", c.dflt_value, c.pk,
      CASE WHEN m.type = 'index' THEN m.sql END AS sql
    FROM sqlite_master m LEFT JOIN pragma_table_info(m.name) c ON m.type = 'table'
    WHERE m.name NOT LIKE 'sqlite_%' AND m.name NOT LIKE '\\_%' ESCAPE '\\' ORDER BY m.tbl_name, m.type, m.name, c.cid`;
  const describe = async (created: boolean) => {
    const body = JSON.stringify({ created, query });
    return (await fetch(`${worker.url}/created-${created}`, { method: "POST", body })).json();
  };
  const [created, replayed] = [await describe(true), await describe(false)] as { rows: unknown[] }[];
  expect(created?.rows.length).toBeGreaterThan(100);
  expect(created).toEqual(replayed);
});

test("tables that an object can do without are created when it needs them, and then kept up to date", async () => {
  const call = async (schema: object, optional?: string[]) => {
    const query = "SELECT feature, version FROM thinkery_features ORDER BY feature";
    const body = JSON.stringify({ schema, optional, query });
    return (await fetch(`${worker.url}/optional`, { method: "POST", body })).json();
  };
  const [needed, files] = [["CREATE TABLE log (a);"], ["CREATE TABLE files (a);", "ALTER TABLE files ADD COLUMN b;"]];
  const rows = (version?: number) => ({
    rows: [...(version === undefined ? [] : [{ feature: "files", version }]), { feature: "needed", version: 1 }],
  });
  expect(await call({ needed, files }, ["files"])).toEqual(rows());
  expect(await call({ needed, files: files.slice(0, 1) })).toEqual(rows(1));
  expect(await call({ needed, files }, ["files"])).toEqual(rows(2));
});

test("an agent of a newer release with a single counter is rejected", async () => {
  const response = await fetch(`${worker.url}/former-newer`, {
    method: "POST",
    body: JSON.stringify({ formerSteps: 9, query: "SELECT 1" }),
  });
  expect(await response.json()).toMatchObject({ error: expect.stringContaining("newer Thinkery") });
});

/** Opens data with this release that a release with `steps` migrations stored. */
async function openUpgraded(
  object: "agency" | "user" | "think",
  steps: number,
  stored: string,
  query: string,
): Promise<any> {
  const ask = async (upTo?: number) => {
    const body = JSON.stringify({ real: object, steps, stored, upTo, query: upTo === undefined ? query : "SELECT 1" });
    return (await fetch(`${worker.url}/${object}`, { method: "POST", body })).json();
  };
  await ask(steps + 1);
  return ask();
}

test("agencies and users from before budgets open with their data and without limits", async () => {
  const agency = "INSERT INTO agency (only, id, name, owner, created_at) VALUES (1, 'den', 'Den', 'owner', 7);";
  expect(await openUpgraded("agency", 1, agency, "SELECT id, metered, budget, version FROM agency, books")).toEqual({
    rows: [{ id: "den", metered: 0, budget: null, version: 0 }],
  });
  const user = "INSERT INTO agencies (id, name, created_at, state) VALUES ('den', 'Den', 7, 'ready');";
  expect(await openUpgraded("user", 1, user, "SELECT id, metered, budget FROM agencies, books")).toEqual({
    rows: [{ id: "den", metered: 0, budget: null }],
  });
});

test("usage from before daily totals is available by day and model", async () => {
  const call = (number: number, calls: number, model: string, day: string, cost: string) =>
    `INSERT INTO model_calls VALUES (${number}, ${calls}, 't', 1, '${model}', ${Date.parse(day)}, 10, 5, 2, 1, ${cost}, 100);`;
  const calls = [
    // The remainder of a cleared history.
    call(-1, 4, "x:a", "2026-01-01T23:59:59.999Z", "NULL"),
    call(3, 1, "x:a", "2026-01-01T00:00:00Z", "0.5"),
    call(5, 1, "x:a", "2026-01-02T00:00:00Z", "0.25"),
    call(6, 1, "x:b", "2026-01-02T12:00:00Z", "0"),
  ].join("\n");
  const query = "SELECT day, model, calls, input_tokens, cost_usd, unknown, ms FROM spending ORDER BY day, model";
  expect(await openUpgraded("think", 2, calls, query)).toEqual({
    rows: [
      { day: "2026-01-01", model: "x:a", calls: 5, input_tokens: 20, cost_usd: 0.5, unknown: 4, ms: 200 },
      { day: "2026-01-02", model: "x:a", calls: 1, input_tokens: 10, cost_usd: 0.25, unknown: 0, ms: 100 },
      { day: "2026-01-02", model: "x:b", calls: 1, input_tokens: 10, cost_usd: 0, unknown: 0, ms: 100 },
    ],
  });
});
