import { afterAll, beforeAll, expect, test } from "vitest";
import { sample } from "../../kit/sample.ts";
import { type CodeTestbed, openCodeTestbed, openTrap } from "./code-testbed.ts";

// The walls behind the wall: the Worker inside the sandboxes is an enemy's, and holds all that the real one holds. What
// it can do to its own run is its business; it must get nowhere else.

let coders: CodeTestbed;
let trap: Awaited<ReturnType<typeof openTrap>>;

beforeAll(async () => {
  trap = await openTrap();
  coders = await openCodeTestbed({
    slots: 2,
    sandbox: { timeoutSeconds: 8 },
    inside: new URL("taken-over.worker.ts", import.meta.url),
  });
});

afterAll(async () => {
  await coders?.stop();
  await trap?.stop();
});

type Results = Record<string, string>;

const findSuccesses = (results: Results) => Object.entries(results).filter(([, result]) => result.startsWith("got "));

test("a process hears of one agent only, and the next agent's process of nothing before", async () => {
  const [ann, bob, cid] = [await coders.newCoder(), await coders.newCoder(), await coders.newCoder()];
  for (const [index, agent] of [ann, bob, cid, ann, bob, cid, cid, bob, ann].entries()) {
    await coders.run(agent, `secret-${agent.name}-${index}`);
    const { text } = await coders.run(agent, "told");
    expect(
      text.match(/secret-agent-\d+/g)?.every((name) => name === `secret-${agent.name}`),
      text,
    ).toBe(true);
  }
});

test("a door takes names and JSON, and does nothing that the agent's gate does not do", async () => {
  const agent = await coders.newCoder();
  const results = JSON.parse((await coders.run(agent, "odd")).text) as Results;
  expect(Object.keys(results).length).toBeGreaterThan(20);
  expect(findSuccesses(results)).toEqual([]);
  for (const odd of ["nothing", "numbers", "objects", "lists", "functions", "itself", "a long name", "a huge name"])
    expect([odd, results[odd]]).toEqual([odd, "refused: A capability is called with its name and JSON."]);
  expect(JSON.stringify(results)).not.toMatch(/node_modules|\/tmp|\.js:\d/);
  expect((await agent.state()).title).toBeUndefined();
});

test("a door has nothing else", async () => {
  const agent = await coders.newCoder();
  for (const kind of ["methods", "properties"]) {
    const results = JSON.parse((await coders.run(agent, kind)).text) as Results;
    expect(Object.keys(results).length).toBeGreaterThan(10);
    expect(findSuccesses(results), kind).toEqual([]);
  }
});

test("a door that was kept is shut: nothing is called, heard or written after the run", async () => {
  const agent = await coders.newCoder();
  expect((await coders.run(agent, "keep")).text).toBe("kept");
  await new Promise((resolve) => setTimeout(resolve, 300));
  const { text } = await coders.run(agent, "late");
  expect(text).not.toContain("answered");
  expect(text).toMatch(/over|disposed|canceled|closed/i);
  expect(findSuccesses(JSON.parse((await coders.run(agent, "again")).text) as Results)).toEqual([]);
  expect((await agent.log()).filter(({ type }) => type.startsWith("capability."))).toEqual([]);
  expect((await agent.state()).title).toBeUndefined();
});

const claims = Object.entries({
  "no object": ["nothing", "null", "text", "a list", "a number"],
  "no outcome": ["half of it", "another kind", "a cancel"],
  "too large": ["too much", "too long a console", "too long a message"],
  "a stub": ["a function", "a function inside", "a target"],
  "no JSON": ["a stream", "an answer", "a Map"],
  thrown: ["an error", "a huge error", "a thrown text"],
}).flatMap(([kind, claims]) => claims.map((claim) => ({ kind, claim })));

test("an outcome that a sandbox reports is taken only if it is valid", async () => {
  const agent = await coders.newCoder();
  for (const { claim } of sample(claims, { name: "sandbox claims", size: 9, kindOf: ({ kind }) => kind })) {
    const { kind, text } = await coders.run(agent, `claims ${claim}`);
    expect([claim, kind]).toEqual([claim, "sandbox_lost"]);
    expect(text.length).toBeLessThan(1000);
  }
});

test("a console without end is cut, and its run ends well", async () => {
  expect(await coders.run(await coders.newCoder(), "flood")).toMatchObject({ kind: "ok", text: "flooded" });
});

test("the process itself reaches no network, no file and no program", async () => {
  const agent = await coders.newCoder();
  const alone = JSON.parse((await coders.run(agent, `alone ${trap.port} ${coders.home}`)).text) as Results;
  expect(Object.keys(alone).length).toBeGreaterThan(8);
  expect(findSuccesses(alone)).toEqual([]);
  const loaded = JSON.parse((await coders.run(agent, `loaded ${trap.port}`)).text) as Results;
  expect(findSuccesses(loaded)).toEqual([]);
  expect(trap.visits()).toBe(0);
  expect((await coders.api("/health")).body).toMatchObject({ status: "ok", restarts: 0 });
});
