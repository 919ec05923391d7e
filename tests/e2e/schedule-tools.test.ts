import type { Schedule } from "@thinkery/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ModelServer, openModelServer } from "../kit/model-server.ts";
import { openTestbed, type TestAgent, type Testbed } from "../kit/worker/testbed.ts";

let testbed: Testbed;
let server: ModelServer;

const manage = (action: string, id?: string) => ({
  call: { tool: "manageSchedules", input: { action, ...(id === undefined ? {} : { id }) } },
});

const [first, second] = ["{{ results.0.schedules.0.id }}", "{{ results.0.schedules.1.id }}"];

beforeAll(async () => {
  server = await openModelServer();
  testbed = await openTestbed({
    config: { providers: { local: { baseUrl: `${server.url}/v1` } } },
    scripts: {
      worker: [
        {
          when: "tidy up",
          steps: [
            manage("list"),
            manage("pause", first),
            manage("run", first),
            manage("resume", second),
            manage("delete", second),
            { text: "Done." },
          ],
        },
        { when: "schedule-", steps: [manage("delete", "{{ message }}"), manage("pause"), { text: "Done." }] },
        {
          when: "code",
          steps: [
            {
              call: {
                tool: "executeCode",
                input: { code: "return (await tools.manageSchedules({ action: 'list' })).schedules.length" },
              },
            },
            { text: "{{ results.0 }}" },
          ],
        },
        {
          when: "delegate",
          steps: [
            { call: { tool: "task", input: { description: "look", subagentType: "think" } } },
            { text: "{{ results.0 }}" },
          ],
        },
        { when: "look", steps: [manage("list"), { text: "{{ results.0 }}" }] },
        { steps: [{ text: "You said: {{ message }}" }] },
      ],
    },
  });
}, 60_000);

afterAll(async () => {
  await testbed?.stop();
  await server?.stop();
});

const open = () => testbed.newAgent({ model: "scripted:worker" });
const yearly = { when: "0 0 1 1 *", input: "Happy new year" };

async function create(at: string, body: object): Promise<Schedule> {
  const response = await testbed.api(`${at}/schedules`, "POST", body);
  expect([response.status, response.body]).toEqual([201, expect.anything()]);
  return response.body;
}

const listSchedules = async (at: string): Promise<Schedule[]> => (await testbed.api(`${at}/schedules`)).body.schedules;

const listResults = async (agent: TestAgent) =>
  (await agent.messages()).filter(({ role }) => role === "tool").map(({ content }) => content ?? "");

test("a model lists, pauses, runs, resumes and deletes the schedules of its agent", async () => {
  const agent = await open();
  const one = await create(agent.at, { ...yearly, name: "First" });
  const two = await create(agent.at, { ...yearly, input: "x".repeat(1000) });
  await testbed.api(`${agent.at}/schedules/${two.id}`, "PATCH", { paused: true });
  await agent.say("tidy up");
  const [listed, paused, run, resumed, deleted] = (await listResults(agent)).map((text) => JSON.parse(text));
  expect(listed).toEqual({
    schedules: [
      { id: one.id, name: "First", ...yearly, nextAt: one.nextAt },
      { id: two.id, when: yearly.when, input: `${"x".repeat(200)}…`, paused: true, nextAt: null },
    ],
  });
  expect(paused).toMatchObject({ id: one.id, paused: true, nextAt: null });
  expect(run).toEqual({ id: one.id, status: "queued", runId: expect.any(String) });
  expect(resumed).toMatchObject({ id: two.id, nextAt: two.nextAt });
  expect(deleted).toEqual({ id: two.id, deleted: true });
  // It runs after the turn that asked for it.
  await agent.waitForEnd(run.runId);
  expect((await agent.messages()).at(-1)?.content).toBe("You said: Happy new year");
  expect(await listSchedules(agent.at)).toMatchObject([
    { id: one.id, paused: true, history: [{ manual: true, runId: run.runId, outcome: "completed" }] },
  ]);
});

test("schedules of another agent and of the agency are out of a model's reach", async () => {
  const [agent, other] = [await open(), await open()];
  const foreign = await create(other.at, yearly);
  const above = await create("/agency/global", { ...yearly, agent: agent.name });
  for (const { id } of [foreign, above]) {
    await agent.say(id);
    const [unknown, unnamed] = (await listResults(agent)).slice(-2);
    expect(unknown).toContain(`Schedule “${id}” not found.`);
    expect(unnamed).toContain("Name the schedule to pause by its “id”.");
  }
  expect(await listSchedules(other.at)).toEqual([foreign]);
  expect(await listSchedules("/agency/global")).toEqual([above]);
});

test("a rule can forbid one of its actions", async () => {
  const policy = [{ tool: "manageSchedules", match: '"delete"', action: "deny" }];
  const blueprint = await testbed.newBlueprint({ model: "scripted:worker", config: { policy } });
  const agent = await testbed.newAgent({ blueprint });
  for (let index = 0; index < 2; index++) await create(agent.at, yearly);
  await agent.say("tidy up");
  const results = await listResults(agent);
  expect(results[1]).toContain('"paused":true');
  expect(results.at(-1)).toContain("policy of this agent denies manageSchedules");
  expect(await listSchedules(agent.at)).toHaveLength(2);
});

test("code of an agent may list its schedules, and a sub-agent has none", async () => {
  const agent = await open();
  await create(agent.at, yearly);
  await agent.say("code");
  expect((await listResults(agent)).at(-1)).toContain("1");
  await agent.say("delegate");
  expect((await agent.messages()).at(-1)?.content).toContain("There is no tool “manageSchedules”");
});

test("the tool for existing schedules is offered once there are some, in the same turn and in the next", async () => {
  const call = { id: "c1", name: "schedule", input: yearly };
  server.answer([{ text: "Hi." }, { toolCalls: [call] }, { text: "Set." }, { text: "Yes." }, { text: "No." }]);
  const agent = await testbed.newAgent({ model: "local:test-model" });
  for (const message of ["hello", "remind me", "go on"]) await agent.say(message);
  const [{ id } = { id: "" }] = await listSchedules(agent.at);
  await testbed.api(`${agent.at}/schedules/${id}`, "DELETE");
  await agent.say("go on");
  const offered = server.listRequests().map(({ raw }) => raw.includes('"name":"manageSchedules"'));
  expect(offered).toEqual([false, false, true, true, false]);
});
