import type { Approval, Health, Message } from "@thinkery/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createRandom, type Random } from "../kit/random.ts";
import { getRepeatCount } from "../kit/sample.ts";
import { deployAgent } from "../kit/user-agent.ts";
import { waitUntil } from "../kit/wait-until.ts";
import { openTestbed, type TestAgent, type Testbed } from "../kit/worker/testbed.ts";

// Kills main or the code's process while a turn of a user agent waits for a person, before and after that. Each approved
// call runs once, each denied one never, and what the code did before it asked is not done again.

const kills = getRepeatCount("user agent approval kills", { sample: 6, full: 36 });

const points = ["asking", "asked", "answering", "answered", "ring", "random"] as const;
type Point = (typeof points)[number];

let testbed: Testbed;
let blueprint: string;

beforeAll(async () => {
  testbed = await openTestbed({
    config: {
      maxFailuresPerMinute: 100_000,
      sandboxSlots: 0,
      agentSlots: 2,
      turn: { heartbeatSeconds: 1, maxCrashes: 20, maxAttempts: 20 },
    },
  });
  await deployAgent(
    testbed.host().client,
    "careful",
    {
      settings: { bell: { type: "text", default: testbed.bell.url } },
      state: { begun: 0, ended: 0 },
      async onMessage({ content: id }, ctx) {
        const ring = (tool: string, name: string) =>
          ctx.tools
            .execute(tool, { bell: ctx.settings.bell, id: `${id} ${name}` })
            .catch((error: Error) => error.message);
        ctx.setState({ begun: ctx.state.begun + 1 });
        await ctx.storage.set("begun", ctx.state.begun);
        const reply = ctx.reply();
        void reply.write("Before: ");
        void reply.write(`${await ring("ring_again", "before")}; `);
        const rung = await Promise.all([ring("ring", "0"), ring("ring", "1"), ring("ring_again", "2")]);
        ctx.setState({ ended: ctx.state.ended + 1 });
        await ctx.storage.set("ended", ctx.state.ended);
        void reply.write(rung.join("; "));
      },
    },
    { capabilities: ["tools"], createAgent: false },
  );
  blueprint = await testbed.newBlueprint({
    driver: "isolate",
    config: { isolate: { package: "careful" }, hitl: { tools: ["ring"] } },
  });
});

afterAll(() => testbed?.stop());

test(
  `approvals of user agents survive ${kills} kills`,
  async () => {
    const random = createRandom("approvals of user agents");
    for (let number = 0; number < kills; number++) await approveUnderKills(number, random);
  },
  Math.max(60_000, kills * 20_000),
);

async function approveUnderKills(number: number, random: Random): Promise<void> {
  const point = points[number % points.length] as Point;
  const kill = random.pick([killMain, killCode]);
  const label = `careful-${number}, ${kill.name} at ${point}`;
  const killAt = async (current: Point, work?: () => Promise<unknown>) => {
    await (point === current ? Promise.all([work?.(), kill()]) : work?.());
  };
  const agent = await testbed.newAgent({ name: `careful-${number}`, blueprint });
  const id = `m${number}`;
  const listRings = (name: string) => testbed.bell.rings.filter((ring) => ring.id === `${id} ${name}`);
  const { runId } = await agent.invoke({ message: id });
  const later = point === "random" ? sleep(random.below(400)).then(kill) : undefined;
  await killAt("asking");
  const approval = await waitForApproval(agent);
  await killAt("asked");
  await waitUntil("the turn to pause", async () => (await agent.run()).status === "paused");
  const ringsBefore = listRings("before").length;
  const isWaiting = (await agent.messages()).filter(({ status }) => status === "streaming").length === 0;
  expect([label, isWaiting, ringsBefore > 0]).toEqual([label, true, true]);

  const killAtRing = point === "ring" ? kill : undefined;
  let isKilled = false;
  testbed.bell.onRing = async () => {
    if (isKilled) return;
    isKilled = true;
    await killAtRing?.();
  };
  const decisions = approval.calls.map((call) => ({ callId: call.id, approved: random.chance(0.7) }));
  await killAt("answering", () => post(`${agent.at}/approve`, { approvalId: approval.id, decisions }));
  await killAt("answered");
  await later;
  const end = await agent.waitForEnd(runId, 60_000);
  testbed.bell.onRing = () => {};
  expect([label, end.type, end.data]).toEqual([label, "agent.completed", expect.anything()]);
  const { result } = end.data as { result: string };
  const [before, ...rung] = result.split("; ");
  expect([label, before]).toEqual([label, `Before: rang ${id} before`]);
  expect([label, listRings("before").length]).toEqual([label, ringsBefore]);
  for (const [index, { approved }] of decisions.entries()) {
    const count = listRings(String(index)).length;
    const text = rung[index] as string;
    expect([label, text]).toEqual([label, expect.stringMatching(approved ? /^rang|unknown/ : /denied|refused/)]);
    const allowed = !approved ? [0] : text.includes("unknown") ? [0, 1] : [1];
    expect([label, index, allowed]).toEqual([label, index, expect.arrayContaining([count])]);
  }
  expect([label, rung[2]]).toEqual([label, `rang ${id} 2`]);
  const { code } = (await testbed.api(`${agent.at}/state`)).body.state;
  expect([label, code.state]).toEqual([label, { begun: 1, ended: 1 }]);
  const exported = (await testbed.api(`${agent.at}/export`)).body;
  expect([label, exported.codeValues]).toEqual([
    label,
    [
      { key: "begun", value: 1 },
      { key: "ended", value: 1 },
    ],
  ]);
  const open = (exported.messages as Message[]).filter(({ status }) => status !== "complete");
  expect([label, open]).toEqual([label, []]);
}

const killMain = () => testbed.killMain();

/** Kills the process that ran code last, whether or not it does now. */
async function killCode(): Promise<void> {
  const { sandboxes = [] } = (await testbed.api("/health")).body as Health;
  const ready = sandboxes.filter(({ state, pid }) => state === "ready" && pid !== undefined);
  const pid = (ready.find(({ agent }) => agent !== undefined) ?? ready[0])?.pid;
  if (pid !== undefined) process.kill(pid, "SIGKILL");
}

const waitForApproval = (agent: TestAgent): Promise<Approval> =>
  waitUntil("the approval", async () => {
    const { body } = await testbed.api(`${agent.at}/approvals?status=pending`);
    return (body.approvals as Approval[] | undefined)?.[0];
  });

/** Sends an answer until the host has responded to it. */
async function post(path: string, body: object): Promise<void> {
  await waitUntil("a response to the answer", async () => {
    const response = await testbed.api(path, "POST", body).catch(() => undefined);
    return response !== undefined && response.status < 500;
  });
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
