import {
  agencyUsageSchema,
  type Agent,
  agentUsageResponseSchema,
  budgetResponseSchema,
  userSchema,
  userUsageSchema,
} from "@thinkery/sdk";
import { createClient } from "@thinkery/sdk/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type EchoHost, openEchoHost } from "../kit/echo-host.ts";
import { waitUntil } from "../kit/wait-until.ts";

let echoHost: EchoHost;

beforeAll(async () => {
  echoHost = await openEchoHost();
});

afterAll(() => echoHost?.stop());

const api = (...args: Parameters<EchoHost["api"]>) => echoHost.api(...args);

const getToday = () => new Date().toISOString().slice(0, 10);

let agencyCount = 0;

async function newAgency(): Promise<string> {
  return (await api("/agencies", "POST", { id: `agency-${++agencyCount}` })).body.id;
}

/** Creates the agent in the agency if it does not exist, and runs one turn. */
async function sendMessage(agency: string, name: string): Promise<void> {
  await api(`/agency/${agency}/agents`, "POST", { name, model: "scripted:parrot" });
  const { status } = await api("/serve", "POST", { agent: `${name}@${agency}`, message: "hello there" });
  expect(status).toBe(200);
}

const readUsage = async (agency: string) => agencyUsageSchema.parse((await api(`/agency/${agency}/usage`)).body);

test("usage is counted for the agency and the user, by day, model and agent", async () => {
  const agency = await newAgency();
  const before = userUsageSchema.parse((await api("/user/usage")).body);
  await sendMessage(agency, "ann");
  await sendMessage(agency, "bob");
  const [ann, bob] = await Promise.all(
    ["ann", "bob"].map(async (name) =>
      agentUsageResponseSchema.parse((await api(`/agency/${agency}/agent/${name}/usage`)).body),
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

test("the days parameter limits the period, and invalid values are rejected", async () => {
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

test("the usage of a deleted agent is kept, separate from a new agent of the same name", async () => {
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

test("the usage of a deleted agency is kept for its user, separate from a new agency of the same name", async () => {
  const agency = await newAgency();
  const readCalls = async () =>
    userUsageSchema
      .parse((await api("/user/usage")).body)
      .byAgency.filter((share) => share.agency === agency)
      .map((share) => share.calls);
  await sendMessage(agency, "ann");
  expect((await api(`/agencies/${agency}`, "DELETE")).status).toBe(204);
  expect(await readCalls()).toEqual([1]);
  await api("/agencies", "POST", { id: agency });
  await sendMessage(agency, "ann");
  expect(await readCalls()).toEqual([1, 1]);
});

test("clearing a conversation does not reset its usage", async () => {
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

test("a budget can be set, read and deleted; one without limits or with limits of 0 or less is rejected", async () => {
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
    const invalidBudgets: [object | string, string][] = [
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
    for (const [body, message] of invalidBudgets) {
      const response = await echoHost.ask(path, { method: "PUT", body });
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
    expect.stringContaining("Invalid `config.budget.costUsd`: expected more than 0; leave it out for no limit"),
  ]);
});

test("a budget that is set right after a turn includes what the turn has spent", async () => {
  const agency = await newAgency();
  await sendMessage(agency, "ann");
  const path = `/agency/${agency}/budget`;
  const set = budgetResponseSchema.parse((await api(path, "PUT", { steps: 50 })).body);
  expect(set.statuses).toMatchObject([{ level: "agency", kind: "steps", spent: 1, limit: 50 }]);
  await sendMessage(agency, "bob");
  expect(budgetResponseSchema.parse((await api(path)).body).statuses).toMatchObject([{ spent: 2 }]);
});

test("preferences are stored unchanged, up to a size limit", async () => {
  expect((await api("/user/preferences")).body).toEqual({});
  const preferences = {
    theme: "dark",
    "page.sidebar": { open: ["global"], width: 240 },
    beta: null,
    list: [1, "two", true],
  };
  expect(await api("/user/preferences", "PUT", preferences)).toEqual({ status: 200, body: preferences });
  expect((await api("/user")).body.preferences).toEqual(preferences);
  const invalidPreferences: [unknown, string][] = [
    [{ big: "x".repeat(16 * 1024) }, "larger than 16384 bytes"],
    [{ big: "ü".repeat(8 * 1024) }, "larger than 16384 bytes"],
    [{ ["k".repeat(101)]: 1 }, "keys have 1 to 100 characters"],
    [Object.fromEntries(Array.from({ length: 201 }, (_, index) => [`k${index}`, 1])), "more than 200 keys"],
    [{ "": 1 }, "keys have 1 to 100 characters"],
    [[], "object"],
    ['{"__proto__": {"admin": true}}', "not allowed"],
  ];
  for (const [body, message] of invalidPreferences) {
    const response = await echoHost.ask("/user/preferences", { method: "PUT", body });
    expect([String(JSON.stringify(body)).slice(0, 40), response.status, await response.text()]).toEqual([
      expect.any(String),
      400,
      expect.stringContaining(message),
    ]);
  }
  expect((await api("/user/preferences")).body).toEqual(preferences);
  expect((await api("/user/preferences", "PUT", {})).body).toEqual({});
});

test("a user sees their own profile and agents, paged, and nothing of other users", async () => {
  const openClient = async (scope: "chat" | "admin") => {
    const body = { name: "t", user: "zoe", scopes: [scope] };
    const { token } = await echoHost.host.client.call("createToken", { body });
    return createClient({ url: echoHost.host.url, token });
  };
  const zoe = await openClient("chat");
  expect(await zoe.call("getUser")).toEqual({
    name: "zoe",
    agencies: 1,
    agents: 0,
    preferences: {},
    budget: null,
    limits: {},
  });
  const created: string[] = [];
  for (const [id, count] of [
    ["zoo:a", 3],
    ["zoo:b", 0],
    ["zoo:c", 1],
    ["zoo:d", 4],
  ] as const) {
    await zoe.call("createAgency", { body: { id } });
    for (let index = 0; index < count; index++) {
      await zoe.call("createAgent", { params: { agency: id }, body: { name: `z${index}` } });
      created.push(`${id}~z${index}`);
    }
  }
  for (const limit of [1, 2, 3, 4, 5, 8, 500]) {
    const listed: Agent[] = [];
    let after: string | undefined;
    do {
      const page = await zoe.call("listUserAgents", { query: { limit, ...(after ? { after } : {}) } });
      expect(page.agents.length).toBeLessThanOrEqual(limit);
      listed.push(...page.agents);
      after = page.next;
    } while (after);
    expect(
      listed.map(({ agency, name }) => `${agency}~${name}`),
      `pages of ${limit}`,
    ).toEqual(created);
  }
  // An agency that is deleted during paging is skipped.
  await (await openClient("admin")).call("deleteAgency", { params: { agency: "zoo:a" } });
  expect((await zoe.call("listUserAgents", { query: { after: "zoo:a~z0" } })).agents).toHaveLength(5);
  expect(
    userSchema.parse(
      await waitUntil("the count", async () =>
        (await zoe.call("getUser")).agents === 5 ? zoe.call("getUser") : undefined,
      ),
    ),
  ).toMatchObject({ agencies: 4, agents: 5 });
  expect((await zoe.call("getUserUsage")).total.calls).toBe(0);
  await expect(zoe.call("putUserBudget", { body: { costUsd: 1 } })).rejects.toThrow("scope “admin”");
  await expect(zoe.call("getAgencyUsage", { params: { agency: "global" } })).rejects.toThrow(
    "Agency “global” not found",
  );
});
