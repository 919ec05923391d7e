import http from "node:http";
import type { AddressInfo } from "node:net";
import type { Approval } from "@thinkery/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { waitUntil } from "../kit/wait-until.ts";
import { openTestbed, type TestAgent, type Testbed } from "../kit/worker/testbed.ts";

// What makes a call ask besides the blueprint and the agency, and what a person sees of each kind of call.

const pay = (amount: number) => ({ call: { tool: "pay", input: { amount } } });

let testbed: Testbed;
let site: http.Server;
let origin: string;
const received: string[] = [];

beforeAll(async () => {
  site = http.createServer((request, response) => {
    received.push(`${request.method} ${request.url}`);
    response.setHeader("content-type", "application/json").end('"ok"');
  });
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  const exchange = (when: string, ...steps: object[]) => ({ when, steps: [...steps, { text: "{{ results.0 }}" }] });
  testbed = await openTestbed({
    worker: new URL("../kit/worker/asking.worker.ts", import.meta.url),
    config: {
      toolOrigins: [origin],
      policy: [
        { tool: "deleteFile", action: "ask" },
        { tool: "moveFile", agent: "global/careful-*", action: "ask" },
      ],
    },
    scripts: {
      default: [
        exchange("pay 5$", pay(5)),
        exchange("pay 500", pay(500)),
        exchange("pay back", pay(-1)),
        exchange("delete", { call: { tool: "deleteFile", input: { path: "a.txt" } } }),
        exchange("run", { call: { tool: "executeCode", input: { code: "return 6 * 7" } } }),
        exchange("hook", { call: { tool: "notify", input: { text: "hi" } } }),
        { steps: [{ text: "You said: {{ message }}" }] },
      ],
    },
  });
}, 60_000);

afterAll(async () => {
  await testbed?.stop();
  site?.close();
  site?.closeAllConnections();
});

async function open(config: object = {}, props?: object): Promise<TestAgent> {
  const blueprint = await testbed.newBlueprint({ model: "scripted:default", config });
  return testbed.newAgent({ blueprint, ...(props ? { props } : {}) });
}

async function startAsked(agent: TestAgent, message: string): Promise<{ runId: string; approval: Approval }> {
  const { runId } = await agent.invoke({ message });
  const approval = await waitUntil("an approval", async () => {
    const { body } = await testbed.api(`${agent.at}/approvals?status=pending`);
    return (body.approvals as Approval[])[0];
  });
  return { runId, approval };
}

async function finish(agent: TestAgent, runId: string, approved: boolean): Promise<string> {
  expect((await testbed.api(`${agent.at}/approve`, "POST", { approved })).status).toBe(200);
  const end = await agent.waitForEnd(runId);
  return end.type === "agent.completed" ? end.data.result : JSON.stringify(end.data);
}

const getResult = async (agent: TestAgent, message: string) => {
  const { type, data } = await agent.say(message);
  return type === "agent.completed" ? data.result : JSON.stringify(data);
};

test("a tool says for which inputs it needs approval, and one that cannot tell asks", async () => {
  const agent = await open();
  expect(await getResult(agent, "pay 5")).toBe("Paid 5.");
  for (const message of ["pay 500", "pay back"]) {
    const { runId, approval } = await startAsked(agent, message);
    expect(approval.calls[0]?.name).toBe("pay");
    expect(await finish(agent, runId, message === "pay back")).toMatch(/^Paid -1|A person denied this call of pay/);
  }
});

test("a rule that allows does not lift what a tool asks about, and one that denies goes before it", async () => {
  const allowed = await open({ policy: [{ tool: "pay", action: "allow" }] });
  const { runId } = await startAsked(allowed, "pay 500");
  expect(await finish(allowed, runId, true)).toBe("Paid 500.");
  const denied = await open({ policy: [{ tool: "pay", action: "deny" }] });
  expect(await getResult(denied, "pay 500")).toMatch(/denies pay/);
});

test("rules of the host apply to all agents, whatever their blueprints allow", async () => {
  const agent = await open({ policy: [{ tool: "*", action: "allow" }] });
  await testbed.api(`${agent.at}/files/a.txt`, "PUT", { a: 1 });
  const { runId, approval } = await startAsked(agent, "delete");
  expect(approval.calls).toMatchObject([{ name: "deleteFile", args: { path: "a.txt" } }]);
  expect(await finish(agent, runId, false)).toMatch(/A person denied this call of deleteFile/);
  expect((await testbed.api(`${agent.at}/files/a.txt`)).body).toEqual({ a: 1 });
});

test("a person sees the code of a run", async () => {
  const agent = await open({ hitl: { tools: ["executeCode"] } });
  const { runId, approval } = await startAsked(agent, "run");
  expect(approval.calls[0]?.preview).toEqual({ kind: "code", code: "return 6 * 7" });
  expect(await finish(agent, runId, true)).toContain("42");
});

test("a person sees method and address of a request, and it is sent only once approved", async () => {
  const webhook = { url: `${origin}/notify` };
  const schema = { type: "object", properties: { text: { type: "string" } } };
  const tools = [{ name: "notify", description: "Notifies.", parameters: schema, webhook }];
  const agent = await open({ hitl: { tools: ["notify"] } }, { tools });
  const { runId, approval } = await startAsked(agent, "hook");
  expect(approval.calls[0]?.preview).toEqual({
    kind: "request",
    method: "POST",
    url: webhook.url,
    body: '{"text":"hi"}',
  });
  expect(received).toEqual([]);
  expect(await finish(agent, runId, true)).toContain("ok");
  expect(received).toEqual(["POST /notify"]);
});
