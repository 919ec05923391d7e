import { afterAll, beforeAll, expect, test } from "vitest";
import { type Random, createRandom } from "../kit/random.ts";
import { getRepeatCount } from "../kit/sample.ts";
import { type BareWorker, startBareWorker } from "../kit/workerd.ts";

let worker: BareWorker;

beforeAll(async () => {
  worker = await startBareWorker(new URL("usage-totals.worker.ts", import.meta.url), { objects: ["UsageObject"] });
});

afterAll(() => worker?.stop());

const noon = Date.parse("2026-11-15T12:00:00Z");

const openTotals =
  (object: string) =>
  async (step: string, input: object = {}, now = noon): Promise<any> => {
    const response = await fetch(`${worker.url}/${object}`, {
      method: "POST",
      body: JSON.stringify({ step, now, ...input }),
    });
    if (!response.ok) throw new Error(`${step}: ${await response.text()}`);
    return response.json();
  };

const days = ["2026-11-13", "2026-11-14", "2026-11-15"];
const models = ["x:big", "x:small", ""];
const none = { steps: 0, tokens: 0, costUsd: 0 };

interface Row {
  day: string;
  model: string;
  calls: number;
  input_tokens: number;
  output_tokens: number;
  cached_tokens: number;
  reasoning_tokens: number;
  cost_usd: number;
  unknown: number;
  ms: number;
}

const createRow = (day: string, model: string, fields: Partial<Row> = {}): Row => ({
  day,
  model,
  calls: 0,
  input_tokens: 0,
  output_tokens: 0,
  cached_tokens: 0,
  reasoning_tokens: 0,
  cost_usd: 0,
  unknown: 0,
  ms: 0,
  ...fields,
});

/** A spender that reports its usage. */
class Spender {
  rows: Row[] = [];
  version = 0;
  readonly name: string;
  readonly since: number;

  constructor(name: string, since = 1) {
    this.name = name;
    this.since = since;
  }

  spend(day: string, model: string, amounts: Partial<Row>): void {
    let row = this.rows.find((one) => one.day === day && one.model === model);
    if (!row) this.rows.push((row = createRow(day, model)));
    for (const [key, amount] of Object.entries(amounts)) (row as any)[key] += amount;
    this.version++;
  }

  createReport({
    since = "",
    reserved = none,
    request,
  }: { since?: string; reserved?: object; request?: object } = {}): object {
    const ownTotals = { calls: sumRows(this.rows, "calls"), ms: sumRows(this.rows, "ms") };
    const spent = structuredClone(this.rows.filter(({ day }) => day >= since));
    return {
      name: this.name,
      since: this.since,
      version: this.version,
      spent,
      totals: ownTotals,
      reserved: request ?? reserved,
      ...(request ? { request } : {}),
    };
  }
}

const sumRows = (rows: Row[], key: keyof Row) => rows.reduce((all, one) => all + Number(one[key]), 0);

const spendAtRandom = (chance: Random, spender: Spender) =>
  spender.spend(chance.pick(days), chance.pick(models), {
    calls: chance.below(2),
    input_tokens: chance.below(1000),
    output_tokens: chance.below(300),
    cost_usd: chance.below(100) / 64,
    ms: 1 + chance.below(5000),
    unknown: chance.below(2),
  });

test("a report created before a reservation but delivered after it does not release the reservation", async () => {
  const totals = openTotals("overtaken");
  await totals("budget", { budget: { steps: 1, per: "ever" } });
  const spender = new Spender("ann");
  // An agent creates this at its first heartbeat after a crash, before the recovered turn reserves its next call.
  const outdated = spender.createReport();
  const reserved = { steps: 1, tokens: 500, costUsd: 0 };
  expect(await totals("apply", { report: spender.createReport({ request: reserved }) })).toEqual({});
  await totals("apply", { report: outdated });
  expect(await totals("inspect")).toMatchObject({ reserved });
  expect(await totals("apply", { report: new Spender("bob").createReport({ request: reserved }) })).toMatchObject({
    refused: { limit: 1 },
  });
  spender.version++;
  await totals("apply", { report: spender.createReport() });
  expect(await totals("inspect")).toMatchObject({ reserved: none });
});

test("totals are correct once everyone has reported, even if reports are lost, duplicated or late", async () => {
  const chance = createRandom("usage totals");
  for (let round = 0; round < getRepeatCount("random totals", { sample: 2, full: 5 }); round++) {
    const totals = openTotals(`random-${round}`);
    // Two of one name: the second was created after the first was deleted.
    const spenders = [new Spender("ann"), new Spender("bob"), new Spender("bob", 2), new Spender("cid")];
    const late: object[] = [];
    for (let turn = 0; turn < 60; turn++) {
      const spender = chance.pick(spenders);
      spendAtRandom(chance, spender);
      const report = spender.createReport({
        since: chance.pick(days),
        reserved: { steps: 1, tokens: 500, costUsd: 0.5 },
      });
      if (chance.chance(0.2)) continue;
      if (chance.chance(0.2)) late.push(report);
      else for (let times = chance.chance(0.1) ? 2 : 1; times > 0; times--) await totals("apply", { report });
      if (chance.chance(0.1) && late.length > 0)
        await totals("apply", { report: late.splice(chance.below(late.length), 1)[0] });
    }
    for (const spender of spenders) {
      spender.version++;
      const { incomplete } = await totals("apply", { report: spender.createReport({ since: "2026-11-15" }) });
      if (incomplete) expect(await totals("apply", { report: spender.createReport() })).toEqual({});
    }
    for (const report of late) await totals("apply", { report });
    const seen = await totals("inspect");
    const all = spenders.flatMap(({ rows }) => rows);
    expect(seen.reserved).toEqual(none);
    for (const [key, column] of [
      ["calls", "calls"],
      ["inputTokens", "input_tokens"],
      ["outputTokens", "output_tokens"],
    ] as const) {
      expect([round, key, seen.total[key]]).toEqual([round, key, sumRows(all, column)]);
      for (const day of days) {
        const counted = seen.byDay.find((one: { day: string }) => one.day === day);
        expect([round, key, day, counted?.[key] ?? 0]).toEqual([
          round,
          key,
          day,
          sumRows(
            all.filter((one) => one.day === day),
            column,
          ),
        ]);
      }
      for (const model of models.slice(0, 2)) {
        const counted = seen.byModel.find((one: { model: string }) => one.model === model);
        expect([round, key, model, counted?.[key] ?? 0]).toEqual([
          round,
          key,
          model,
          sumRows(
            all.filter((one) => one.model === model),
            column,
          ),
        ]);
      }
    }
    expect(seen.total.seconds).toBeCloseTo(sumRows(all, "ms") / 1000, 9);
    for (const { name, since, rows } of spenders.filter(({ rows }) => rows.length > 0)) {
      const share = seen.shares.find((one: Spender) => one.name === name && one.since === since);
      expect([name, since, share.calls, share.ms]).toEqual([name, since, sumRows(rows, "calls"), sumRows(rows, "ms")]);
      expect(share.cost_usd).toBeCloseTo(sumRows(rows, "cost_usd"), 9);
    }
  }
});

test("reservations of others count as spent, one's own do not", async () => {
  const totals = openTotals("aside");
  await totals("budget", { budget: { tokens: 1000, per: "ever" } });
  const [ann, bob] = [new Spender("ann"), new Spender("bob")];
  const request = { steps: 1, tokens: 600, costUsd: 0 };
  expect(await totals("apply", { report: ann.createReport({ request }) })).toEqual({});
  expect(await totals("apply", { report: bob.createReport({ request }) })).toEqual({});
  const cid = new Spender("cid");
  const budgetStatus = { level: "agency", kind: "tokens", per: "ever", limit: 1000, spent: 0, reserved: 1200 };
  expect(await totals("apply", { report: cid.createReport({ request }) })).toEqual({ refused: budgetStatus });
  // A second request, as after a crash, replaces its reservation.
  expect(await totals("apply", { report: ann.createReport({ request }) })).toEqual({});
  expect((await totals("inspect")).reserved.tokens).toBe(1200);
  // A report without a reservation releases it; usage takes the place of what was reserved.
  ann.version++;
  await totals("apply", { report: ann.createReport() });
  bob.spend("2026-11-15", "x:big", { calls: 1, input_tokens: 300, output_tokens: 100 });
  await totals("apply", { report: bob.createReport() });
  expect(await totals("statuses")).toEqual([{ ...budgetStatus, spent: 400, reserved: 0 }]);
  expect(await totals("apply", { report: cid.createReport({ request }) })).toEqual({});
  await totals("release", { account: { name: "cid", since: 1 } });
  expect((await totals("inspect")).reserved).toEqual(none);
});

test("a step limit is exact to the step, cost and time limits to the call", async () => {
  const totals = openTotals("kinds");
  const ann = new Spender("ann");
  const request = { steps: 1, tokens: 500, costUsd: 0.1 };
  const requestCall = async () => (await totals("apply", { report: ann.createReport({ request }) })).refused?.kind;
  await totals("budget", { budget: { steps: 2, per: "ever" } });
  for (let call = 0; call < 2; call++) {
    expect(await requestCall()).toBeUndefined();
    ann.spend("2026-11-15", "x:big", { calls: 1, cost_usd: 0.6, ms: 800 });
  }
  expect(await requestCall()).toBe("steps");
  await totals("budget", { budget: { costUsd: 1.25, per: "ever" } });
  expect(await requestCall()).toBeUndefined();
  await totals("budget", { budget: { costUsd: 1.2, per: "ever" } });
  expect(await requestCall()).toBe("costUsd");
  await totals("budget", { budget: { seconds: 1.7, per: "ever" } });
  expect(await requestCall()).toBeUndefined();
  await totals("budget", { budget: { seconds: 1.6, per: "ever" } });
  expect(await requestCall()).toBe("seconds");
  await totals("budget", {});
  expect(await requestCall()).toBeUndefined();
});

test("a daily budget is reset the next day, a total budget is not", async () => {
  const totals = openTotals("day");
  const ann = new Spender("ann");
  const request = { steps: 1, tokens: 500, costUsd: 0 };
  ann.spend("2026-11-15", "x:big", { calls: 1, input_tokens: 1000 });
  const getRefusalAt = async (time: string) =>
    (await totals("apply", { report: ann.createReport({ request }) }, Date.parse(time))).refused;
  await totals("budget", { budget: { tokens: 1000, per: "day" } });
  expect(await getRefusalAt("2026-11-15T23:59:59Z")).toMatchObject({ per: "day", spent: 1000 });
  expect(await getRefusalAt("2026-11-16T00:00:00Z")).toBeUndefined();
  await totals("budget", { budget: { tokens: 1000, per: "ever" } });
  expect(await getRefusalAt("2026-11-16T00:00:00Z")).toMatchObject({ per: "ever", spent: 1000 });
});

test("a limit that cannot be enforced refuses calls: cost without a price, tokens and cost without usage counts", async () => {
  const totals = openTotals("unknown");
  const ann = new Spender("ann");
  const requestCall = async (unknown: string) =>
    totals("apply", { report: ann.createReport({ request: { steps: 1, tokens: 500, costUsd: 0, unknown } }) });
  await totals("budget", { budget: { steps: 9, seconds: 9, per: "ever" } });
  for (const unknown of ["price", "usage"]) expect(await requestCall(unknown)).toEqual({});
  await totals("budget", { budget: { tokens: 1000, per: "ever" } });
  expect(await requestCall("price")).toEqual({});
  expect(await requestCall("usage")).toMatchObject({ refused: { kind: "tokens", limit: 1000 }, unknown: "usage" });
  await totals("budget", { budget: { costUsd: 5, per: "ever" } });
  for (const unknown of ["price", "usage"])
    expect(await requestCall(unknown)).toMatchObject({ refused: { kind: "costUsd", limit: 5 }, unknown });
  expect((await totals("inspect")).reserved).toEqual(none);
});

test("missing days are requested, and totals are reported to the level above", async () => {
  const [agency, user] = [openTotals("agency"), openTotals("user")];
  const ann = new Spender("ann");
  for (const day of days) ann.spend(day, "x:big", { calls: 1, input_tokens: 10, cost_usd: 0.25 });
  expect(await agency("apply", { report: ann.createReport({ since: "2026-11-15" }) })).toEqual({ incomplete: true });
  expect((await agency("inspect")).total.calls).toBe(1);
  expect(await agency("apply", { report: ann.createReport() })).toEqual({});
  const report = await agency("report", { since: "2026-11-15" });
  expect(await user("apply", { report })).toEqual({ incomplete: true });
  expect(await user("apply", { report: await agency("report") })).toEqual({});
  expect((await user("inspect")).byDay).toEqual((await agency("inspect")).byDay);
  expect((await user("inspect", { since: "2026-11-14" })).total).toMatchObject({ calls: 2, costUsd: 0.5 });
});
