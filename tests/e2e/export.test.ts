import type { AgentEvent } from "@thinkery/sdk";
import { startHost, type TestHost } from "@thinkery/sdk/test";
import { afterAll, beforeAll, expect, test } from "vitest";

const params = { agency: "global", agent: "ada" };
const text = "lorem ipsum ".repeat(10_000);

let host: TestHost;

beforeAll(async () => {
  host = await startHost({
    scripts: {
      note: [
        { steps: [{ call: { tool: "writeFile", input: { path: "a.txt", content: "x" } } }, { text: "{{ message }}" }] },
      ],
      slow: [{ steps: [{ wait: 60_000 }, { text: "over" }] }],
    },
  });
  await host.agent("ada", { model: "scripted:note" });
});

afterAll(() => host?.stop());

test("an export that is written in many pieces has everything once and in order", async () => {
  for (let turn = 0; turn < 12; turn++)
    await host.client.call("serve", { body: { agent: "ada", message: `${turn} ${text}` } });
  for (let index = 0; index < 45; index++)
    await host.client.call("createTask", { params, body: { title: `task ${index}`, description: "d".repeat(20_000) } });
  const { client } = host;
  const exported = await client.call("exportAgent", { params });
  expect(JSON.stringify(exported).length).toBeGreaterThan(2_000_000);

  const { messages } = await client.call("listMessages", { params, query: { limit: 500 } });
  expect(exported.messages).toEqual(messages);
  expect(messages).toHaveLength(12 * 4);
  const events: AgentEvent[] = [];
  for (let after: number | undefined = 0; after !== undefined;) {
    const page: { events: AgentEvent[]; next?: number | undefined } = await client.call("listEvents", {
      params,
      query: { limit: 1000, after },
    });
    events.push(...page.events);
    after = page.next;
  }
  expect(exported.events).toEqual(events);
  expect((await client.call("listActions", { params, query: { limit: 500 } })).actions).toEqual(exported.actions);
  expect(exported.actions).toHaveLength(12);
  expect(exported.tasks?.map(({ title }) => title)).toEqual(Array.from({ length: 45 }, (_, index) => `task ${index}`));
}, 120_000);

test("an export of a new agent is complete, and without lists that it does not use", async () => {
  await host.agent("bea", { model: "scripted:note" });
  const exported = await host.client.call("exportAgent", { params: { agency: "global", agent: "bea" } });
  expect(exported).toMatchObject({ format: "thinkery-agent", version: 1, messages: [], actions: [] });
  expect(exported.events.map(({ type }) => type)).toEqual(["thread.created"]);
  expect(exported).not.toHaveProperty("tasks");
});

test("queued messages come last", async () => {
  await host.agent("cid", { model: "scripted:slow" });
  const at = { agency: "global", agent: "cid" };
  await host.client.call("invoke", { params: at, body: { message: "first" } });
  await host.client.call("invoke", { params: at, body: { message: "second" } });
  const { messages } = await host.client.call("exportAgent", { params: at });
  expect(messages.map(({ content, status }) => [content, status]).at(-1)).toEqual(["second", "pending"]);
  expect(messages[0]).toMatchObject({ content: "first" });
});
