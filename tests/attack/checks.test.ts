import { createClient } from "@thinkery/sdk/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openTestbed, type TestAgent, type Testbed } from "../kit/worker/testbed.ts";

// A check is a command that a model or a request may choose. It must not be a way around the rules for commands.

let testbed: Testbed;

const task = (description: string, check: string) => ({
  tool: "task",
  input: { description, workspace: "fork", check },
});
const evil = "rm -rf a.txt";

beforeAll(async () => {
  testbed = await openTestbed({
    config: {
      maxFailuresPerMinute: 1000,
      sandboxSlots: 0,
      model: "scripted:parent",
      models: { fast: "scripted:child" },
    },
    scripts: {
      parent: [
        { when: "/^check$/", steps: [{ call: task("write", evil) }, { text: "{{ results.0 }}" }] },
        {
          when: "/^below$/",
          steps: [{ call: { tool: "task", input: { description: "check" } } }, { text: "{{ results.0 }}" }],
        },
      ],
      child: [
        { when: "/^check$/", steps: [{ call: task("write", evil) }, { text: "{{ results.0 }}" }] },
        { steps: [{ call: { tool: "writeFile", input: { path: "a.txt", content: "A\n" } } }, { text: "written" }] },
      ],
    },
  });
});

afterAll(() => testbed?.stop());

const rule = (tool: string, match?: string, action = "deny") => ({ tool, action, ...(match ? { match } : {}) });

async function newAgent(policy: object[]): Promise<TestAgent> {
  return testbed.newAgent({ blueprint: await testbed.newBlueprint({ config: { policy } }) });
}

const spawn = async ({ at }: TestAgent, check: unknown) => {
  const { taskId } = (await testbed.api(`${at}/tasks`, "POST", { title: "write" })).body;
  return testbed.api(`${at}/subagents/spawn`, "POST", { taskId, workspace: "fork", check });
};

async function openBranch(agent: TestAgent): Promise<(body: object) => ReturnType<Testbed["api"]>> {
  await testbed.api(`${agent.at}/branches`, "POST", { name: "mine" });
  await testbed.api(`${agent.at}/files?branch=mine`, "POST", { edits: [{ write: "b.txt", content: "B\n" }] });
  return (body) => testbed.api(`${agent.at}/branches/mine/merge`, "POST", body);
}

test.each([
  ["a command", [rule("bash", "rm")]],
  ["a command for every tool", [rule("*", "rm")]],
  ["an input of the sandbox", [rule("sandbox", "rm -rf")]],
  ["an approval", [rule("sandbox", "rm -rf", "ask")]],
  ["both shells", [rule("sandbox"), rule("bash")]],
])("a rule about %s applies to checks of models, requests and sub-agents", async (_, policy) => {
  const agent = await newAgent(policy);
  for (const message of ["check", "below"]) {
    const { data } = await agent.say(message);
    expect((data as { result: string }).result).toMatch(/ is not allowed\.|denies task with this input/);
  }
  expect(await spawn(agent, evil)).toMatchObject({ status: 403, body: { error: { code: "forbidden" } } });
  const merge = await openBranch(agent);
  for (const body of [{ check: evil }, { check: evil, dryRun: true }, { check: evil, into: "main" }])
    expect(await merge(body)).toMatchObject({ status: 403 });
  // Nothing was started, and nothing merged.
  const { subagents } = (await testbed.api(`${agent.at}/subagents`)).body;
  expect(subagents.filter(({ workspace }: { workspace: string }) => workspace === "fork")).toEqual([]);
  expect((await testbed.api(`${agent.at}/files`)).body.files).toEqual([]);
});

test("a check that is no command is refused", async () => {
  const agent = await newAgent([]);
  const merge = await openBranch(agent);
  for (const check of ["", 7, null, ["true"], { command: "true" }, "x".repeat(10_001), "true\0; false"]) {
    expect([check, (await merge({ check })).status]).toEqual([check, 400]);
    expect([check, (await spawn(agent, check)).status]).toEqual([check, 400]);
  }
  expect((await merge({ checks: "true" })).status).toBe(400);
  expect((await testbed.api(`${agent.at}/files`)).body.files).toEqual([]);
});

test("a token that only reads merges nothing and runs no check", async () => {
  const agent = await newAgent([]);
  await openBranch(agent);
  const { url, client } = testbed.host();
  const { token } = await client.call("createToken", { body: { name: "reader", scopes: ["read"] } });
  const reader = createClient({ url, token }).agent(agent.name);
  await expect(reader.mergeBranch("mine", { check: "true" })).rejects.toMatchObject({ code: "forbidden" });
  await expect(reader.mergeBranch("mine", { check: "true", dryRun: true })).rejects.toMatchObject({
    code: "forbidden",
  });
});
