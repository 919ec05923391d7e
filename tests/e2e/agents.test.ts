import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type HostProcess, startHostProcess } from "../kit/host-process.ts";

let host: HostProcess;

beforeAll(async () => {
  host = await startHostProcess();
});

afterAll(() => host?.stop());

const api = async (path: string, method = "GET", body?: unknown, token = host.token) => {
  const response = await fetch(host.url + path, {
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

test("an agent is created, listed, read and deleted; short routes use the global agency", async () => {
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

test("a deleted agent's name can be reused, and the new agent starts empty", async () => {
  await api("/agents", "POST", { name: "phoenix", system: "first" });
  await api("/agents/phoenix", "DELETE");
  const again = await api("/agents", "POST", { name: "phoenix" });
  expect(again.status).toBe(201);
  expect(again.body.system).toBeUndefined();
  expect((await api("/agents/phoenix", "DELETE")).status).toBe(204);
  expect((await api("/agents/phoenix", "DELETE")).status).toBe(404);
});

test("exactly one of many concurrent creations with the same name succeeds", async () => {
  const responses = await Promise.all(Array.from({ length: 20 }, () => api("/agents", "POST", { name: "one" })));
  expect(responses.map(({ status }) => status).sort()).toEqual([201, ...Array.from({ length: 19 }, () => 409)]);
});

test("names that differ only in case collide", async () => {
  expect((await api("/agents", "POST", { name: "Carol" })).status).toBe(201);
  expect((await api("/agents", "POST", { name: "carol" })).status).toBe(409);
});

test("an agent without a name gets a generated one", async () => {
  const { status, body } = await api("/agency/global/agents", "POST", {});
  expect(status).toBe(201);
  expect(body.name).toMatch(/^think-[0-9a-f]{6}$/);
});

test("a long list is paged without gaps or duplicates", async () => {
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

describe("invalid input is rejected with the path of the issue", () => {
  const bad: Array<[string, unknown, string]> = [
    ["a slash", { name: "a/b" }, "name"],
    ["only dots", { name: ".." }, "name"],
    ["a leading dot", { name: ".hidden" }, "name"],
    ["NUL", { name: "a\u0000b" }, "name"],
    ["a homoglyph", { name: "аlice" }, "name"],
    ["a full-width letter", { name: "ａlice" }, "name"],
    ["a space", { name: "a b" }, "name"],
    ["a tilde", { name: "a~b" }, "name"],
    ["an empty name", { name: "" }, "name"],
    ["a name that is too long", { name: "a".repeat(65) }, "name"],
    ["the class name think", { name: "think" }, "name"],
    ["the class name in capitals", { name: "THINK" }, "name"],
    ["the separator sub", { name: "sub" }, "name"],
    ["a number", { name: 5 }, "name"],
    ["an unknown field", { name: "ok", colour: "red" }, "colour"],
    ["a model without provider", { name: "ok", model: "gpt" }, "model"],
    ["an unknown driver", { name: "ok", backend: "telepathy" }, "backend"],
    ["two blueprints", { name: "ok", blueprint: "think", agentType: "other" }, "agentType"],
    ["props that are too large", { name: "ok", props: { data: { a: "x".repeat(70_000) } } }, "props"],
    ["an unknown prop", { name: "ok", props: { prompt: "" } }, "props.prompt"],
    ["props that remove a tool", { name: "ok", props: { tools: ["-bash"] } }, "props.tools.0"],
  ];

  test.each(bad)("%s", async (_, body, field) => {
    const response = await api("/agents", "POST", body);
    expect(response.status).toBe(400);
    expect(response.body.error.code).toBe("bad_request");
    expect(response.body.error.details.issues[0].path.join(".")).toBe(field);
  });

  test("an unknown provider, with a suggestion; in a blueprint too", async () => {
    const expectedError = {
      code: "bad_request",
      message: expect.stringContaining("antropic"),
      details: { suggestion: "anthropic:claude", issues: [{ path: ["model"], message: expect.any(String) }] },
    };
    const agent = await api("/agents", "POST", { name: "ok", model: "antropic:claude" });
    expect([agent.status, agent.body.error]).toEqual([400, expectedError]);
    const blueprint = await api("/agency/global/blueprints", "POST", { name: "ok", model: "antropic:claude" });
    expect([blueprint.status, blueprint.body.error]).toEqual([400, expectedError]);
  });

  test("a class name in the URL", async () => {
    expect((await api("/agents/sub")).status).toBe(400);
    expect((await api("/agency/global/agent/think")).status).toBe(400);
  });

  test("an unknown blueprint, with a suggestion", async () => {
    const response = await api("/agents", "POST", { name: "ok", blueprint: "thnik" });
    expect(response.status).toBe(404);
    expect(response.body.error.details.suggestion).toBe("think");
  });

  test("a body over 1 MiB, with and without a content length", async () => {
    const huge = JSON.stringify({ name: "ok", system: "x".repeat(1024 * 1024) });
    const headers = { authorization: `Bearer ${host.token}`, "content-type": "application/json" };
    const announced = await fetch(`${host.url}/agents`, { method: "POST", headers, body: huge });
    expect(announced.status).toBe(413);
    const stream = new Blob([huge]).stream();
    const streamed = await fetch(`${host.url}/agents`, {
      method: "POST",
      headers,
      body: stream,
      duplex: "half",
    } as RequestInit);
    expect(streamed.status).toBe(413);
  });

  test("malformed JSON", async () => {
    const headers = { authorization: `Bearer ${host.token}`, "content-type": "application/json" };
    for (const body of ["{", "", "{'a':1}", "\u0000", "[".repeat(100_000)]) {
      const response = await fetch(`${host.url}/agents`, { method: "POST", headers, body });
      expect(response.status).toBe(400);
    }
  });
});

test("deleting an agency deletes its agents", async () => {
  await api("/agencies", "POST", { id: "brief" });
  await api("/agency/brief/agents", "POST", { name: "x" });
  expect((await api("/agencies/brief", "DELETE")).status).toBe(204);
  expect((await api("/agency/brief/agents")).status).toBe(404);
  await api("/agencies", "POST", { id: "brief" });
  expect((await api("/agency/brief/agents")).body.agents).toEqual([]);
});
