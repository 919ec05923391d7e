import { afterAll, beforeAll, expect, test } from "vitest";
import { openTestbed, type Testbed } from "../kit/worker/testbed.ts";

// What agents and people think of how things go.

let testbed: Testbed;

beforeAll(async () => {
  const leave = (message: string, more: object = {}) => ({ call: { tool: "feedback", input: { message, ...more } } });
  testbed = await openTestbed({
    scripts: {
      default: [
        {
          when: "^complain$",
          steps: [
            leave("The tests take too long.", { rating: 2 }),
            leave("I have no tool to run them.", { rating: 9 }),
            { text: "{{ results.0 }} {{ results.1 }}" },
          ],
        },
        { steps: [{ text: "You said: {{ message }}" }] },
      ],
    },
  });
});

afterAll(() => testbed?.stop());

const client = () => testbed.host().client;

async function readAll(agency?: string) {
  const all = [];
  for await (const feedback of client().feedback(agency).list()) all.push(feedback);
  return all;
}

test("an agent leaves feedback from its turn, and people read it, newest first", async () => {
  const agent = await testbed.newAgent({ model: "scripted:default" });
  const end = await agent.say("complain");
  const { runId, result } = end.data as { runId: string; result: string };
  expect(result).toMatch(/"id":"feedback-\d+".*rating/);
  await client().feedback().create({ message: "  It goes well.  ", rating: 5 });
  const [newest, oldest, ...rest] = await readAll();
  expect(rest).toEqual([]);
  expect(oldest).toEqual({
    id: "feedback-1",
    from: agent.name,
    fromKind: "agent",
    message: "The tests take too long.",
    rating: 2,
    runId,
    createdAt: expect.stringMatching(/^20/),
  });
  expect(newest).toEqual({
    id: "feedback-2",
    from: "owner",
    fromKind: "user",
    message: "It goes well.",
    rating: 5,
    createdAt: expect.any(String),
  });
});

test("feedback of a deleted agent is kept", async () => {
  const agent = await testbed.newAgent({ model: "scripted:default" });
  await agent.say("complain");
  await client().call("deleteAgent", { params: { agency: "global", agent: agent.name } });
  expect((await readAll())[0]).toMatchObject({ from: agent.name });
});

test("the same key is the same feedback", async () => {
  await client().call("createAgency", { body: { id: "keys" } });
  const body = { message: "Again.", idempotencyKey: "k" };
  const params = { agency: "keys" };
  const first = await client().call("createFeedback", { params, body });
  expect(await client().call("createFeedback", { params, body: { ...body, message: "Other." } })).toEqual(first);
  expect(await readAll("keys")).toEqual([first]);
});

test("lists page, and what is not valid is refused", async () => {
  await client().call("createAgency", { body: { id: "pages" } });
  for (const message of ["a", "b", "c"]) await client().feedback("pages").create({ message });
  const params = { agency: "pages" };
  const first = await client().call("listFeedback", { params, query: { limit: 2 } });
  const second = await client().call("listFeedback", { params, query: { limit: 2, after: first.next ?? "" } });
  expect([...first.feedback, ...second.feedback].map(({ message }) => message)).toEqual(["c", "b", "a"]);
  expect(second.next).toBeUndefined();
  for (const body of [
    { message: " " },
    { message: "x".repeat(10_001) },
    { message: "x", rating: 0 },
    { message: "x", rating: 6 },
    { message: "x", rating: 2.5 },
  ])
    await expect(client().call("createFeedback", { params, body })).rejects.toMatchObject({ code: "bad_request" });
  expect(await readAll("pages")).toHaveLength(3);
});
