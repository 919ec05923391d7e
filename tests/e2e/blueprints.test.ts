import { defaultBlueprint } from "@thinkery/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type HostProcess, startHostProcess } from "../kit/host-process.ts";

let house: HostProcess;
const params = { agency: "global" };

beforeAll(async () => {
  house = await startHostProcess();
});

afterAll(() => house?.stop());

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

test("think is there from the start", async () => {
  const { blueprints } = await house.client.call("listBlueprints", { params });
  expect(blueprints).toEqual([{ ...defaultBlueprint, source: "static" }]);
});

test("a dynamic blueprint is stored whole, and agents are made from it", async () => {
  const warnings = ["No tool or middleware has the tag “review”. There are: apps, default, fs, planning."];
  const listed = { ...reviewer, source: "dynamic", warnings };
  expect(await house.client.call("putBlueprint", { params, body: reviewer })).toEqual({ ...listed, id: "reviewer" });
  expect(await house.client.call("getBlueprint", { params: { ...params, name: "reviewer" } })).toEqual(listed);
  expect((await house.client.call("listBlueprints", { params })).blueprints).toContainEqual(listed);
  const agent = await house.client.call("createAgent", { params, body: { name: "rita", agentType: "reviewer" } });
  expect(agent).toMatchObject({ blueprint: "reviewer", model: "anthropic:claude-sonnet-4-5" });
});

test("a dynamic blueprint wins over a static one of its name, and deleting it brings the static one back", async () => {
  await house.client.call("putBlueprint", { params, body: { name: "think", prompt: "Ours." } });
  expect(await house.client.call("getBlueprint", { params: { ...params, name: "think" } })).toMatchObject({
    prompt: "Ours.",
    source: "dynamic",
  });
  await house.client.call("deleteBlueprint", { params: { ...params, name: "think" } });
  expect(await house.client.call("getBlueprint", { params: { ...params, name: "think" } })).toMatchObject({
    source: "static",
  });
  await expect(house.client.call("deleteBlueprint", { params: { ...params, name: "think" } })).rejects.toMatchObject({
    code: "conflict",
  });
});

test("a wrong blueprint is refused with the path of the problem", async () => {
  const wrong: Array<[object, (string | number)[]]> = [
    [{ name: "x", config: { budget: { steps: -1 } } }, ["config", "budget", "steps"]],
    [{ name: "x", config: { policy: [{ tool: "bash", action: "maybe" }] } }, ["config", "policy", 0, "action"]],
    [{ name: "x", tags: [""] }, ["tags", 0]],
    [{ name: "x", promt: "typo" }, ["promt"]],
    [{ name: "a/b" }, ["name"]],
  ];
  for (const [body, path] of wrong) {
    await expect(house.client.call("putBlueprint", { params, body: body as never })).rejects.toMatchObject({
      code: "bad_request",
      details: { problems: [{ path }] },
    });
  }
});
