import { afterAll, beforeAll, expect, test } from "vitest";
import { type Random, createRandom } from "../kit/random.ts";
import { getRepeatCount } from "../kit/sample.ts";
import { type BareWorker, startBareWorker } from "../kit/workerd.ts";

let worker: BareWorker;

beforeAll(async () => {
  worker = await startBareWorker(new URL("accounts.worker.ts", import.meta.url), { objects: ["Books"] });
});

afterAll(() => worker?.stop());

const noon = Date.parse("2026-11-15T12:00:00Z");

const on =
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

const createRow = (day: string, model: string, given: Partial<Row> = {}): Row => ({
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
  ...given,
});

/** Somebody who spends, and says so. */
class Spender {
  rows: Row[] = [];
  version = 0;
  readonly name: string;
  readonly since: number;

  constructor(name: string, since = 1) {
    this.name = name;
    this.since = since;
  }

  spend(day: string, model: string, more: Partial<Row>): void {
    let own = this.rows.find((one) => one.day === day && one.model === model);
    if (!own) this.rows.push((own = createRow(day, model)));
    for (const [key, amount] of Object.entries(more)) (own as any)[key] += amount;
    this.version++;
  }

  statement({
    since = "",
    reserved = none,
    asked,
  }: { since?: string; reserved?: object; asked?: object } = {}): object {
    const inAll = { calls: sumRows(this.rows, "calls"), ms: sumRows(this.rows, "ms") };
    const spent = structuredClone(this.rows.filter(({ day }) => day >= since));
    return {
      name: this.name,
      since: this.since,
      version: this.version,
      spent,
      inAll,
      reserved: asked ?? reserved,
      ...(asked ? { asked } : {}),
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

test("a statement made before a call was asked for, and delivered after, does not release what the call reserved", async () => {
  const books = on("overtaken");
  await books("budget", { budget: { steps: 1, per: "ever" } });
  const spender = new Spender("ann");
  // What an agent gathers at its first heartbeat after a crash, before the recovered turn asks for its next call.
  const gathered = spender.statement();
  const reserved = { steps: 1, tokens: 500, costUsd: 0 };
  expect(await books("state", { statement: spender.statement({ asked: reserved }) })).toEqual({});
  await books("state", { statement: gathered });
  expect(await books("look")).toMatchObject({ reserved });
  expect(await books("state", { statement: new Spender("bob").statement({ asked: reserved }) })).toMatchObject({
    refused: { limit: 1 },
  });
  spender.version++;
  await books("state", { statement: spender.statement() });
  expect(await books("look")).toMatchObject({ reserved: none });
});

test("whatever is lost, comes twice or too late, the books are right once everybody has stated", async () => {
  const chance = createRandom("accounts");
  for (let round = 0; round < getRepeatCount("random books", { sample: 2, full: 5 }); round++) {
    const books = on(`random-${round}`);
    // Two of one name: the second was made when the first was gone.
    const spenders = [new Spender("ann"), new Spender("bob"), new Spender("bob", 2), new Spender("cid")];
    const late: object[] = [];
    for (let turn = 0; turn < 60; turn++) {
      const spender = chance.pick(spenders);
      spendAtRandom(chance, spender);
      const statement = spender.statement({
        since: chance.pick(days),
        reserved: { steps: 1, tokens: 500, costUsd: 0.5 },
      });
      if (chance.chance(0.2)) continue;
      if (chance.chance(0.2)) late.push(statement);
      else for (let times = chance.chance(0.1) ? 2 : 1; times > 0; times--) await books("state", { statement });
      if (chance.chance(0.1) && late.length > 0)
        await books("state", { statement: late.splice(chance.below(late.length), 1)[0] });
    }
    for (const spender of spenders) {
      spender.version++;
      const { incomplete } = await books("state", { statement: spender.statement({ since: "2026-11-15" }) });
      if (incomplete) expect(await books("state", { statement: spender.statement() })).toEqual({});
    }
    for (const statement of late) await books("state", { statement });
    const seen = await books("look");
    const all = spenders.flatMap(({ rows }) => rows);
    expect(seen.reserved).toEqual(none);
    for (const [key, column] of [
      ["calls", "calls"],
      ["inputTokens", "input_tokens"],
      ["outputTokens", "output_tokens"],
    ] as const) {
      expect([round, key, seen.total[key]]).toEqual([round, key, sumRows(all, column)]);
      for (const day of days) {
        const told = seen.byDay.find((one: { day: string }) => one.day === day);
        expect([round, key, day, told?.[key] ?? 0]).toEqual([
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
        const told = seen.byModel.find((one: { model: string }) => one.model === model);
        expect([round, key, model, told?.[key] ?? 0]).toEqual([
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

test("what others have set aside counts like what is spent, and one's own does not", async () => {
  const books = on("aside");
  await books("budget", { budget: { tokens: 1000, per: "ever" } });
  const [ann, bob] = [new Spender("ann"), new Spender("bob")];
  const asked = { steps: 1, tokens: 600, costUsd: 0 };
  expect(await books("state", { statement: ann.statement({ asked }) })).toEqual({});
  expect(await books("state", { statement: bob.statement({ asked }) })).toEqual({});
  const cid = new Spender("cid");
  const budgetStatus = { level: "agency", kind: "tokens", per: "ever", limit: 1000, spent: 0, reserved: 1200 };
  expect(await books("state", { statement: cid.statement({ asked }) })).toEqual({ refused: budgetStatus });
  // It asks again, as after a crash: what it had set aside is replaced and not added to.
  expect(await books("state", { statement: ann.statement({ asked }) })).toEqual({});
  expect((await books("look")).reserved.tokens).toBe(1200);
  // A call that failed is given back, with the event that says so; what it used stands in for what was set aside.
  ann.version++;
  await books("state", { statement: ann.statement() });
  bob.spend("2026-11-15", "x:big", { calls: 1, input_tokens: 300, output_tokens: 100 });
  await books("state", { statement: bob.statement() });
  expect(await books("statuses")).toEqual([{ ...budgetStatus, spent: 400, reserved: 0 }]);
  expect(await books("state", { statement: cid.statement({ asked }) })).toEqual({});
  await books("release", { account: { name: "cid", since: 1 } });
  expect((await books("look")).reserved).toEqual(none);
});

test("a limit of steps is kept to the step, one of cost and time to the call", async () => {
  const books = on("kinds");
  const ann = new Spender("ann");
  const asked = { steps: 1, tokens: 500, costUsd: 0.1 };
  const ask = async () => (await books("state", { statement: ann.statement({ asked }) })).refused?.kind;
  await books("budget", { budget: { steps: 2, per: "ever" } });
  for (let call = 0; call < 2; call++) {
    expect(await ask()).toBeUndefined();
    ann.spend("2026-11-15", "x:big", { calls: 1, cost_usd: 0.6, ms: 800 });
  }
  expect(await ask()).toBe("steps");
  await books("budget", { budget: { costUsd: 1.25, per: "ever" } });
  expect(await ask()).toBeUndefined();
  await books("budget", { budget: { costUsd: 1.2, per: "ever" } });
  expect(await ask()).toBe("costUsd");
  await books("budget", { budget: { seconds: 1.7, per: "ever" } });
  expect(await ask()).toBeUndefined();
  await books("budget", { budget: { seconds: 1.6, per: "ever" } });
  expect(await ask()).toBe("seconds");
  await books("budget", {});
  expect(await ask()).toBeUndefined();
});

test("a budget of a day is full again the next day, one for good is not", async () => {
  const books = on("day");
  const ann = new Spender("ann");
  const asked = { steps: 1, tokens: 500, costUsd: 0 };
  ann.spend("2026-11-15", "x:big", { calls: 1, input_tokens: 1000 });
  const refusedAt = async (time: string) =>
    (await books("state", { statement: ann.statement({ asked }) }, Date.parse(time))).refused;
  await books("budget", { budget: { tokens: 1000, per: "day" } });
  expect(await refusedAt("2026-11-15T23:59:59Z")).toMatchObject({ per: "day", spent: 1000 });
  expect(await refusedAt("2026-11-16T00:00:00Z")).toBeUndefined();
  await books("budget", { budget: { tokens: 1000, per: "ever" } });
  expect(await refusedAt("2026-11-16T00:00:00Z")).toMatchObject({ per: "ever", spent: 1000 });
});

test("a limit that cannot be kept refuses: of cost without a price, of tokens and cost where nobody counts", async () => {
  const books = on("unknown");
  const ann = new Spender("ann");
  const asking = async (unknown: string) =>
    books("state", { statement: ann.statement({ asked: { steps: 1, tokens: 500, costUsd: 0, unknown } }) });
  await books("budget", { budget: { steps: 9, seconds: 9, per: "ever" } });
  for (const unknown of ["price", "usage"]) expect(await asking(unknown)).toEqual({});
  await books("budget", { budget: { tokens: 1000, per: "ever" } });
  expect(await asking("price")).toEqual({});
  expect(await asking("usage")).toMatchObject({ refused: { kind: "tokens", limit: 1000 }, unknown: "usage" });
  await books("budget", { budget: { costUsd: 5, per: "ever" } });
  for (const unknown of ["price", "usage"])
    expect(await asking(unknown)).toMatchObject({ refused: { kind: "costUsd", limit: 5 }, unknown });
  expect((await books("look")).reserved).toEqual(none);
});

test("days that are missing are asked for, and books state themselves one level up", async () => {
  const [agency, user] = [on("agency"), on("user")];
  const ann = new Spender("ann");
  for (const day of days) ann.spend(day, "x:big", { calls: 1, input_tokens: 10, cost_usd: 0.25 });
  expect(await agency("state", { statement: ann.statement({ since: "2026-11-15" }) })).toEqual({ incomplete: true });
  expect((await agency("look")).total.calls).toBe(1);
  expect(await agency("state", { statement: ann.statement() })).toEqual({});
  const statement = await agency("statement", { since: "2026-11-15" });
  expect(await user("state", { statement })).toEqual({ incomplete: true });
  expect(await user("state", { statement: await agency("statement") })).toEqual({});
  expect((await user("look")).byDay).toEqual((await agency("look")).byDay);
  expect((await user("look", { since: "2026-11-14" })).total).toMatchObject({ calls: 2, costUsd: 0.5 });
});
