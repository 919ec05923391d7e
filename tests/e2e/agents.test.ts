import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type HostProcess, startHostProcess } from "../kit/host-process.ts";

let house: HostProcess;

beforeAll(async () => {
  house = await startHostProcess();
});

afterAll(() => house?.stop());

const api = async (path: string, method = "GET", body?: unknown, token = house.token) => {
  const response = await fetch(house.url + path, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text ? JSON.parse(text) : undefined };
};

test("an agent is created, listed, read and deleted, in global by the short route", async () => {
  const created = await api("/agents", "POST", { name: "alice", model: "openai:gpt-4o", system: "Be brief." });
  expect(created.status).toBe(201);
  expect(created.body).toMatchObject({
    id: "alice",
    name: "alice",
    agency: "global",
    blueprint: "think",
    driver: "think",
    model: "openai:gpt-4o",
    system: "Be brief.",
    owner: "owner",
  });
  expect((await api("/agents")).body.agents).toEqual([created.body]);
  expect((await api("/agents/alice")).body).toEqual(created.body);
  expect((await api("/agency/global/agent/alice")).body).toEqual(created.body);
  expect((await api("/agents/alice", "DELETE")).status).toBe(204);
  expect((await api("/agents/alice")).status).toBe(404);
  expect((await api("/agents")).body.agents).toEqual([]);
});

test("a deleted name is free again, for an agent that remembers nothing of the first", async () => {
  await api("/agents", "POST", { name: "phoenix", system: "first" });
  await api("/agents/phoenix", "DELETE");
  const again = await api("/agents", "POST", { name: "phoenix" });
  expect(again.status).toBe(201);
  expect(again.body.system).toBeUndefined();
  expect((await api("/agents/phoenix", "DELETE")).status).toBe(204);
  expect((await api("/agents/phoenix", "DELETE")).status).toBe(404);
});

test("of many creations of one name at once exactly one succeeds", async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, () => api("/agents", "POST", { name: "one" })));
  expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array.from({ length: 19 }, () => 409)]);
});

test("names that differ only in case are one name", async () => {
  expect((await api("/agents", "POST", { name: "Carol" })).status).toBe(201);
  expect((await api("/agents", "POST", { name: "carol" })).status).toBe(409);
});

test("an agent without a name is given one", async () => {
  const { status, body } = await api("/agency/global/agents", "POST", {});
  expect(status).toBe(201);
  expect(body.name).toMatch(/^think-[0-9a-f]{6}$/);
});

test("a long list comes in pages without a gap or a repeat", async () => {
  await api("/agencies", "POST", { id: "crowd" });
  const names = Array.from({ length: 25 }, (_, number) => `agent-${String(number).padStart(2, "0")}`);
  await Promise.all(names.map((name) => api("/agency/crowd/agents", "POST", { name })));
  const seen: string[] = [];
  let after = "";
  for (let page = 0; page < 10; page++) {
    const { body } = await api(`/agency/crowd/agents?limit=10${after && `&after=${after}`}`);
    seen.push(...body.agents.map((agent: { name: string }) => agent.name));
    if (!body.next) break;
    after = body.next;
  }
  expect(seen).toEqual(names);
});

describe("bad input is refused with the path of the problem", () => {
  const bad: Array<[string, unknown, string]> = [
    ["a slash", { name: "a/b" }, "name"],
    ["dots alone", { name: ".." }, "name"],
    ["a dot first", { name: ".hidden" }, "name"],
    ["NUL", { name: "a\u0000b" }, "name"],
    ["a look-alike", { name: "аlice" }, "name"],
    ["a full-width letter", { name: "ａlice" }, "name"],
    ["a space", { name: "a b" }, "name"],
    ["a tilde", { name: "a~b" }, "name"],
    ["nothing", { name: "" }, "name"],
    ["too long", { name: "a".repeat(65) }, "name"],
    ["the class think", { name: "think" }, "name"],
    ["the class in capitals", { name: "THINK" }, "name"],
    ["the separator sub", { name: "sub" }, "name"],
    ["a number", { name: 5 }, "name"],
    ["an unknown field", { name: "ok", colour: "red" }, "colour"],
    ["a model without provider", { name: "ok", model: "gpt" }, "model"],
    ["a driver nobody has", { name: "ok", backend: "telepathy" }, "backend"],
    ["two blueprints", { name: "ok", blueprint: "think", agentType: "other" }, "agentType"],
    ["props that are too large", { name: "ok", props: { data: { a: "x".repeat(70_000) } } }, "props"],
    ["a prop there is not", { name: "ok", props: { prompt: "" } }, "props.prompt"],
    ["props that take a tool away", { name: "ok", props: { tools: ["-bash"] } }, "props.tools.0"],
  ];

  test.each(bad)("%s", async (_, body, field) => {
    const answer = await api("/agents", "POST", body);
    expect(answer.status).toBe(400);
    expect(answer.body.error.code).toBe("bad_request");
    expect(answer.body.error.details.problems[0].path.join(".")).toBe(field);
  });

  test("a provider there is not, with the one that was meant; in a blueprint too", async () => {
    const said = {
      code: "bad_request",
      message: expect.stringContaining("antropic"),
      details: { suggestion: "anthropic:claude", problems: [{ path: ["model"], message: expect.any(String) }] },
    };
    const agent = await api("/agents", "POST", { name: "ok", model: "antropic:claude" });
    expect([agent.status, agent.body.error]).toEqual([400, said]);
    const blueprint = await api("/agency/global/blueprints", "POST", { name: "ok", model: "antropic:claude" });
    expect([blueprint.status, blueprint.body.error]).toEqual([400, said]);
  });

  test("a class name is refused in the address too", async () => {
    expect((await api("/agents/sub")).status).toBe(400);
    expect((await api("/agency/global/agent/think")).status).toBe(400);
  });

  test("an unknown blueprint is named, with the nearest one", async () => {
    const answer = await api("/agents", "POST", { name: "ok", blueprint: "thnik" });
    expect(answer.status).toBe(404);
    expect(answer.body.error.details.suggestion).toBe("think");
  });

  test("a body over a mebibyte, with and without a length", async () => {
    const huge = JSON.stringify({ name: "ok", system: "x".repeat(1024 * 1024) });
    const headers = { authorization: `Bearer ${house.token}`, "content-type": "application/json" };
    const announced = await fetch(`${house.url}/agents`, { method: "POST", headers, body: huge });
    expect(announced.status).toBe(413);
    const stream = new Blob([huge]).stream();
    const streamed = await fetch(`${house.url}/agents`, {
      method: "POST",
      headers,
      body: stream,
      duplex: "half",
    } as RequestInit);
    expect(streamed.status).toBe(413);
  });

  test("JSON that does not parse", async () => {
    const headers = { authorization: `Bearer ${house.token}`, "content-type": "application/json" };
    for (const body of ["{", "", "{'a':1}", "\u0000", "[".repeat(100_000)]) {
      const answer = await fetch(`${house.url}/agents`, { method: "POST", headers, body });
      expect(answer.status).toBe(400);
    }
  });
});

test("an agency's agents end with the agency", async () => {
  await api("/agencies", "POST", { id: "brief" });
  await api("/agency/brief/agents", "POST", { name: "x" });
  expect((await api("/agencies/brief", "DELETE")).status).toBe(204);
  expect((await api("/agency/brief/agents")).status).toBe(404);
  await api("/agencies", "POST", { id: "brief" });
  expect((await api("/agency/brief/agents")).body.agents).toEqual([]);
});
