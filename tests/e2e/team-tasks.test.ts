import type { AgentEvent, TeamFrame, TeamTask } from "@thinkery/sdk";
import { type Client, createClient } from "@thinkery/sdk/client";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { WebSocket } from "ws";
import { waitUntil } from "../kit/wait-until.ts";
import { openTestbed, type TestAgent, type Testbed } from "../kit/worker/testbed.ts";

// The tasks that agents and people of an agency share.

const call = (tool: string, input: object = {}) => ({ call: { tool, input } });

let testbed: Testbed;
let client: Client;

beforeAll(async () => {
  testbed = await openTestbed({
    config: { turn: { heartbeatSeconds: 1, maxCrashes: 20, maxAttempts: 20 } },
    scripts: {
      default: [
        {
          when: "^plan$",
          steps: [
            call("team_task_create", { title: "Build it", description: "All of it." }),
            call("team_task_create", { title: "Test it", type: "test", dependencies: ["{{ results.0.id }}"] }),
            call("team_task_claim", { id: "{{ results.1.id }}" }),
            call("team_task_list"),
            { text: '{ "refused": "{{ results.2 }}", "list": {{ results.3 }} }' },
          ],
        },
        { when: "^task-", steps: [call("team_task_claim", { id: "{{ message }}" }), { text: "{{ results.0 }}" }] },
        {
          when: "^work$",
          steps: [
            call("team_task_create", { title: "My own" }),
            call("team_task_claim", { id: "{{ results.0.id }}" }),
            call("team_task_claim", { id: "{{ results.0.id }}" }),
            call("team_task_complete", { id: "{{ results.0.id }}", result: "Done." }),
            call("team_task_complete", { id: "{{ results.0.id }}", result: "Done." }),
            call("team_task_complete", { id: "{{ results.0.id }}", result: "Done otherwise." }),
            { text: "{{ results.2 }}\n{{ results.4 }}\n{{ results.5 }}" },
          ],
        },
        {
          when: "^slowly$",
          steps: [
            call("team_task_create", { title: "Long work" }),
            call("team_task_claim", { id: "{{ results.0.id }}" }),
            { wait: 4000 },
            call("team_task_complete", { id: "{{ results.0.id }}", result: "Done." }),
            { text: "{{ results.2 }}" },
          ],
        },
        { steps: [{ text: "You said: {{ message }}" }] },
      ],
    },
  });
  client = testbed.host().client;
});

afterAll(() => testbed?.stop());

const createMember = () => testbed.newAgent({ model: "scripted:default" });
const textOf = (end: AgentEvent) => (end.type === "agent.completed" ? end.data.result : JSON.stringify(end));
const say = async (agent: TestAgent, message: string) => textOf(await agent.say(message));
const find = async (id: string) => (await client.tasks().list()).tasks.find((task) => task.id === id);

test("of all who claim a task at once, agents and people, exactly one wins", async () => {
  const agents = await Promise.all(Array.from({ length: 6 }, createMember));
  const users = await Promise.all(
    Array.from({ length: 4 }, async (_, index) => {
      const { token } = await client.call("createToken", { body: { name: `t${index}`, scopes: ["chat"] } });
      return createClient({ url: testbed.host().url, token });
    }),
  );
  for (let round = 0; round < 3; round++) {
    const { id } = await client.tasks().create({ title: `Round ${round}` });
    const claims = await Promise.all([
      ...agents.map(async (agent) => (await say(agent, id)).includes(`"claimedBy":"${agent.name}"`)),
      // Each assigns it to another agent.
      ...agents.map(({ name }, index) =>
        users[index % users.length]!.tasks()
          .claim(id, { agent: name })
          .then(({ claimedBy }) => claimedBy === name)
          .catch(({ code }) => {
            expect(code).toBe("conflict");
            return false;
          }),
      ),
    ]);
    const task = (await find(id))!;
    expect(task.status).toBe("in_progress");
    const winner = agents.findIndex(({ name }) => name === task.claimedBy);
    // An agent may win for itself and be given the task, too.
    const winners = claims.flatMap((hasWon, index) => (hasWon ? [index % agents.length] : []));
    expect(winners.length).toBeGreaterThan(0);
    expect(new Set(winners)).toEqual(new Set([winner]));
  }
}, 60_000);

test("one agent plans, and others are told what is open and who has what", async () => {
  const [planner, worker] = [await createMember(), await createMember()];
  const { refused, list } = JSON.parse(await say(planner, "plan"));
  const [build, check] = list.tasks.slice(-2) as TeamTask[];
  expect(build).toEqual({
    id: expect.stringMatching(/^task-/),
    type: "code",
    title: "Build it",
    status: "pending",
    description: "All of it.",
  });
  expect(check).toMatchObject({ type: "test", title: "Test it", status: "pending", dependencies: [build!.id] });
  expect(refused).toContain(`Task “${check!.id}” waits for ${build!.id}.`);

  expect(JSON.parse(await say(worker, build!.id))).toMatchObject({ id: build!.id, claimedBy: worker.name });
  expect(await say(planner, build!.id)).toMatch(`Task “${build!.id}” is claimed by ${worker.name} until 20`);
  expect(await find(build!.id)).toMatchObject({ createdBy: planner.name, claimedBy: worker.name });
  await client.tasks().update(build!.id, { status: "complete", result: "Built." });
  expect(JSON.parse(await say(planner, check!.id))).toMatchObject({ claimedBy: planner.name });
});

test("an agent claims and completes again without harm, and cannot complete otherwise", async () => {
  const agent = await createMember();
  const [claimed = "", completed = "", refused = ""] = (await say(agent, "work")).split("\n");
  const { id } = JSON.parse(claimed);
  expect(JSON.parse(completed)).toEqual({ id, status: "complete" });
  expect(refused).toContain(`Task “${id}” is already complete.`);
  expect(await find(id)).toMatchObject({ result: "Done.", claimedBy: agent.name });
});

test("an agent that a person gives a task to is told, once", async () => {
  const agent = await createMember();
  const { id } = await client.tasks().create({ title: "Read the paper" });
  for (let time = 0; time < 2; time++) await client.tasks().claim(id, { agent: agent.name });
  const { messages } = await client.call("listChannelMessages", {
    params: { agency: "global", channel: "general" },
    query: { limit: 500 },
  });
  const told = messages.filter(({ content }) => content.includes(id));
  expect(told).toMatchObject([
    { from: "thinkery", to: [agent.name], content: expect.stringContaining("Read the paper") },
  ]);
  await waitUntil("the agent to hear it", async () =>
    (await agent.messages()).some(({ content }: { content: string }) => content.includes(id)),
  );
});

test("a claim of an agent has an end, and one of a person has none", async () => {
  const [own, given] = [await client.tasks().create({ title: "own" }), await client.tasks().create({ title: "given" })];
  const agent = await createMember();
  const mine = await client.tasks().claim(own.id);
  expect([mine.claimedBy, mine.claimedUntil]).toEqual(["owner", undefined]);
  const before = Date.now();
  const theirs = await client.tasks().claim(given.id, { agent: agent.name.toUpperCase() });
  expect(theirs.claimedBy).toBe(agent.name);
  const seconds = (Date.parse(theirs.claimedUntil ?? "") - before) / 1000;
  expect(seconds).toBeGreaterThan(599);
  expect(seconds).toBeLessThan(700);
  await expect(client.tasks().claim(given.id)).rejects.toMatchObject({ code: "conflict" });
  expect(await client.tasks().update(given.id, { status: "pending" })).not.toHaveProperty("claimedBy");
  expect((await client.tasks().claim(given.id)).claimedBy).toBe("owner");
});

test("a task cannot be given to an agent that does not exist", async () => {
  const { id } = await client.tasks().create({ title: "x" });
  await expect(client.tasks().claim(id, { agent: "nobody" })).rejects.toMatchObject({
    code: "not_found",
    message: "Agent “nobody” not found in global.",
  });
  expect((await find(id))?.status).toBe("pending");
});

test("what a deleted agent had claimed is free again", async () => {
  const { id } = await client.tasks().create({ title: "x" });
  const agent = await createMember();
  await client.tasks().claim(id, { agent: agent.name });
  await client.call("deleteAgent", { params: { agency: "global", agent: agent.name } });
  expect(await find(id)).toMatchObject({ status: "pending" });
});

test("a claim that nobody renews ends by itself, and who watches the agency sees it", async () => {
  await client.call("createAgency", { body: { id: "brief" } });
  const params = { agency: "brief" };
  await client.call("updateAgency", { params, body: { settings: { claimSeconds: 1 } } });
  await client.agents("brief").create({ name: "alice", model: "scripted:default" });
  const { url, token } = testbed.host();
  const socket = new WebSocket(`${url.replace("http", "ws")}/agency/brief/ws`, {
    headers: { authorization: `Bearer ${token}` },
  });
  onTestFinished(() => socket.close());
  const frames: TeamFrame[] = [];
  socket.on("message", (data) => frames.push(JSON.parse(String(data))));
  await waitUntil("the first frame", () => frames.length > 0);
  const { id } = await client.tasks("brief").create({ title: "x" });
  await client.tasks("brief").claim(id, { agent: "alice" });
  const readStatuses = () =>
    frames.flatMap((frame) => (frame.type === "task" && frame.task.id === id ? [frame.task.status] : []));
  await waitUntil("the claim to end", () => readStatuses().length === 3);
  expect(readStatuses()).toEqual(["pending", "in_progress", "pending"]);
  await client.tasks("brief").claim(id);
  await client.feedback("brief").create({ message: "Fine." });
  await client.tools("brief").put({ name: "weather", mock: "Sunny." });
  for (const what of ["feedback", "tools"])
    await waitUntil(what, () => frames.some((frame) => frame.type === "changed" && frame.what === what));
});

test("an agent that works keeps its claims", async () => {
  await client.call("createAgency", { body: { id: "busy" } });
  await client.call("updateAgency", { params: { agency: "busy" }, body: { settings: { claimSeconds: 2 } } });
  const agent = await client.agents("busy").create({ name: "alice", model: "scripted:default" });
  const { content } = await (await agent.send("slowly")).outcome();
  expect(JSON.parse(content)).toMatchObject({ status: "complete" });
});

test("claims survive a crash, and a repeated request creates nothing twice", async () => {
  const body = { title: "once", idempotencyKey: "k" };
  const created = await client.call("createTeamTask", { params: { agency: "global" }, body });
  const agent = await createMember();
  const claimed = await client.tasks().claim(created.id, { agent: agent.name });
  await testbed.restartMain();
  expect(await find(created.id)).toEqual(claimed);
  const again = await client.call("createTeamTask", { params: { agency: "global" }, body });
  expect(again).toMatchObject({ id: created.id, taskId: created.id, status: "in_progress" });
  expect((await client.tasks().list()).tasks.filter(({ title }) => title === "once")).toHaveLength(1);
});

test("lists are those of one agency, in pages and by status", async () => {
  await client.call("createAgency", { body: { id: "review" } });
  const tasks = client.tasks("review");
  for (const title of ["a", "b", "c"]) await tasks.create({ title });
  const { tasks: all } = await tasks.list();
  await tasks.update(all[1]!.id, { status: "cancelled" });
  expect((await tasks.list({ status: "open" })).tasks.map(({ title }) => title)).toEqual(["a", "c"]);
  expect((await tasks.list()).progress).toMatchObject({ total: 3, pending: 2, cancelled: 1 });
  const params = { agency: "review" };
  const first = await client.call("listTeamTasks", { params, query: { limit: 2 } });
  const second = await client.call("listTeamTasks", { params, query: { limit: 2, after: first.next ?? "" } });
  expect([...first.tasks, ...second.tasks].map(({ title }) => title)).toEqual(["a", "b", "c"]);
  expect(second.next).toBeUndefined();
  await expect(client.call("listTeamTasks", { params, query: { after: "x" } })).rejects.toMatchObject({
    code: "bad_request",
  });
});
