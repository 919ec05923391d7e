import { startHost, type TestHost } from "@thinkery/sdk/test";
import { afterAll, beforeAll, expect, test } from "vitest";

const scripts = {
  security: new URL("../scripts/security.yaml", import.meta.url),
  lost: [
    {
      steps: [
        { call: { tool: "requestsFrom", input: { ip: "198.51.100.1" } } },
        { text: "{{ results.requestsFrom }}" },
      ],
    },
  ],
  busy: [
    {
      steps: Array.from({ length: 7 }, (_, index) => ({ call: { tool: "topAddresses", input: { limit: index + 1 } } })),
    },
  ],
};

let host: TestHost;

beforeAll(async () => {
  host = await startHost({ worker: new URL("./worker.ts", import.meta.url), scripts });
});

afterAll(() => host?.stop());

async function reply(agent: string, message: string): Promise<string> {
  const outcome = await (await host.client.agent(agent).send(message)).outcome();
  expect(outcome).toMatchObject({ status: "completed" });
  return outcome.content;
}

const getState = async (agent: string) => (await host.client.agent(agent).state()).state;
const listTools = async (agent: string) => (await getState(agent)).tools.map(({ name }) => name).toSorted();

test("tags determine which tools an agent has", async () => {
  await host.agent("ali", { blueprint: "analyst" });
  await host.agent("mia", { blueprint: "manager" });
  expect(await listTools("ali")).toEqual(["failedLogins", "requestsFrom", "set_title", "topAddresses"]);
  expect(await listTools("mia")).toEqual(["set_title", "write_todos"]);
});

test("the analyst can use tools that the manager does not have", async () => {
  await host.agent("ann", { blueprint: "analyst" });
  expect(await reply("ann", "Who is suspicious?")).toContain(
    '{"suspects":[{"ip":"203.0.113.77","users":["root","admin","ada","bob","test","backup","oracle"]}]}',
  );
  await host.agent("max", { blueprint: "manager" });
  expect(await reply("max", "Make a plan")).toContain("There is a plan");
  expect((await getState("max")).todos).toHaveLength(2);
  // The script calls the analyst's tools, which the manager does not have.
  await reply("max", "Who is suspicious?");
  const results = (await host.client.agent("max").messages()).messages.flatMap(({ toolResult }) =>
    toolResult ? [toolResult] : [],
  );
  expect(results.filter(({ failed }) => failed).length).toBe(3);
});

test("the audit shows the latest calls up to the configured number, and survives a crash", async () => {
  const bea = await host.agent("bea", { blueprint: "analyst", model: "scripted:busy" });
  await reply("bea", "Count.");
  await host.kill();
  const calls = [3, 4, 5, 6, 7].map((limit) => ({ tool: "topAddresses", input: { limit }, outcome: "ok" }));
  expect((await bea.state()).state.audit).toEqual({ started: 7, last: calls });

  const eve = await host.agent("eve", { blueprint: "analyst", model: "scripted:lost" });
  expect(await reply("eve", "Look.")).toContain("No requests from 198.51.100.1");
  expect((await eve.state()).state.audit).toMatchObject({
    started: 1,
    last: [{ tool: "requestsFrom", outcome: "failed" }],
  });
  await host.agent("mo", { blueprint: "manager" });
  expect(await getState("mo")).not.toHaveProperty("audit");
});
