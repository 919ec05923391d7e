import { createTestAgent } from "@thinkery/sdk/agent-test";
import { expect, test } from "vitest";
import agent from "./agent.ts";

const tools = {
  add: {
    description: "Adds two numbers.",
    parameters: { a: { type: "number" }, b: { type: "number" } },
    execute: ({ a, b }: { a: number; b: number }) => a + b,
  },
};

test("it streams what it thinks, says and does, until the model calls no more tools", async () => {
  const chat = createTestAgent(agent, {
    tools,
    models: [
      { thinking: "I should add.", text: "Let me see.", calls: [{ name: "add", input: { a: 1, b: 2 } }] },
      { chunks: ["It is ", "3."] },
    ],
  });
  const turn = await chat.send("What is 1 + 2?");
  expect(turn.text).toBe("Let me see.\n\nIt is 3.");
  expect(turn.thinking).toEqual(["I should add."]);
  expect(turn.actions).toEqual([{ tool: "add", args: { a: 1, b: 2 } }]);
  expect(chat.requests[1]?.messages.at(-1)).toMatchObject({ role: "tool", content: "3" });
  expect(chat.logs.map(({ text }) => text)).toEqual(["Step 1: 10 tokens in, 5 out", "Step 2: 10 tokens in, 5 out"]);
});

test("the next message has the conversation so far", async () => {
  const chat = createTestAgent(agent, { models: ["Hello, Ann.", "Ann."] });
  await chat.send("I am Ann.");
  await chat.send("Who am I?");
  expect(chat.requests[1]?.messages.map(({ content }) => content)).toEqual(["I am Ann.", "Hello, Ann.", "Who am I?"]);
});

test("its settings reach the model, and it stops after the last step", async () => {
  const chat = createTestAgent(agent, {
    tools,
    settings: { model: "primary", temperature: 0, maxSteps: 1, thinkingBudget: 2000, instructions: "Be a pirate." },
    models: () => ({ calls: [{ name: "add", input: { a: 1, b: 2 } }] }),
  });
  expect((await chat.send("Add forever.")).text).toContain("I stopped after 1 steps.");
  expect(chat.requests).toMatchObject([
    { model: "primary", temperature: 0, thinkingBudget: 2000, system: "Be a pirate." },
  ]);
});

test("an interrupt ends it in the middle of a response", async () => {
  const interrupt = new AbortController();
  const chat = createTestAgent(agent, {
    models: () => {
      interrupt.abort(new Error("The person pressed stop."));
      return "never read";
    },
  });
  await expect(chat.send("Hello", { signal: interrupt.signal })).rejects.toThrow("pressed stop");
});
