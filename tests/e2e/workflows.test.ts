import type { JobEvent, WorkflowRun } from "@thinkery/sdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ModelServer, openModelServer } from "../kit/model-server.ts";
import { readEvents } from "../kit/sse.ts";
import { waitUntil } from "../kit/wait-until.ts";
import { openTestbed, type Testbed } from "../kit/worker/testbed.ts";

let testbed: Testbed;
let models: ModelServer;

const send = (message: string) => ({ call: { tool: "channel_send", input: { message } } });

beforeAll(async () => {
  models = await openModelServer();
  testbed = await openTestbed({
    env: { LLM_API_BASE: `${models.url}/v1`, LLM_API_KEY: "sk-test" },
    scripts: {
      parrot: [{ steps: [{ text: "You said: {{ message }}" }] }],
      lead: [
        { when: "from worker", steps: [{ text: "All done: the report is ready." }] },
        { when: "review", steps: [send("@worker, read the code."), { text: "Delegated." }] },
      ],
      worker: [
        {
          steps: [
            { call: { tool: "write_todos", input: { todos: [] } } },
            send("@lead, I have read it."),
            { text: "Read." },
          ],
        },
      ],
      polite: [{ steps: [send("Thank you @one, thank you @two!"), { text: "Thanked." }] }],
      slow: [{ when: "once more", steps: [{ text: "Done." }] }, { steps: [{ wait: 600_000 }, { text: "Late." }] }],
      broken: [{ steps: [{ fail: 401 }] }],
      sleeper: [{ steps: [{ call: { tool: "sleepUntil", input: { when: 1 } } }, { text: "Awake." }] }],
      asker: [
        {
          steps: [
            { call: { tool: "askUser", input: { prompt: "Which one?" } } },
            { text: "You chose {{ results.askUser }}." },
          ],
        },
      ],
    },
  });
}, 60_000);

afterAll(async () => {
  await testbed?.stop();
  await models?.stop();
});

const review = {
  name: "review",
  agents: {
    lead: {
      model: "scripted:lead",
      role: "Leads the review",
      system_prompt: "Review ${{ vars.what }} (${{ workflow.tag }}).",
    },
    worker: { model: "scripted:worker" },
  },
  vars: { what: "code" },
  kickoff: "@lead, please review ${{ vars.what }}.",
};

const duo = (script: string) => ({ one: { model: `scripted:${script}` }, two: { model: `scripted:${script}` } });

async function runJob(body: object): Promise<JobEvent[]> {
  const { host } = testbed;
  const response = await fetch(`${host().url}/run`, {
    method: "POST",
    headers: { authorization: `Bearer ${host().token}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (response.status !== 200) throw new Error(await response.text());
  const events: JobEvent[] = [];
  for await (const { data } of readEvents(response)) events.push(JSON.parse(data));
  return events;
}

const getRun = async (agency: string): Promise<WorkflowRun> => (await testbed.api(`/agency/${agency}/workflow`)).body;

describe("a workflow", () => {
  test("ends when all inboxes are empty and all agents idle, with the last reply as its result", async () => {
    const events = await runJob({ workflow: review, tag: "pr-1", vars: { what: "tests" } });
    const done = events.at(-1);
    expect(done).toMatchObject({
      type: "done",
      agent: "lead",
      status: "completed",
      content: "All done: the report is ready.",
      finishReason: "stop",
      run: {
        agency: "review:pr-1",
        workflow: "review",
        tag: "pr-1",
        status: "completed",
        turns: 3,
        agents: ["lead", "worker"],
      },
    });
    const posts = events.flatMap((event) => (event.type === "message" ? [[event.agent, event.message.content]] : []));
    expect(posts).toEqual([
      ["owner", "@lead, please review tests."],
      ["lead", "@worker, read the code."],
      ["worker", "@lead, I have read it."],
    ]);
    const text = (agent: string) =>
      events.flatMap((event) => (event.type === "chunk" && event.agent === agent ? event.text : [])).join("");
    expect([text("lead"), text("worker")]).toEqual(["Delegated.All done: the report is ready.", "Read."]);
    expect(events.filter(({ type }) => type === "turn_end")).toHaveLength(3);
    expect(events.some((event) => event.type === "status" && event.status.status === "working")).toBe(true);
    const { agents } = (await testbed.api("/agency/review:pr-1/agents")).body;
    expect(agents[0].system).toBe("Review tests (pr-1).");
    const { runs } = (await testbed.api("/workflow-runs")).body;
    expect(runs).toContainEqual(expect.objectContaining({ agency: "review:pr-1", status: "completed" }));
  });

  test("tells its agents who else is there and what for, and offers them the tools to work together", async () => {
    models.answer({ text: "Read." });
    const workflow = {
      name: "told",
      agents: { reader: { model: "openai:test-model" }, lead: { model: "scripted:lead", role: "Leads the review" } },
      kickoff: "@reader, begin",
    };
    await runJob({ workflow, tag: "x" });
    const request = models.listRequests().at(-1)?.raw ?? "";
    expect(request).toContain("You are @reader in the workflow told (agency told:x).");
    expect(request).toContain("- @lead: Leads the review");
    const tools = (JSON.parse(request).tools as { function: { name: string } }[]).map((tool) => tool.function.name);
    expect(tools).toEqual(expect.arrayContaining(["channel_send", "my_inbox", "team_doc_write", "resource_read"]));
  });

  test("reads the variables of the agency in the prompt of a blueprint, as they are at each turn", async () => {
    models.answer({ text: "Hello." });
    await testbed.api("/agencies", "POST", { id: "varied" });
    const blueprint = { name: "guide", prompt: "You know ${{ vars.city }}, not ${{ vars.other }}." };
    await testbed.api("/agency/varied/blueprints", "POST", blueprint);
    const agent = { name: "one", blueprint: "guide", model: "openai:test-model" };
    await testbed.api("/agency/varied/agents", "POST", agent);
    for (const city of ["Athens", "Sparta"]) {
      await testbed.api("/agency/varied", "PATCH", { vars: { city } });
      await testbed.api("/serve", "POST", { agent: "one@varied", message: "hi" });
      expect(models.listRequests().at(-1)?.raw).toContain(`You know ${city}, not \${{ vars.other }}.`);
    }
  });

  test("does not change what an agent without a team is sent", async () => {
    models.answer({ text: "Hello." });
    await testbed.api("/agencies", "POST", { id: "alone" });
    await testbed.api("/agency/alone/agents", "POST", { name: "one", model: "openai:test-model" });
    const { status } = await testbed.api("/serve", "POST", { agent: "one@alone", message: "hi" });
    expect(status).toBe(200);
    const request = models.listRequests().at(-1)?.raw ?? "";
    expect(request).not.toMatch(/channel_send|my_inbox|Your team/);
  });

  test("answers at /serve with the result, and a kickoff without a mention is for all", async () => {
    const { status, body } = await testbed.api("/serve", "POST", {
      workflow: { name: "pair", agents: duo("parrot") },
      tag: "a",
      message: "hello",
    });
    expect([status, body]).toEqual([200, expect.anything()]);
    expect(body.outcomes.map(({ agent }: { agent: string }) => agent)).toEqual(["one", "two"]);
    expect(body.content).toContain("You said: [msg-1 from owner in #general]\nhello");
  });

  test("can be stored, and run by its name", async () => {
    const stored = await testbed.api("/workflows/review", "PUT", review);
    expect(stored).toMatchObject({
      status: 200,
      body: { name: "review", agents: ["lead", "worker"], hasSetup: false },
    });
    expect((await testbed.api("/workflows")).body.workflows).toMatchObject([{ name: "review" }]);
    const started = await testbed.api("/workflow-runs", "POST", { workflow: "review", tag: "stored" });
    expect(started).toMatchObject({ status: 202, body: { agency: "review:stored", status: "running" } });
    await waitUntil("it to end", async () => (await getRun("review:stored")).status === "completed");
    const missing = await testbed.api("/run", "POST", { workflow: "revew", message: "x" });
    expect(missing).toMatchObject({ status: 404, body: { error: { details: { suggestion: "review" } } } });
    expect((await testbed.api("/workflows/review", "DELETE")).status).toBe(204);
    expect((await testbed.api("/workflows/review")).status).toBe(404);
  });

  test("is refused with the place of what is wrong with it", async () => {
    const cases: [object, string][] = [
      [{ ...review, agentz: {} }, "agentz"],
      [{ ...review, agents: { lead: { modell: "scripted:lead" } } }, "model"],
      [{ ...review, agents: {} }, "at least one agent"],
      [{ ...review, kickoff: "${{ vars.wat }}" }, "vars.wat"],
      [{ ...review, setup: [{ shell: "ls" }] }, "setup"],
      [{ ...review, agents: { "a b": {} } }, "a b"],
    ];
    for (const [workflow, hint] of cases) {
      const { status, body } = await testbed.api("/workflow-runs", "POST", { workflow });
      expect([status, body.error.message]).toEqual([400, expect.stringContaining(hint)]);
    }
  });

  test("that is going cannot be started again with the same tag, but the same key is the same run", async () => {
    const job = { workflow: { name: "long", agents: { one: { model: "scripted:slow" } } }, tag: "x", message: "begin" };
    expect(
      (await testbed.api("/workflow-runs", "POST", { workflow: { ...job.workflow, kickoff: "begin" }, tag: "x" }))
        .status,
    ).toBe(202);
    const again = await testbed.api("/workflow-runs", "POST", {
      workflow: { ...job.workflow, kickoff: "begin" },
      tag: "x",
    });
    expect(again).toMatchObject({
      status: 409,
      body: { error: { details: { suggestion: "thinkery workflow follow @long:x" } } },
    });
    await testbed.api("/agency/long:x/workflow/stop", "POST");
  });

  test("is listed as soon as it has started, and only one of two that start at once does", async () => {
    const workflow = { name: "race", agents: { one: { model: "scripted:slow" } }, kickoff: "begin" };
    const start = () => testbed.api("/workflow-runs", "POST", { workflow, tag: "x" });
    const statuses = (await Promise.all([start(), start(), start()])).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([202, 409, 409]);
    const { runs } = (await testbed.api("/workflow-runs?status=open")).body;
    expect(runs).toContainEqual(expect.objectContaining({ agency: "race:x", status: "running" }));
    await testbed.api("/agency/race:x/workflow/stop", "POST");
  });

  test("that is stopped is no longer waited for at /serve", async () => {
    const workflow = { name: "served", agents: { one: { model: "scripted:slow" } }, kickoff: "begin" };
    const served = testbed.api("/serve", "POST", { workflow, tag: "x" });
    await waitUntil(
      "the agent to work",
      async () => (await testbed.api("/agency/served:x/agent/one/state")).body.run?.status === "running",
    );
    await testbed.api("/agency/served:x/workflow/stop", "POST");
    expect(await served).toMatchObject({
      status: 409,
      body: { error: { message: "The run served:x was stopped." } },
    });
  });

  test("is stopped and resumed, and what waited is handled then", async () => {
    const workflow = { name: "pause", agents: { one: { model: "scripted:slow" } }, kickoff: "begin" };
    await testbed.api("/workflow-runs", "POST", { workflow, tag: "x" });
    await waitUntil(
      "the agent to work",
      async () => (await testbed.api("/agency/pause:x/agent/one/state")).body.run.status === "running",
    );
    const stopped = await testbed.api("/agency/pause:x/workflow/stop", "POST");
    expect(stopped.body.status).toBe("stopped");
    await waitUntil(
      "its turn to end",
      async () => (await testbed.api("/agency/pause:x/agent/one/state")).body.run.status === "canceled",
    );
    await testbed.api("/agency/pause:x/channels/general/messages", "POST", { content: "@one once more" });
    await testbed.restartMain();
    expect((await getRun("pause:x")).status).toBe("stopped");
    expect((await testbed.api("/agency/pause:x/workflow/start", "POST")).body.status).toBe("running");
    await waitUntil("it to end", async () => (await getRun("pause:x")).status === "completed");
    expect(await getRun("pause:x")).toMatchObject({ result: "Done." });
  });

  test("waits for a person, says so, and goes on with the answer", async () => {
    const workflow = { name: "ask", agents: { one: { model: "scripted:asker" } }, kickoff: "begin" };
    await testbed.api("/workflow-runs", "POST", { workflow, tag: "x" });
    await waitUntil("it to wait", async () => (await getRun("ask:x")).status === "waiting");
    await testbed.api("/agency/ask:x/agent/one/answer", "POST", { value: "blue" });
    await waitUntil("it to end", async () => (await getRun("ask:x")).status === "completed");
    expect((await getRun("ask:x")).result).toContain("You chose");
  });

  test("does not wait for a person while an agent sleeps", async () => {
    const workflow = { name: "nap", agents: { one: { model: "scripted:sleeper" } }, kickoff: "begin" };
    const { status, body } = await testbed.api("/serve", "POST", { workflow, tag: "x" });
    expect([status, body.content]).toEqual([200, "Awake."]);
  });

  test("whose agents make no progress ends with that reason", async () => {
    const workflow = {
      name: "thanks",
      agents: duo("polite"),
      kickoff: "@one, begin",
      limits: { max_turns_without_progress: 3 },
    };
    const done = (await runJob({ workflow, tag: "x" })).at(-1);
    expect(done).toMatchObject({
      type: "done",
      status: "failed",
      reason: "no_progress",
      run: { status: "failed", reason: "no_progress" },
    });
  });

  test("ends with a reason after too many turns", async () => {
    const workflow = { name: "loop", agents: duo("polite"), kickoff: "@one, begin", limits: { max_turns: 4 } };
    const done = (await runJob({ workflow, tag: "x" })).at(-1);
    expect(done).toMatchObject({ status: "failed", reason: "turn_limit", run: { turns: 4 } });
    const listMessages = async () => (await testbed.api("/agency/loop:x/channels/general/messages")).body.messages;
    const count = (await listMessages()).length;
    for (const agent of ["one", "two"]) {
      expect((await testbed.api(`/agency/loop:x/inbox/${agent}`)).body.items).toEqual([]);
      expect((await testbed.api(`/agency/loop:x/agent/${agent}/state`)).body.run.status).not.toBe("running");
    }
    const { items } = (await testbed.api("/agency/loop:x/inbox/one?status=all")).body;
    expect(items.length).toBeGreaterThan(1);
    // Nobody goes on with it.
    await testbed.restartMain();
    expect((await listMessages()).length).toBe(count);
  });

  test("is cut off when it has taken too long", async () => {
    const workflow = {
      name: "late",
      agents: { one: { model: "scripted:slow" } },
      kickoff: "begin",
      limits: { max_seconds: 1 },
    };
    const done = (await runJob({ workflow, tag: "x" })).at(-1);
    expect(done).toMatchObject({ status: "failed", reason: "time_limit", message: "The run has taken 1 seconds." });
    const { startedAt, endedAt = "" } = await getRun("late:x");
    expect(Date.parse(endedAt) - Date.parse(startedAt)).toBeLessThan(10_000);
  });

  test("fails because of a budget, also if that is why a message was given up", async () => {
    const one = { model: "scripted:lead", settings: { budget: { tokens: 10 } } };
    const workflow = { name: "poor", agents: { one }, kickoff: "review it" };
    const done = (await runJob({ workflow, tag: "x" })).at(-1);
    expect(done).toMatchObject({ status: "failed", reason: "budget" });
  });

  test("fails if a message was given up", async () => {
    const workflow = { name: "fails", agents: { one: { model: "scripted:broken" } }, kickoff: "begin" };
    const done = (await runJob({ workflow, tag: "x" })).at(-1);
    expect(done).toMatchObject({
      status: "failed",
      reason: "given_up",
      message: expect.stringContaining("one could not handle msg-1"),
    });
  });

  test("ends when the only agent that still worked is deleted", async () => {
    const agents = { one: { model: "scripted:slow" }, two: { model: "scripted:parrot" } };
    const done = runJob({ workflow: { name: "left", agents, kickoff: "begin" }, tag: "x" }).catch(() => []);
    await waitUntil("the agent to work", async () => {
      const { run } = (await testbed.api("/agency/left:x/agent/one/state")).body;
      return run?.status === "running" && (await getRun("left:x")).turns === 1;
    });
    const start = Date.now();
    await testbed.api("/agency/left:x/agent/one", "DELETE");
    await waitUntil("it to end", async () => (await getRun("left:x")).status === "completed");
    expect(Date.now() - start).toBeLessThan(5000);
    await done;
  });

  test("that stays resident goes on when everyone is idle, also after a crash, until it is stopped", async () => {
    const workflow = {
      name: "home",
      agents: { one: { model: "scripted:parrot", schedule: "0 3 * * *" } },
      kickoff: "begin",
    };
    await testbed.api("/workflow-runs", "POST", { workflow, tag: "x", resident: true });
    await waitUntil("the first turn", async () => (await getRun("home:x")).turns === 1);
    await testbed.restartMain();
    expect(await getRun("home:x")).toMatchObject({ status: "running", resident: true });
    expect((await testbed.api("/agency/home:x/agent/one/schedules")).body.schedules).toMatchObject([
      { when: "0 3 * * *", input: "begin" },
    ]);
    await testbed.api("/agency/home:x/workflow/stop", "POST");
    expect((await getRun("home:x")).status).toBe("stopped");
    await testbed.api("/agency/home:x/workflow/start", "POST");
    expect((await testbed.api("/agency/home:x/agent/one/schedules")).body.schedules).toHaveLength(1);
  });

  test("goes on after the host was killed, with every message handled once", async () => {
    const workflow = {
      ...review,
      name: "crash",
      agents: { ...review.agents, lead: { model: "scripted:lead" } },
      kickoff: "@lead, please review it.",
    };
    await testbed.api("/workflow-runs", "POST", { workflow, tag: "x" });
    await testbed.restartMain();
    await waitUntil("it to end", async () => (await getRun("crash:x")).status === "completed");
    const { messages } = (await testbed.api("/agency/crash:x/channels/general/messages")).body;
    expect(messages.map(({ from }: { from: string }) => from)).toEqual(["owner", "lead", "worker"]);
  });
});
