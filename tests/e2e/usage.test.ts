import {
  agencyUsageSchema,
  type Agent,
  agentUsageAnswerSchema,
  budgetResponseSchema,
  userSchema,
  userUsageSchema,
} from "@thinkery/sdk";
import { createClient } from "@thinkery/sdk/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type EchoHost, openEchoHost } from "../kit/echo-host.ts";
import { waitUntil } from "../kit/wait-until.ts";

let aviary: EchoHost;

beforeAll(async () => {
  aviary = await openEchoHost();
});

afterAll(() => aviary?.stop());

const api = (...args: Parameters<EchoHost["api"]>) => aviary.api(...args);

const getToday = () => new Date().toISOString().slice(0, 10);

let agencies = 0;

async function newAgency(): Promise<string> {
  return (await api("/agencies", "POST", { id: `den-${++agencies}` })).body.id;
}

/** Makes an agent there and lets it say something. */
async function sendMessage(agency: string, name: string): Promise<void> {
  await api(`/agency/${agency}/agents`, "POST", { name, model: "scripted:parrot" });
  const { status } = await api("/serve", "POST", { agent: `${name}@${agency}`, message: "hello there" });
  expect(status).toBe(200);
}

const readUsage = async (agency: string) => agencyUsageSchema.parse((await api(`/agency/${agency}/usage`)).body);

test("what agents use stands in their agency's books and in their user's, by day, model and agent", async () => {
  const agency = await newAgency();
  const before = userUsageSchema.parse((await api("/user/usage")).body);
  await sendMessage(agency, "ann");
  await sendMessage(agency, "bob");
  const [ann, bob] = await Promise.all(
    ["ann", "bob"].map(async (name) =>
      agentUsageAnswerSchema.parse((await api(`/agency/${agency}/agent/${name}/usage`)).body),
    ),
  );
  expect(ann?.total).toMatchObject({ calls: 1, costUsd: 0 });
  expect(ann?.byDay).toMatchObject([{ day: getToday(), calls: 1, byModel: [{ model: "scripted:parrot", calls: 1 }] }]);
  const usage = await readUsage(agency);
  const inputTokens = (ann?.total.inputTokens ?? 0) + (bob?.total.inputTokens ?? 0);
  expect(usage.total).toMatchObject({ calls: 2, inputTokens, costUsd: 0 });
  expect(usage.byModel).toMatchObject([{ model: "scripted:parrot", calls: 2, inputTokens }]);
  expect(usage.byDay).toMatchObject([{ day: getToday(), calls: 2 }]);
  expect(usage.byAgent).toMatchObject([
    { agent: "ann", calls: 1, inputTokens: ann?.total.inputTokens },
    { agent: "bob", calls: 1 },
  ]);
  expect(usage.budget).toEqual([]);
  const after = userUsageSchema.parse((await api("/user/usage")).body);
  expect(after.total.calls).toBe(before.total.calls + 2);
  expect(after.byAgency.find((share) => share.agency === agency)).toMatchObject({ calls: 2, inputTokens });
});

test("days narrow it, and nonsense for days is refused", async () => {
  const agency = await newAgency();
  await sendMessage(agency, "ann");
  for (const path of [`/agency/${agency}/agent/ann/usage`, `/agency/${agency}/usage`, "/user/usage"]) {
    expect((await api(`${path}?days=1`)).body.total.calls, path).toBeGreaterThan(0);
    for (const days of ["0", "-1", "1.5", "week", "1e9", ""]) {
      const { status, body } = await api(`${path}?days=${days}`);
      expect([path, days, status, body.error?.message]).toEqual([
        path,
        days,
        400,
        expect.stringContaining("whole number from 1 to 3660"),
      ]);
    }
  }
});

test("what a deleted agent has spent stays in the books, apart from what a new one of its name spends", async () => {
  const agency = await newAgency();
  await sendMessage(agency, "phoenix");
  await api(`/agency/${agency}/agent/phoenix`, "DELETE");
  await sendMessage(agency, "phoenix");
  await sendMessage(agency, "phoenix");
  const usage = await readUsage(agency);
  expect(usage.byAgent.map(({ agent, calls }) => [agent, calls])).toEqual([
    ["phoenix", 1],
    ["phoenix", 2],
  ]);
  expect(usage.total.calls).toBe(3);
  expect((await api(`/agency/${agency}/agent/phoenix/usage`)).body.total.calls).toBe(2);
});

test("a deleted agency stays in its user's books, apart from a new one of its name", async () => {
  const agency = await newAgency();
  const calls = async () =>
    userUsageSchema
      .parse((await api("/user/usage")).body)
      .byAgency.filter((share) => share.agency === agency)
      .map((share) => share.calls);
  await sendMessage(agency, "ann");
  expect((await api(`/agencies/${agency}`, "DELETE")).status).toBe(204);
  expect(await calls()).toEqual([1]);
  await api("/agencies", "POST", { id: agency });
  await sendMessage(agency, "ann");
  expect(await calls()).toEqual([1, 1]);
});

test("clearing a conversation gives nothing back", async () => {
  const agency = await newAgency();
  await sendMessage(agency, "ann");
  const at = `/agency/${agency}/agent/ann`;
  const before = (await api(`${at}/usage`)).body;
  expect((await api(`${at}/messages`, "DELETE")).status).toBe(204);
  const { total, byModel, byDay, messages } = (await api(`${at}/usage`)).body;
  expect({ total, byModel, byDay, messages }).toEqual({
    total: before.total,
    byModel: before.byModel,
    byDay: before.byDay,
    messages: 0,
  });
  expect((await readUsage(agency)).total.calls).toBe(1);
});

test("a budget is set, read and taken away; one that limits nothing or less than nothing is refused", async () => {
  const agency = await newAgency();
  for (const path of [`/agency/${agency}/budget`, "/user/budget"]) {
    expect(budgetResponseSchema.parse((await api(path)).body)).toEqual({ budget: null, statuses: [] });
    const set = budgetResponseSchema.parse(
      (await api(path, "PUT", { costUsd: 5, tokens: 1_000_000, per: "day" })).body,
    );
    expect(set.budget).toEqual({ costUsd: 5, tokens: 1_000_000, per: "day" });
    expect(set.statuses).toMatchObject([
      { kind: "tokens", per: "day", limit: 1_000_000, reserved: 0 },
      { kind: "costUsd", limit: 5 },
    ]);
    const refusals: [object | string, string][] = [
      [{ costUsd: 0 }, "expected more than 0; leave it out for no limit"],
      [{ tokens: -5 }, "expected more than 0; leave it out for no limit"],
      [{ steps: 0 }, "expected more than 0; leave it out for no limit"],
      [{ seconds: -0.5 }, "expected more than 0; leave it out for no limit"],
      [{ steps: 1.5 }, "expected a whole number"],
      [{ tokens: "many" }, "expected a whole number"],
      [{ costUsd: null }, "number"],
      [{ dollars: 5 }, "dollars"],
      [{ costUsd: 5, per: "week" }, "per"],
      [{}, "give at least one of steps, tokens, costUsd, seconds"],
      [{ per: "day" }, "give at least one of steps, tokens, costUsd, seconds"],
      ['{"costUsd": 1e999}', "number"],
    ];
    for (const [body, message] of refusals) {
      const response = await aviary.ask(path, { method: "PUT", body });
      const { error } = (await response.json()) as { error: { message: string } };
      expect([body, response.status, error.message]).toEqual([body, 400, expect.stringContaining(message)]);
    }
    expect((await api(path)).body.budget).toEqual(set.budget);
    expect((await api(path, "DELETE")).status).toBe(204);
    expect((await api(path, "DELETE")).status).toBe(204);
    expect((await api(path)).body).toEqual({ budget: null, statuses: [] });
  }
  const blueprint = await api(`/agency/${agency}/blueprints`, "POST", {
    name: "x",
    config: { budget: { costUsd: 0 } },
  });
  expect([blueprint.status, blueprint.body.error.message]).toEqual([
    400,
    expect.stringContaining("config.budget.costUsd: expected more than 0; leave it out for no limit"),
  ]);
});

test("a budget that is set right after a turn shows what that turn has spent", async () => {
  const agency = await newAgency();
  await sendMessage(agency, "ann");
  const path = `/agency/${agency}/budget`;
  const set = budgetResponseSchema.parse((await api(path, "PUT", { steps: 50 })).body);
  expect(set.statuses).toMatchObject([{ level: "agency", kind: "steps", spent: 1, limit: 50 }]);
  await sendMessage(agency, "bob");
  expect(budgetResponseSchema.parse((await api(path)).body).statuses).toMatchObject([{ spent: 2 }]);
});

test("preferences are kept as they are, and only so large", async () => {
  expect((await api("/user/preferences")).body).toEqual({});
  const wanted = {
    theme: "dark",
    "page.sidebar": { open: ["global"], width: 240 },
    beta: null,
    list: [1, "two", true],
  };
  expect(await api("/user/preferences", "PUT", wanted)).toEqual({ status: 200, body: wanted });
  expect((await api("/user")).body.preferences).toEqual(wanted);
  const refused: [unknown, string][] = [
    [{ big: "x".repeat(16 * 1024) }, "larger than 16384 bytes"],
    [{ big: "ü".repeat(8 * 1024) }, "larger than 16384 bytes"],
    [{ ["k".repeat(101)]: 1 }, "keys have 1 to 100 characters"],
    [Object.fromEntries(Array.from({ length: 201 }, (_, index) => [`k${index}`, 1])), "more than 200 keys"],
    [{ "": 1 }, "keys have 1 to 100 characters"],
    [[], "object"],
    ['{"__proto__": {"admin": true}}', "not allowed"],
  ];
  for (const [body, message] of refused) {
    const response = await aviary.ask("/user/preferences", { method: "PUT", body });
    expect([String(JSON.stringify(body)).slice(0, 40), response.status, await response.text()]).toEqual([
      expect.any(String),
      400,
      expect.stringContaining(message),
    ]);
  }
  expect((await api("/user/preferences")).body).toEqual(wanted);
  expect((await api("/user/preferences", "PUT", {})).body).toEqual({});
});

test("a user is told who they are and what is theirs, page by page, and nothing of others", async () => {
  const { token } = await aviary.house.client.call("createToken", {
    body: { name: "t", user: "zoe", scopes: ["read", "chat"] },
  });
  const zoe = createClient({ url: aviary.house.url, token });
  expect(await zoe.call("getUser")).toEqual({ name: "zoe", agencies: 0, agents: 0, preferences: {}, budget: null });
  const made: string[] = [];
  for (const [id, count] of [
    ["zoo:a", 3],
    ["zoo:b", 0],
    ["zoo:c", 1],
    ["zoo:d", 4],
  ] as const) {
    await zoe.call("createAgency", { body: { id } });
    for (let index = 0; index < count; index++) {
      await zoe.call("createAgent", { params: { agency: id }, body: { name: `z${index}` } });
      made.push(`${id}~z${index}`);
    }
  }
  for (const limit of [1, 2, 3, 4, 5, 8, 500]) {
    const seen: Agent[] = [];
    let after: string | undefined;
    do {
      const page = await zoe.call("listUserAgents", { query: { limit, ...(after ? { after } : {}) } });
      expect(page.agents.length).toBeLessThanOrEqual(limit);
      seen.push(...page.agents);
      after = page.next;
    } while (after);
    expect(
      seen.map(({ agency, name }) => `${agency}~${name}`),
      `pages of ${limit}`,
    ).toEqual(made);
  }
  // An agency that goes while somebody pages through it is simply passed by.
  await zoe.call("deleteAgency", { params: { agency: "zoo:a" } });
  expect((await zoe.call("listUserAgents", { query: { after: "zoo:a~z0" } })).agents).toHaveLength(5);
  expect(
    userSchema.parse(
      await waitUntil("the count", async () =>
        (await zoe.call("getUser")).agents === 5 ? zoe.call("getUser") : undefined,
      ),
    ),
  ).toMatchObject({ agencies: 3, agents: 5 });
  expect((await zoe.call("getUserUsage")).total.calls).toBe(0);
  await expect(zoe.call("putUserBudget", { body: { costUsd: 1 } })).rejects.toThrow("scope “admin”");
  await expect(zoe.call("getAgencyUsage", { params: { agency: "global" } })).rejects.toThrow("no agency");
});
