import { defaultBlueprint } from "@thinkery/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type HostProcess, startHostProcess } from "../kit/host-process.ts";

let host: HostProcess;
const params = { agency: "global" };

beforeAll(async () => {
  host = await startHostProcess();
});

afterAll(() => host?.stop());

const reviewer = {
  name: "reviewer",
  description: "Reads code",
  prompt: "You review code.",
  tags: ["default", "review"],
  model: "anthropic:claude-sonnet-4-5",
  config: {
    budget: { steps: 5 },
    hitl: { tools: ["bash"] },
    policy: [{ tool: "bash", action: "ask" as const }],
    own: { key: 1 },
  },
};

test("the think blueprint exists from the start", async () => {
  const { blueprints } = await host.client.call("listBlueprints", { params });
  expect(blueprints).toEqual([{ ...defaultBlueprint, source: "static" }]);
});

test("a dynamic blueprint is stored completely, and agents are created from it", async () => {
  const warnings = [
    "No tool or middleware has the tag “review”. Available: apps, default, fs, planning, schedules, subagents, tasks, team.",
  ];
  const listed = { ...reviewer, source: "dynamic", warnings };
  expect(await host.client.call("putBlueprint", { params, body: reviewer })).toEqual({ ...listed, id: "reviewer" });
  expect(await host.client.call("getBlueprint", { params: { ...params, name: "reviewer" } })).toEqual(listed);
  expect((await host.client.call("listBlueprints", { params })).blueprints).toContainEqual(listed);
  const agent = await host.client.call("createAgent", { params, body: { name: "rita", agentType: "reviewer" } });
  expect(agent).toMatchObject({ blueprint: "reviewer", model: "anthropic:claude-sonnet-4-5" });
});

test("a dynamic blueprint overrides a static one of the same name until it is deleted", async () => {
  await host.client.call("putBlueprint", { params, body: { name: "think", prompt: "Ours." } });
  expect(await host.client.call("getBlueprint", { params: { ...params, name: "think" } })).toMatchObject({
    prompt: "Ours.",
    source: "dynamic",
  });
  await host.client.call("deleteBlueprint", { params: { ...params, name: "think" } });
  expect(await host.client.call("getBlueprint", { params: { ...params, name: "think" } })).toMatchObject({
    source: "static",
  });
  await expect(host.client.call("deleteBlueprint", { params: { ...params, name: "think" } })).rejects.toMatchObject({
    code: "conflict",
  });
});

test("an invalid blueprint is rejected with the path of the issue", async () => {
  const invalid: Array<[object, (string | number)[]]> = [
    [{ name: "x", config: { budget: { steps: -1 } } }, ["config", "budget", "steps"]],
    [{ name: "x", config: { policy: [{ tool: "bash", action: "maybe" }] } }, ["config", "policy", 0, "action"]],
    [{ name: "x", tags: [""] }, ["tags", 0]],
    [{ name: "x", promt: "typo" }, ["promt"]],
    [{ name: "a/b" }, ["name"]],
  ];
  for (const [body, path] of invalid) {
    await expect(host.client.call("putBlueprint", { params, body: body as never })).rejects.toMatchObject({
      code: "bad_request",
      details: { issues: [{ path }] },
    });
  }
});
