import { createTestAgent } from "@thinkery/sdk/agent-test";
import { expect, test } from "vitest";
import agent from "./agent.ts";

test("it remembers messages, and answers questions about them", async () => {
  const knowledge = createTestAgent(agent);
  expect((await knowledge.send("Deploys happen on Tuesday.")).text).toBe("Noted.");
  await knowledge.send("The staging server is called Hestia.");
  expect((await knowledge.send("? which server is staging")).text).toBe("- The staging server is called Hestia.");
  expect((await knowledge.send("? lunch")).text).toBe("I know nothing about that.");
});

test("other agents save and search notes, best first", async () => {
  const knowledge = createTestAgent(agent);
  for (let index = 0; index < 150; index++) await knowledge.callTool("save", { text: `Note ${index} about tests.` });
  await knowledge.callTool("save", { text: "Flaky tests are bugs." });
  expect(await knowledge.callTool("search", { query: "flaky tests", limit: 1 })).toMatchObject([
    { text: "Flaky tests are bugs." },
  ]);
  expect(await knowledge.callTool("search", { query: "tests" })).toHaveLength(5);
});
