import { afterAll, beforeAll, expect, test } from "vitest";
import { sample } from "../../kit/sample.ts";
import { type CodeTestbed, openCodeTestbed, openTrap } from "./code-testbed.ts";

// Defense in depth: the Worker inside the sandboxes is an attacker's and holds everything that the real one holds. It
// may forge its own run, but must get nowhere else.

let testbed: CodeTestbed;
let trap: Awaited<ReturnType<typeof openTrap>>;

beforeAll(async () => {
  trap = await openTrap();
  testbed = await openCodeTestbed({
    slots: 2,
    sandbox: { timeoutSeconds: 8 },
    sandboxWorker: new URL("compromised-process.worker.ts", import.meta.url),
  });
});

afterAll(async () => {
  await testbed?.stop();
  await trap?.stop();
});

type Results = Record<string, string>;

const findSuccesses = (results: Results) => Object.entries(results).filter(([, result]) => result.startsWith("got "));

test("a process only ever runs code of one agent", async () => {
  const [ann, bob, cid] = [await testbed.newCodeAgent(), await testbed.newCodeAgent(), await testbed.newCodeAgent()];
  for (const [index, agent] of [ann, bob, cid, ann, bob, cid, cid, bob, ann].entries()) {
    await testbed.run(agent, `secret-${agent.name}-${index}`);
    const { text } = await testbed.run(agent, "history");
    expect(
      text.match(/secret-agent-\d+/g)?.every((name) => name === `secret-${agent.name}`),
      text,
    ).toBe(true);
  }
});

test("the bridge to main accepts only names and JSON, and does nothing that the agent's gate does not allow", async () => {
  const agent = await testbed.newCodeAgent();
  const results = JSON.parse((await testbed.run(agent, "odd")).text) as Results;
  expect(Object.keys(results).length).toBeGreaterThan(20);
  expect(findSuccesses(results)).toEqual([]);
  for (const odd of ["nothing", "numbers", "objects", "lists", "functions", "itself", "a long name", "a huge name"])
    expect([odd, results[odd]]).toEqual([odd, "refused: A capability takes a name and JSON input."]);
  expect(JSON.stringify(results)).not.toMatch(/node_modules|\/tmp|\.js:\d/);
  expect((await agent.state()).title).toBeUndefined();
});

test("the bridge to main exposes nothing else", async () => {
  const agent = await testbed.newCodeAgent();
  for (const kind of ["methods", "properties"]) {
    const results = JSON.parse((await testbed.run(agent, kind)).text) as Results;
    expect(Object.keys(results).length).toBeGreaterThan(10);
    expect(findSuccesses(results), kind).toEqual([]);
  }
});

test("a retained bridge is closed: nothing can be called or printed after the run", async () => {
  const agent = await testbed.newCodeAgent();
  expect((await testbed.run(agent, "retain")).text).toBe("retained");
  await new Promise((resolve) => setTimeout(resolve, 300));
  const { text } = await testbed.run(agent, "late");
  expect(text).not.toContain("answered");
  expect(text).toMatch(/over|disposed|canceled|closed/i);
  expect(findSuccesses(JSON.parse((await testbed.run(agent, "again")).text) as Results)).toEqual([]);
  expect((await agent.log()).filter(({ type }) => type.startsWith("capability."))).toEqual([]);
  expect((await agent.state()).title).toBeUndefined();
});

const claims = Object.entries({
  "not an object": ["nothing", "null", "text", "a list", "a number"],
  "not an outcome": ["half of it", "another kind", "a cancel"],
  "too large": ["too much", "too long a console", "too long a message"],
  "a stub": ["a function", "a function inside", "a target"],
  "not JSON": ["a stream", "an answer", "a Map"],
  thrown: ["an error", "a huge error", "a thrown text"],
}).flatMap(([kind, names]) => names.map((claim) => ({ kind, claim })));

test("an outcome reported by a sandbox is accepted only if it is valid", async () => {
  const agent = await testbed.newCodeAgent();
  for (const { claim } of sample(claims, { name: "sandbox claims", size: 9, kindOf: ({ kind }) => kind })) {
    const { kind, text } = await testbed.run(agent, `claims ${claim}`);
    expect([claim, kind]).toEqual([claim, "sandbox_lost"]);
    expect(text.length).toBeLessThan(1000);
  }
});

test("excessive console output is cut, and the run completes", async () => {
  expect(await testbed.run(await testbed.newCodeAgent(), "flood")).toMatchObject({ kind: "ok", text: "flooded" });
});

test("the process itself has no access to the network, files or programs", async () => {
  const agent = await testbed.newCodeAgent();
  const escapes = JSON.parse((await testbed.run(agent, `escape ${trap.port} ${testbed.home}`)).text) as Results;
  expect(Object.keys(escapes).length).toBeGreaterThan(8);
  expect(findSuccesses(escapes)).toEqual([]);
  const loaded = JSON.parse((await testbed.run(agent, `loaded ${trap.port}`)).text) as Results;
  expect(findSuccesses(loaded)).toEqual([]);
  expect(trap.visits()).toBe(0);
  expect((await testbed.api("/health")).body).toMatchObject({ status: "ok", restarts: 0 });
});
