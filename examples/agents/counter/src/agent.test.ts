import { createTestAgent } from "@thinkery/sdk/agent-test";
import { expect, test } from "vitest";
import agent from "./agent.ts";

test("it counts messages or words, and remembers", async () => {
  const counter = createTestAgent(agent);
  await counter.init();
  await counter.send("Hello there");
  expect((await counter.send("Hello again")).text).toBe("2 messages so far.");
  expect(counter.state).toEqual({ count: 2, versions: 1 });
  const words = createTestAgent(agent, { settings: { unit: "words", loud: true }, state: { count: 10 } });
  expect((await words.send("one two three")).text).toBe("13 WORDS SO FAR.");
});

test("it begins again when its conversation is cleared", async () => {
  const counter = createTestAgent(agent, { state: { count: 10 } });
  await counter.emit({ type: "conversation.cleared" });
  expect((await counter.send("Hello")).text).toBe("1 messages so far.");
});
