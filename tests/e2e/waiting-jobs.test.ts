import { afterAll, beforeAll, expect, test } from "vitest";
import { readEvents } from "../kit/sse.ts";
import { waitUntil } from "../kit/wait-until.ts";
import { openTestbed, type Testbed } from "../kit/worker/testbed.ts";

// `/run` and `/serve` while a turn waits for a person.

let testbed: Testbed;

const write = { tool: "writeFile", input: { path: "a.txt", content: "one\n" } };

beforeAll(async () => {
  testbed = await openTestbed({
    scripts: {
      default: [
        { when: "write", steps: [{ text: "I will write." }, { call: write }, { text: "Heard: {{ results.0 }}" }] },
        {
          when: "ask",
          steps: [{ call: { tool: "askUser", input: { prompt: "Which color?" } } }, { text: "Color: {{ results.0 }}" }],
        },
        { steps: [{ text: "You said: {{ message }}" }] },
      ],
    },
  });
});

afterAll(() => testbed?.stop());

async function newAgent() {
  const config = { hitl: { tools: ["writeFile"] } };
  return testbed.newAgent({ blueprint: await testbed.newBlueprint({ model: "scripted:default", config }) });
}

/** Follows `/run`; the events so far are in the list. */
async function openRun(body: object) {
  const { url, token } = testbed.host();
  const response = await fetch(`${url}/run`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const events: any[] = [];
  const read = async () => {
    for await (const { data } of readEvents(response)) events.push(JSON.parse(data));
  };
  return { events, end: read(), find: (type: string) => events.find((event) => event.type === type) };
}

test("/run stays open while a turn waits for approval, also for a client that comes later", async () => {
  const { name, at } = await newAgent();
  const job = { agent: name, message: "write", idempotencyKey: "one" };
  const first = await openRun(job);
  const asked = await waitUntil("the approval", () => first.find("approval"));
  expect(asked).toMatchObject({
    agent: name,
    calls: [{ name: "writeFile", args: write.input, why: expect.any(String) }],
  });
  const later = await openRun(job);
  expect(await waitUntil("the same approval", () => later.find("approval"))).toEqual(asked);
  expect([first.find("done"), later.find("done")]).toEqual([undefined, undefined]);
  await testbed.api(`${at}/approve`, "POST", { approvalId: asked.approvalId, approved: true });
  await Promise.all([first.end, later.end]);
  for (const { events } of [first, later]) {
    expect(events.filter(({ type }) => type === "approval")).toHaveLength(1);
    expect(events.at(-1)).toMatchObject({ type: "done", content: expect.stringMatching(/^Heard: Created a\.txt/) });
  }
});

test("/serve does not wait for a person: it says what is asked, and later returns the result", async () => {
  const { name, at } = await newAgent();
  const job = { agent: name, message: "write", idempotencyKey: "one" };
  // The second request finds the turn paused.
  for (const _ of [1, 2]) {
    const { status, body } = await testbed.api("/serve", "POST", job);
    expect([status, body.error.code, body.error.message]).toEqual([
      409,
      "conflict",
      "The turn waits for a person's approval: Approve writeFile?",
    ]);
    const { approvals } = (await testbed.api(`${at}/approvals?status=pending`)).body;
    expect(body.error.details).toEqual({ approvals, questions: [] });
  }
  const queued = await testbed.api("/serve", "POST", { agent: name, message: "hello" });
  expect([queued.status, queued.body.error.details.approvals.length]).toEqual([409, 1]);
  await testbed.api(`${at}/approve`, "POST", { approved: true });
  const { status, body } = await testbed.api("/serve", "POST", job);
  expect([status, body.content]).toEqual([200, expect.stringMatching(/^Heard: Created a\.txt/)]);
});

test("/serve and /run tell of questions", async () => {
  const { name, at } = await newAgent();
  const job = { agent: name, message: "ask", idempotencyKey: "one" };
  const { status, body } = await testbed.api("/serve", "POST", job);
  expect([status, body.error.message]).toEqual([409, "The turn waits for an answer: Which color?"]);
  const [question] = body.error.details.questions;
  expect(question).toMatchObject({ prompt: "Which color?", agent: `global~${name}` });
  const run = await openRun(job);
  const asked = await waitUntil("the question", () => run.find("question"));
  expect(asked).toMatchObject({ continuationId: question.id, prompt: "Which color?" });
  await testbed.api(`${at}/answer`, "POST", { value: "blue" });
  await run.end;
  expect(run.events.at(-1)).toMatchObject({ type: "done", content: "Color: blue" });
});
