import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Approval, PersonWait, Question, Subagent, SubagentSummary } from "@thinkery/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { waitUntil } from "../kit/wait-until.ts";
import { task, teamConfig } from "../kit/worker/team.ts";
import { openTestbed, type Testbed, type TestAgent } from "../kit/worker/testbed.ts";

// Sub-agents that wait for a person: everyone above knows, nothing runs meanwhile, and an answer resumes all.

let testbed: Testbed;

const call = (tool: string, input: object = {}) => ({ call: { tool, input } });
const ring = (id: string) => call("ring_again", { bell: "BELL", id });
const lastStep = { text: "got {{ results.0 }}" };

beforeAll(async () => {
  testbed = await openTestbed({
    worker: new URL("../kit/worker/beating.worker.ts", import.meta.url),
    config: { ...teamConfig, subagents: { initialCheckSeconds: 1, checkIntervalSeconds: 1, maxActive: 2 } },
    scripts: {
      default: [
        { when: "/^ask$/", steps: [{ call: task("ask") }, lastStep] },
        { when: "/^middle$/", steps: [{ call: task("middle") }, lastStep] },
        { when: "/^briefly$/", steps: [{ call: task("middle", { timeoutMs: 4000 }) }, lastStep] },
        { when: "/^leave$/", steps: [{ call: task("leave") }, lastStep] },
        { when: "/^two$/", steps: [{ call: task("two") }, lastStep] },
        { when: "/^ring$/", steps: [{ call: task("ring") }, lastStep] },
        { when: "/^queue$/", steps: [{ calls: [task("ask"), task("ask"), task("hello")] }, { text: "done" }] },
        { when: "/^write$/", steps: [{ call: task("write below") }, lastStep] },
        {
          when: "/^look$/",
          steps: [
            call("createSubtask", { title: "ask" }),
            call("delegateToSubagent", { taskId: "{{ results.createSubtask.taskId }}" }),
            ring("look"),
            call("checkSubagentStatus", { taskId: "{{ results.createSubtask.taskId }}" }),
            { text: "{{ results.3 }}" },
          ],
        },
        { steps: [ring("slow"), { text: "rang" }] },
      ],
      fast: [
        { when: "/^ask$/", steps: [call("askUser", { prompt: "Your name?" }), { text: "{{ results.0 }}" }] },
        { when: "/^middle$/", steps: [{ call: task("ask") }, { text: "below: {{ results.0 }}" }] },
        {
          when: "/^leave$/",
          steps: [
            call("createSubtask", { title: "ask" }),
            call("delegateToSubagent", { taskId: "{{ results.createSubtask.taskId }}" }),
            { text: "I left it." },
          ],
        },
        { when: "/^two$/", steps: [{ calls: [task("ask"), task("ring")] }, { text: "both: {{ results.0 }}" }] },
        { when: "/^ring$/", steps: [ring("two"), { text: "rang" }] },
        { when: "/^write below$/", steps: [{ call: task("write") }, lastStep] },
        { when: "/^write$/", steps: [call("writeFile", { path: "a", content: "x" }), { text: "{{ results.0 }}" }] },
        { steps: [{ text: "hello" }] },
      ],
    },
  });
}, 60_000);

afterAll(() => testbed?.stop());

async function start(message: string, options: { name?: string; blueprint?: string } = {}) {
  const agent = await testbed.newAgent(options);
  const { runId } = await agent.invoke({ message });
  return { agent, runId };
}

const list = async (at: string) => (await testbed.api(`${at}/subagents`)).body.subagents as Subagent[];

const waitForChild = (at: string, waitingFor: PersonWait) =>
  waitUntil(`a sub-agent of ${at} to wait`, async () => {
    const [child] = await list(at);
    return child?.waitingFor === waitingFor && child;
  });

const listQuestions = async ({ name }: TestAgent) => {
  const { questions } = (await testbed.api("/questions")).body as { questions: Question[] };
  return questions.filter(({ agent }) => agent.startsWith(`global~${name}/`));
};

const toPath = (agent: string) => `/agents/${agent.split("~")[1]?.split("/").join("/sub/")}`;

async function answerAll(agent: TestAgent, value = "Ada"): Promise<void> {
  for (const { agent: asking } of await listQuestions(agent))
    expect((await testbed.api(`${toPath(asking)}/answer`, "POST", { value })).status).toBe(200);
}

async function getResult(agent: TestAgent, runId: string): Promise<string> {
  const end = await agent.waitForEnd(runId);
  return end.type === "agent.completed" ? end.data.result : JSON.stringify(end.data);
}

const listWaits = async (agent: TestAgent) =>
  (await agent.log()).flatMap(({ type, data }) => (type === "subagent.waiting" ? [data.waitingFor ?? "goes on"] : []));

/** Counts how often something woke an agent; all agents by default. */
async function countWakes(name = ""): Promise<number> {
  const log = await readFile(join(testbed.home, "logs", "thinkery.log"), "utf8");
  const pattern = new RegExp(`woken: ${name}`);
  return log.split("\n").filter((line) => pattern.test(line)).length;
}

/** Waits until nothing has been woken for longer than any two beats or checks are apart. */
async function waitForSilence(): Promise<void> {
  let [count, since] = [-1, 0];
  await waitUntil("silence", async () => {
    const now = await countWakes();
    if (now !== count) [count, since] = [now, Date.now()];
    return Date.now() - since > 4000;
  });
}

test("everyone above knows that a sub-agent waits, nothing runs meanwhile, and after a restart an answer resumes all", async () => {
  const { agent, runId } = await start("middle", { name: "ada" });
  const middle = await waitForChild(agent.at, "question");
  const middleAt = `${agent.at}/sub/${middle.facetName}`;
  expect(middle).toMatchObject({ status: "waiting", waitingFor: "question" });
  expect(await waitForChild(middleAt, "question")).toMatchObject({ status: "waiting" });
  expect((await testbed.api(`${agent.at}/subagents/${middle.taskId}`)).body).toMatchObject({
    status: "waiting",
    waitingFor: "question",
  });
  expect((await agent.state()).subagents).toMatchObject([{ outcome: "waiting", waitingFor: "question" }]);
  await waitUntil("the lists", async () => {
    const { agents } = (await testbed.api("/agency/global/agents")).body;
    const [child] = agents.find(({ name }: { name: string }) => name === "ada").subagents as SubagentSummary[];
    return child?.waitingFor === "question" && child.subagents?.[0]?.waitingFor === "question";
  });
  const { stdout } = await testbed.host().runCli(["ls"]);
  expect(stdout).toContain(`ada/${middle.facetName}`);
  expect(stdout).toContain("waiting for an answer: ");
  await waitForSilence();
  await testbed.restartMain();
  expect(await list(agent.at)).toMatchObject([{ status: "waiting", waitingFor: "question" }]);
  await waitForSilence();
  await answerAll(agent);
  expect(await getResult(agent, runId)).toBe("got below: Ada");
  expect(await listWaits(agent)).toEqual(["question", "goes on"]);
  expect(await list(agent.at)).toMatchObject([{ status: "complete" }]);
  expect((await list(agent.at))[0]).not.toHaveProperty("waitingFor");
}, 90_000);

test("the time of everyone above stands still while a person is asked", async () => {
  const { agent, runId } = await start("briefly");
  const { at } = await waitForChild(agent.at, "question").then(({ facetName }) => ({
    at: `${agent.at}/sub/${facetName}`,
  }));
  const paused = await testbed.agentAt(at, "").waitForEvent("its wait", ({ type }) => type === "subagent.waiting");
  await waitUntil("its time to pass", () => Date.now() - Date.parse(paused.ts) > 4500);
  await answerAll(agent);
  expect(await getResult(agent, runId)).toBe("got below: Ada");
});

test("a sub-agent whose turn is over waits with those that it left working", async () => {
  const { agent, runId } = await start("leave");
  await waitForChild(agent.at, "question");
  await testbed.killMain();
  await waitUntil("the next main", async () => (await testbed.api("/health")).status === 200);
  await answerAll(agent);
  expect(await getResult(agent, runId)).toMatch(/^got I left it\.\n\n<subagent_report .*\nAda\n/);
});

test("a sub-agent works as long as one of its own does", async () => {
  const rings: (() => void)[] = [];
  testbed.bell.onRing = () => new Promise<void>((resolve) => void rings.push(resolve));
  const { agent, runId } = await start("two");
  await waitUntil("the question", async () => (await listQuestions(agent))[0]);
  const finish = await waitUntil("the ring", () => rings[0]);
  const [middle] = await list(agent.at);
  await waitUntil("the wait below", async () =>
    (await list(`${agent.at}/sub/${middle?.facetName}`)).some(({ waitingFor }) => waitingFor === "question"),
  );
  expect(await list(agent.at)).toMatchObject([{ status: "running" }]);
  finish();
  await waitForChild(agent.at, "question");
  await answerAll(agent);
  expect(await getResult(agent, runId)).toBe("got both: Ada");
  expect(await listWaits(agent)).toEqual(["question", "goes on"]);
  testbed.bell.onRing = () => {};
});

test("one that waits to start counts only while nobody can make room for it", async () => {
  const { agent, runId } = await start("queue");
  await waitUntil("both questions", async () => (await listQuestions(agent)).length === 2);
  await waitUntil(
    "both to wait",
    async () => (await list(agent.at)).filter(({ waitingFor }) => waitingFor).length === 2,
  );
  await waitForSilence();
  const statuses = (await list(agent.at)).map(({ status, startedAt }) => [status, startedAt !== undefined]);
  expect(statuses).toEqual([
    ["waiting", false],
    ["waiting", true],
    ["waiting", true],
  ]);
  await answerAll(agent);
  expect(await getResult(agent, runId)).toBe("done");
}, 90_000);

test("while a sub-agent works, its parent checks it again and again", async () => {
  const rings: (() => void)[] = [];
  testbed.bell.onRing = () => new Promise<void>((resolve) => void rings.push(resolve));
  const { agent, runId } = await start("ring", { name: "bea" });
  const finish = await waitUntil("the ring", () => rings[0]);
  const before = await countWakes("global~bea$");
  await waitUntil("three checks", async () => (await countWakes("global~bea$")) >= before + 3);
  finish();
  expect(await getResult(agent, runId)).toBe("got rang");
  testbed.bell.onRing = () => {};
});

test("canceling or stopping the parent ends the wait, and empties the inbox", async () => {
  const blueprint = await testbed.newBlueprint({ config: { hitl: { tools: ["writeFile"] } } });
  for (const end of ["cancel", "stop"]) {
    const { agent, runId } = await start("write", { name: end, blueprint });
    const middle = await waitForChild(agent.at, "approval");
    await waitForSilence();
    const [lowest] = await list(`${agent.at}/sub/${middle.facetName}`);
    const lowestAt = `${agent.at}/sub/${middle.facetName}/sub/${lowest?.facetName}`;
    expect((await testbed.api(`${agent.at}/${end}`, "POST", {})).status).toBe(200);
    expect((await agent.waitForEnd(runId)).type).toBe("run.canceled");
    await waitUntil("the approval to expire", async () => {
      const { approvals } = (await testbed.api(`${lowestAt}/approvals`)).body as { approvals: Approval[] };
      return approvals[0]?.status === "expired";
    });
    await waitUntil("the inbox to be empty", async () => {
      const { approvals } = (await testbed.api("/approvals")).body as { approvals: Approval[] };
      return !approvals.some(({ agent: asking }) => asking.startsWith(`global~${agent.name}/`));
    });
    const [child] = await list(agent.at);
    expect(child).toMatchObject({ status: "cancelled" });
    expect(child).not.toHaveProperty("waitingFor");
  }
}, 90_000);

test("a model that looks at a sub-agent is told that it waits for a person", async () => {
  const rings: (() => void)[] = [];
  testbed.bell.onRing = () => new Promise<void>((resolve) => void rings.push(resolve));
  const { agent, runId } = await start("look");
  await waitForChild(agent.at, "question");
  (await waitUntil("the ring", () => rings[0]))();
  const status = JSON.parse(await getResult(agent, runId));
  expect(status).toMatchObject({ status: "waiting", waitingFor: "question", note: expect.stringContaining("person") });
  expect(status).not.toHaveProperty("lookAgainInSeconds");
  testbed.bell.onRing = () => {};
});

test("a turn goes on soon after main was killed in the middle of a heartbeat", async () => {
  const rings: (() => void)[] = [];
  testbed.bell.onRing = ({ id }) => new Promise<void>((resolve) => void (id === "slow" && rings.push(resolve)));
  await testbed.stopHost();
  await testbed.startHost();
  const { agent, runId } = await start("anything", { name: "stuck" });
  await waitUntil("the call", () => rings[0]);
  await waitUntil("the heartbeat", async () =>
    (await readFile(join(testbed.home, "logs", "thinkery.log"), "utf8")).includes("woken: global~stuck"),
  );
  await testbed.killMain();
  // Nobody asks for the agent meanwhile.
  (await waitUntil("the call to be repeated", () => rings[1]))();
  expect(await getResult(agent, runId)).toBe("rang");
  testbed.bell.onRing = () => {};
});
