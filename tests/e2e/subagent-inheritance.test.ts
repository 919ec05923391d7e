import { execFile } from "node:child_process";
import type { Approval } from "@thinkery/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { waitUntil } from "../kit/wait-until.ts";
import { task } from "../kit/worker/team.ts";
import { openTestbed, type TestAgent, type Testbed } from "../kit/worker/testbed.ts";

// What a sub-agent gets of its parent, at any depth: rules, props, the context of the request, and the Linux sandbox.

let testbed: Testbed;
let bound: TestAgent;
let free: TestAgent;

const call = (tool: string, input: object = {}) => ({ call: { tool, input } });
const result = { text: "{{ results.0 }}" };

/** What a sub-agent does, by its message. */
const ways = {
  "by a call": call("bash", { command: "rm a.txt" }),
  "in code": call("executeCode", { code: 'return await tools.bash({ command: "rm a.txt" })' }),
  "as a capability": call("executeCode", { code: 'return await bash("rm a.txt")' }),
  "in a shell": call("bash", { command: 'bash -c "rm a.txt"' }),
  "in a shell of code": call("executeCode", { code: `return await bash('bash -c "rm a.txt"')` }),
  "a call to ask for": call("writeFile", { path: "ask/a.md", content: "x" }),
  "code to ask for": call("executeCode", { code: 'return await fs.writeFile("ask/a.md", "x")' }),
  "a tool that needs approval": call("editFile", { path: "a.md", oldString: "a", newString: "b" }),
} as const;

const exchange = (when: string, first: object) => ({ when: `/^${when}$/`, steps: [first, result] });

beforeAll(async () => {
  testbed = await openTestbed({
    worker: new URL("../kit/worker/family.worker.ts", import.meta.url),
    config: {
      maxFailuresPerMinute: 1000,
      model: "scripted:default",
      models: { fast: "scripted:default" },
      turn: { heartbeatSeconds: 1 },
    },
    scripts: {
      default: [
        ...Object.entries(ways).flatMap(([way, first]) => [
          exchange(way, first),
          exchange(`delegate ${way}`, { call: task(way, { subagentType: "free" }) }),
          exchange(`delegate twice ${way}`, { call: task(`delegate ${way}`, { subagentType: "free" }) }),
        ]),
        exchange("props", call("show_props")),
        exchange("delegate props", { call: task("props") }),
        exchange("delegate twice props", { call: task("delegate props") }),
        exchange("linux", call("sandbox", { command: "echo from $(pwd); echo made > made.txt" })),
        exchange("delegate linux", { call: task("linux") }),
      ],
      special: [exchange("props", call("show_props")), exchange("delegate props", { call: task("props") })],
    },
  });
  const blueprint = await testbed.newBlueprint({
    config: {
      policy: [
        { tool: "bash", match: "rm *", action: "deny" },
        { tool: "writeFile", match: "ask/", action: "ask" },
      ],
      hitl: { tools: ["editFile"] },
    },
  });
  // Allows everything; its parent's rules bind it all the same.
  const config = { policy: [{ tool: "*", action: "allow" }] };
  await testbed.api("/agency/global/blueprints", "POST", { name: "free", config });
  // The same two for all tests: each has a sandbox process of its own.
  bound = await testbed.newAgent({ blueprint });
  free = await testbed.newAgent();
});

afterAll(() => testbed?.stop());

async function say(agent: TestAgent, message: string): Promise<string> {
  const { type, data } = await agent.say(message);
  expect([message, type, JSON.stringify(data)]).toEqual([message, "agent.completed", expect.any(String)]);
  return (data as { result: string }).result;
}

/** Says something and denies what a sub-agent then asks for. Returns the result and who asked. */
async function sayAndDeny(agent: TestAgent, message: string): Promise<{ result: string; askedBy: string[] }> {
  const { runId } = await agent.invoke({ message });
  const askedBy: string[] = [];
  const end = await waitUntil("the end", async () => {
    const { approvals } = (await testbed.api("/approvals")).body as { approvals: Approval[] };
    for (const { id, agent: asker } of approvals) {
      const { status } = await testbed.api(`/approvals/${id}`, "POST", { approved: false });
      if (status === 200) askedBy.push(asker);
    }
    return (await agent.log()).find(({ type, data }) => type === "agent.completed" && data.runId === runId);
  });
  return { result: (end.data as { result: string }).result, askedBy };
}

/** Calls of code and commands cannot wait for a person. */
const waitingWays = ["a call to ask for", "a tool that needs approval"];

test.each(Object.keys(ways))("rules that deny or ask bind everyone below: %s", async (way) => {
  const isWaiting = waitingWays.includes(way);
  const expected = !isWaiting && /ask/.test(way) ? /approval/ : /denie[sd]/;
  for (const [depth, levels] of [
    ["delegate", 1],
    ["delegate twice", 2],
  ] as const) {
    const { result, askedBy } = await sayAndDeny(bound, `${depth} ${way}`);
    expect([depth, result]).toEqual([depth, expect.stringMatching(expected)]);
    const address = new RegExp(`^global~${bound.name}(/subagent-[^/]+){${levels}}$`);
    expect(askedBy).toEqual(isWaiting ? [expect.stringMatching(address)] : []);
    const allowed = await say(free, `${depth} ${way}`);
    expect([depth, allowed]).toEqual([depth, expect.not.stringMatching(/denie[sd]|approval/)]);
  }
});

test("props of the agent and of the request are inherited, except for the budget and the primary model", async () => {
  const props = {
    additionalInstructions: "Be brief.",
    models: { primary: "scripted:default", fast: "scripted:special" },
    budget: { steps: 9 },
    settings: { temperature: 0.5 },
    data: { own: 1, both: 1 },
  };
  const agent = await testbed.newAgent({ name: "ada", props });
  for (const message of ["delegate props", "delegate twice props"]) {
    const { runId } = await agent.invoke({ message, props: { data: { both: 2 }, budget: { tokens: 100_000 } } });
    const { data } = await agent.waitForEnd(runId);
    expect(JSON.parse((data as { result: string }).result)).toEqual({
      additionalInstructions: "Be brief.",
      models: { fast: "scripted:special" },
      settings: { temperature: 0.5 },
      data: { own: 1, both: 2 },
    });
  }
  const [child] = (await testbed.api("/agents/ada/subagents")).body.subagents;
  const log = await testbed.agentAt(`/agents/ada/sub/${child.facetName}`, "child").log();
  expect(log.find(({ type }) => type === "run.started")?.data).toMatchObject({ model: "scripted:special" });
});

test("the context of the request reaches everyone below", async () => {
  const agent = await testbed.newAgent({ name: "bea" });
  const headers = { "user-agent": "a test", referer: "https://example.com/page" };
  const { body } = await testbed.api("/agents/bea/invoke", "POST", { message: "delegate twice props" }, headers);
  await agent.waitForEnd(body.runId);
  const own = (await agent.state()).thread.request;
  expect(own).toMatchObject({ userAgent: "a test" });
  let at = "/agents/bea";
  for (let depth = 0; depth < 2; depth++) {
    const [{ facetName }] = (await testbed.api(`${at}/subagents`)).body.subagents;
    at += `/sub/${facetName}`;
    expect((await testbed.api(`${at}/state`)).body.state.thread.request).toEqual(own);
  }
});

const hasBubblewrap = await new Promise<boolean>((resolve) =>
  execFile("bwrap", ["--unshare-all", "--ro-bind", "/", "/", "true"], (error) => resolve(!error)),
);

test.skipIf(!hasBubblewrap)("the Linux sandbox of a sub-agent has the root agent's files", async () => {
  const agent = await testbed.newAgent({ name: "cid" });
  expect(await say(agent, "delegate linux")).toContain("from /");
  expect((await testbed.api("/agents/cid/files/made.txt")).body).toBe("made\n");
  const [{ childThreadId }] = (await testbed.api("/agents/cid/subagents")).body.subagents;
  const { versions } = (await testbed.api("/agents/cid/versions")).body;
  expect(JSON.stringify(versions)).toContain(childThreadId);
  const { actions } = (await testbed.api("/agents/cid/actions?tool=sandbox")).body;
  expect(actions).toMatchObject([{ agent: childThreadId }]);
});
