import { type Schedule, type ScheduleRun } from "@thinkery/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { waitUntil } from "../kit/wait-until.ts";
import { openTestbed, type TestAgent, type Testbed } from "../kit/worker/testbed.ts";

let testbed: Testbed;

beforeAll(async () => {
  testbed = await openTestbed({
    scripts: {
      worker: [
        { when: "wait long", steps: [{ wait: 600_000 }, { text: "Late." }] },
        { when: "fail", steps: [{ fail: 401 }] },
        {
          when: "remind me",
          steps: [
            { call: { tool: "schedule", input: { when: "0 9 * * *", timeZone: "Europe/Berlin", input: "Get up" } } },
            { text: "{{ results.schedule }}" },
          ],
        },
        {
          when: "delegate",
          steps: [{ call: { tool: "task", input: { description: "try it", subagentType: "think" } } }, { text: "ok" }],
        },
        {
          when: "try it",
          steps: [{ call: { tool: "schedule", input: { when: 60, input: "x" } } }, { text: "{{ results.schedule }}" }],
        },
        { steps: [{ text: "You said: {{ message }}" }] },
      ],
    },
  });
}, 60_000);

afterAll(() => testbed?.stop());

const open = () => testbed.newAgent({ model: "scripted:worker" });

async function create(at: string, body: object): Promise<Schedule> {
  const response = await testbed.api(`${at}/schedules`, "POST", body);
  expect([response.status, response.body]).toEqual([201, expect.anything()]);
  return response.body;
}

const readRuns = async (at: string, id: string): Promise<ScheduleRun[]> =>
  (await testbed.api(`${at}/schedules/${id}/runs`)).body.runs;

const countStatus = (runs: ScheduleRun[], status: string) => runs.filter((run) => run.status === status).length;

const listInputs = async (agent: TestAgent) =>
  (await agent.messages()).filter(({ role }) => role === "user").map(({ content }) => content);

test("a schedule says when it runs, and is listed, paused, resumed and deleted", async () => {
  const { at } = await open();
  const created = await create(at, {
    when: "30 8 * * 1-5",
    timeZone: "America/New_York",
    input: "Hi",
    name: "Morning",
  });
  expect(created).toMatchObject({
    id: expect.stringMatching(/^schedule-/),
    name: "Morning",
    when: "30 8 * * 1-5",
    timeZone: "America/New_York",
    input: "Hi",
    missed: "once",
    overlap: "queue",
    paused: false,
    history: [],
  });
  expect(created.next).toHaveLength(5);
  expect(created.nextAt).toBe(created.next[0]);
  for (const time of created.next) {
    const shown = new Date(time).toLocaleString("en-US", { timeZone: "America/New_York", timeStyle: "short" });
    expect(shown).toBe("8:30 AM");
  }
  const path = `${at}/schedules/${created.id}`;
  expect((await testbed.api(`${at}/schedules`)).body).toEqual({ schedules: [created] });
  expect((await testbed.api(path)).body).toEqual(created);

  const { body: paused } = await testbed.api(path, "PATCH", { paused: true });
  expect(paused).toMatchObject({ paused: true, nextAt: null, next: [] });
  expect((await testbed.api(path, "PATCH", { paused: false })).body).toEqual(created);

  expect((await testbed.api(path, "DELETE")).status).toBe(204);
  expect((await testbed.api(path, "DELETE")).status).toBe(404);
  expect((await testbed.api(`${at}/schedules`)).body).toEqual({ schedules: [] });
});

test("a schedule gives its input to the agent at its times, as a message like any other", async () => {
  const agent = await open();
  const { id } = await create(agent.at, { when: { every: 1 }, input: "Tick", name: "Clock" });
  const runs = await waitUntil("two runs to complete", async () => {
    const all = await readRuns(agent.at, id);
    return all.filter(({ outcome }) => outcome === "completed").length >= 2 && all;
  });
  await testbed.api(`${agent.at}/schedules/${id}`, "DELETE");
  const dueTimes = runs.map(({ dueAt }) => Date.parse(dueAt));
  expect(new Set(dueTimes).size).toBe(dueTimes.length);
  expect(dueTimes.every((time) => time % 1000 === 0)).toBe(true);
  const accepted = (await agent.log()).find(({ type }) => type === "request.accepted");
  expect(accepted?.data).toMatchObject({
    idempotencyKey: `schedule:${id}:${runs.at(-1)?.dueAt}`,
    from: { user: "owner", context: { schedule: id, scheduleName: "Clock" } },
    messages: [{ role: "user", content: "Tick" }],
  });
});

test("a time in seconds and a date run once", async () => {
  const agent = await open();
  const soon = await create(agent.at, { when: 1, input: "Soon" });
  const date = await create(agent.at, { when: new Date(Date.now() + 1500).toISOString(), input: "Date" });
  expect([soon.next.length, date.next.length]).toEqual([1, 1]);
  await waitUntil("both to run", async () => (await listInputs(agent)).length === 2);
  expect((await listInputs(agent)).toSorted()).toEqual(["Date", "Soon"]);
  expect((await testbed.api(`${agent.at}/schedules/${soon.id}`)).body).toMatchObject({
    nextAt: null,
    next: [],
    history: [{ status: "ran" }],
  });
});

test("a schedule can be run now, even while it is paused", async () => {
  const agent = await open();
  const { id } = await create(agent.at, { when: "0 0 1 1 *", input: "Happy new year" });
  await testbed.api(`${agent.at}/schedules/${id}`, "PATCH", { paused: true });
  const { status, body: run } = await testbed.api(`${agent.at}/schedules/${id}/run`, "POST");
  expect([status, run]).toMatchObject([202, { status: "ran", manual: true, runId: expect.any(String) }]);
  await agent.waitForEnd(run.runId);
  expect(await listInputs(agent)).toEqual(["Happy new year"]);
  expect(await readRuns(agent.at, id)).toMatchObject([{ runId: run.runId, outcome: "completed" }]);
});

test("times that passed while the host was down follow the policy of the schedule", async () => {
  const agents = await Promise.all([open(), open(), open(), open()]);
  const options = [
    { missed: "skip" },
    { missed: "once" },
    { missed: "all", overlap: "skip" },
    { missed: "all", maxDelaySeconds: 3 },
  ];
  const schedules = await Promise.all(
    agents.map(({ at }, index) => create(at, { when: { every: 1 }, input: "Tick", ...options[index] })),
  );
  await testbed.stopHost();
  const stopped = Date.now();
  // Long enough for several times to pass.
  await new Promise((resolve) => setTimeout(resolve, 6000));
  await testbed.startHost();
  const started = Date.now();
  const isDown = ({ dueAt }: ScheduleRun) => Date.parse(dueAt) > stopped && Date.parse(dueAt) < started - 2000;
  const runs = await Promise.all(
    agents.map(({ at }, index) =>
      waitUntil("the times that passed", async () => {
        const all = await readRuns(at, schedules[index]!.id);
        return all.some(({ dueAt }) => Date.parse(dueAt) > started) && all;
      }),
    ),
  );
  const [skip, once, all, bounded] = runs.map((one) => one.filter(isDown)) as [
    ScheduleRun[],
    ScheduleRun[],
    ScheduleRun[],
    ScheduleRun[],
  ];
  // With every second, the newest time is never late, so that the others are missed.
  for (const missed of [skip, once]) {
    expect(missed.length).toBeGreaterThanOrEqual(3);
    expect(countStatus(missed, "missed")).toBe(missed.length);
  }
  expect(all.length).toBeGreaterThanOrEqual(3);
  expect(countStatus(all, "ran")).toBe(all.length);
  expect(countStatus(bounded, "missed")).toBeGreaterThanOrEqual(1);
  const dueTimes = runs[2]!.map(({ dueAt }) => dueAt);
  expect(new Set(dueTimes).size).toBe(dueTimes.length);
  for (const [index, { at }] of agents.entries())
    await testbed.api(`${at}/schedules/${schedules[index]!.id}`, "DELETE");
}, 60_000);

test("a run is skipped or waits while the previous one is not over", async () => {
  const [skipping, queueing] = [await open(), await open()];
  const skip = await create(skipping.at, { when: { every: 1 }, input: "wait long", overlap: "skip" });
  const queue = await create(queueing.at, { when: { every: 1 }, input: "wait long" });
  await waitUntil("two to be skipped", async () => countStatus(await readRuns(skipping.at, skip.id), "skipped") >= 2);
  expect(countStatus(await readRuns(skipping.at, skip.id), "ran")).toBe(1);
  await waitUntil(
    "two to wait",
    async () =>
      (await testbed.api(`${queueing.at}`)).body.status !== "" &&
      countStatus(await readRuns(queueing.at, queue.id), "ran") >= 3,
  );
  expect(countStatus(await readRuns(queueing.at, queue.id), "skipped")).toBe(0);
  await testbed.api(`${skipping.at}/schedules/${skip.id}`, "DELETE");
  await testbed.api(`${queueing.at}/schedules/${queue.id}`, "DELETE");
});

test("a stopped agent fails the run with the reason, and the schedule goes on", async () => {
  const agent = await open();
  const { id } = await create(agent.at, { when: { every: 1 }, input: "Tick" });
  await testbed.api(`${agent.at}/stop`, "POST");
  const failed = await waitUntil("a run to fail", async () =>
    (await readRuns(agent.at, id)).find(({ status }) => status === "failed"),
  );
  expect(failed.error).toContain("The agent is stopped");
  await testbed.api(`${agent.at}/start`, "POST");
  await waitUntil("a run afterwards", async () =>
    (await readRuns(agent.at, id)).some(({ status, dueAt }) => status === "ran" && dueAt > failed.dueAt),
  );
  await testbed.api(`${agent.at}/schedules/${id}`, "DELETE");
});

test("a schedule whose turn fails ten times is still armed", async () => {
  const agent = await open();
  const { id } = await create(agent.at, { when: { every: 1 }, input: "fail" });
  await waitUntil(
    "ten failed turns",
    async () => (await readRuns(agent.at, id)).filter(({ outcome }) => outcome === "failed").length >= 10,
    { timeoutMs: 30_000 },
  );
  const { body } = await testbed.api(`${agent.at}/schedules/${id}`);
  expect(Date.parse(body.nextAt)).toBeGreaterThan(Date.now() - 2000);
  await testbed.api(`${agent.at}/schedules/${id}`, "DELETE");
}, 40_000);

test("an agency's schedule gives its input to the agent that it names", async () => {
  const agent = await open();
  const created = await create("/agency/global", { when: { every: 1 }, input: "From above", agent: agent.name });
  expect(created.agent).toBe(agent.name);
  const path = `/agency/global/schedules/${created.id}`;
  const done = await waitUntil("a run to complete", async () =>
    (await readRuns("/agency/global", created.id)).find(({ outcome }) => outcome === "completed"),
  );
  expect(done.status).toBe("ran");
  expect((await listInputs(agent))[0]).toBe("From above");
  expect((await testbed.api(`${agent.at}/schedules`)).body.schedules).toEqual([]);
  await testbed.api(path, "PATCH", { paused: true });
  expect((await testbed.api(`${path}/run`, "POST")).body).toMatchObject({ status: "ran", manual: true });
  expect((await testbed.api("/agency/global/schedules")).body.schedules).toMatchObject([{ id: created.id }]);
  await testbed.api(agent.at, "DELETE");
  expect((await testbed.api("/agency/global/schedules")).body.schedules).toEqual([]);
});

test("a model can create a schedule for its agent, but not for a sub-agent", async () => {
  const agent = await open();
  await agent.say("remind me");
  const [schedule] = (await testbed.api(`${agent.at}/schedules`)).body.schedules;
  expect(schedule).toMatchObject({ when: "0 9 * * *", timeZone: "Europe/Berlin", input: "Get up" });
  expect((await agent.messages()).at(-1)?.content).toContain(schedule.id);
  await agent.say("delegate");
  const { body } = await testbed.api(`${agent.at}/subagents`);
  const child = testbed.agentAt(`${agent.at}/sub/${body.subagents[0].facetName}`, "child");
  expect((await child.messages()).at(-1)?.content).toContain("There is no tool “schedule”");
  const response = await testbed.api(`${child.at}/schedules`);
  expect([response.status, response.body.error.message]).toEqual([
    404,
    "A sub-agent has no schedules. Use those of its root agent.",
  ]);
});

test("clearing the conversation keeps the schedules and their history", async () => {
  const agent = await open();
  const { id } = await create(agent.at, { when: "0 0 1 1 *", input: "Hello" });
  const { body: run } = await testbed.api(`${agent.at}/schedules/${id}/run`, "POST");
  await agent.waitForEnd(run.runId);
  expect((await testbed.api(`${agent.at}/messages`, "DELETE")).status).toBe(204);
  expect(await readRuns(agent.at, id)).toMatchObject([{ runId: run.runId, outcome: "completed" }]);
  expect((await testbed.api(`${agent.at}/export`)).body.schedules).toMatchObject([{ id }]);
});

const sample = { when: 60, input: "x" };

test.each([
  [{ ...sample, when: { every: 0.01 } }, "at least 1 whole second"],
  [{ ...sample, when: { every: 0 } }, "at least 1"],
  [{ ...sample, when: { every: "5s" } }, "when"],
  [{ ...sample, when: -5 }, "when"],
  [{ ...sample, when: "2020-01-01T00:00:00Z" }, "2020-01-01T00:00:00Z is in the past: it is now "],
  [{ ...sample, when: "2027-02-30" }, "“2027-02-30” is not a date. Use a form like 2026-12-24T18:00:00Z."],
  [{ ...sample, when: "2027-01-01T25:00:00Z" }, "is not a date"],
  [{ ...sample, when: "tomorrow" }, "“tomorrow” is neither an ISO date nor a cron expression"],
  [{ ...sample, when: "0 99 * * *" }, "Field 2 (hour) of the cron expression is “99”: expected 0 to 23."],
  [{ ...sample, when: "0 0 30 2 *" }, "“0 0 30 2 *” never happens. Check the day of the month and the month."],
  [{ ...sample, when: "0 9 * * *", timeZone: "Mars/Base" }, "Unknown time zone “Mars/Base”."],
  [{ ...sample, input: "  " }, "input"],
  [{ ...sample, missed: "maybe" }, "missed"],
  [{ ...sample, maxDelaySeconds: 0 }, "maxDelaySeconds"],
  [{ ...sample, agent: "alice" }, "agent"],
  [{ input: "x" }, "when"],
  [{ when: 60 }, "input"],
])("%j is refused", async (body, message) => {
  const { at } = await open();
  const response = await testbed.api(`${at}/schedules`, "POST", body);
  expect([response.status, JSON.stringify(response.body)]).toEqual([400, expect.stringContaining(message)]);
  expect((await testbed.api(`${at}/schedules`)).body.schedules).toEqual([]);
});

test("an agency's schedule needs an agent that exists", async () => {
  const path = "/agency/global/schedules";
  expect((await testbed.api(path, "POST", sample)).status).toBe(400);
  const { status, body } = await testbed.api(path, "POST", { ...sample, agent: "nobody" });
  expect([status, body.error.message]).toEqual([404, expect.stringContaining("nobody")]);
});

test("an agent has at most 1,000 schedules, and those that are over make room", async () => {
  const agent = await open();
  const add = () => testbed.api(`${agent.at}/schedules`, "POST", { when: "0 0 1 1 *", input: "x" });
  const { id } = await create(agent.at, { when: 1, input: "Once" });
  await waitUntil("it to run", async () => (await readRuns(agent.at, id)).length === 1);
  const statuses = new Map<number, number>();
  for (let batch = 0; batch < 20; batch++) {
    for (const { status } of await Promise.all(Array.from({ length: 51 }, add)))
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }
  expect(Object.fromEntries(statuses)).toEqual({ 201: 1000, 409: 20 });
  expect((await testbed.api(`${agent.at}/schedules/${id}`)).status).toBe(404);
}, 60_000);

test("the next times of a schedule can be asked for without creating it, with the same errors", async () => {
  const { at } = await open();
  const preview = async (body: object) => testbed.api(`${at}/schedules/preview`, "POST", body);
  const when = { when: "0 9 * * 1-5", timeZone: "Europe/Berlin" };
  const { body } = await preview(when);
  expect(body.next).toHaveLength(5);
  expect((await testbed.api(`${at}/schedules`)).body.schedules).toEqual([]);
  expect((await create(at, { ...when, input: "Hi" })).next).toEqual(body.next);
  for (const wrong of [
    { when: "61 * * * *" },
    { when: "2001-01-01" },
    { when: { every: 0 } },
    { when: "0 0 30 2 *" },
    {},
  ]) {
    const [previewed, created] = [
      await preview(wrong),
      await testbed.api(`${at}/schedules`, "POST", { ...wrong, input: "Hi" }),
    ];
    expect([previewed.status, previewed.body.error.code]).toEqual([400, "bad_request"]);
    // The time in a message about the past differs.
    expect(previewed.body.error.message.slice(0, 30)).toBe(created.body.error.message.slice(0, 30));
  }
});
