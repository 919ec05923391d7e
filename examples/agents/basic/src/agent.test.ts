import { createTestAgent } from "@thinkery/sdk/agent-test";
import { expect, test } from "vitest";
import agent from "./agent.ts";

test("it streams what a model says, which knows the conversation so far", async () => {
  const basic = createTestAgent(agent, { models: [{ chunks: ["Hello, ", "Ann."] }, "Ann."] });
  expect((await basic.send("I am Ann.")).text).toBe("Hello, Ann.");
  expect((await basic.send("Who am I?")).text).toBe("Ann.");
  expect(basic.requests[1]?.messages.map(({ content }) => content)).toEqual(["I am Ann.", "Hello, Ann.", "Who am I?"]);
});

test("the model may call tools, until it has taken all its steps", async () => {
  const basic = createTestAgent(agent, {
    tools: { roll: { execute: () => 6 } },
    settings: { maxSteps: 2 },
    models: [{ text: "Rolling. ", calls: [{ name: "roll" }] }, "It is 6."],
  });
  const turn = await basic.send("Roll a die.");
  expect([turn.text, turn.actions]).toEqual(["Rolling. It is 6.", [{ tool: "roll", args: {} }]]);
});

test("its settings reach the model", async () => {
  const settings = { model: "primary", temperature: 0, instructions: "Be a pirate." };
  const basic = createTestAgent(agent, { settings, models: ["Arr."] });
  await basic.send("Hello");
  expect(basic.requests).toMatchObject([{ model: "primary", temperature: 0, system: "Be a pirate." }]);
});
