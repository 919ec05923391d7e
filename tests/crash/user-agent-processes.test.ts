import type { Health, Outcome } from "@thinkery/sdk";
import { type Client, createClient } from "@thinkery/sdk/client";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { ask, captureFailure, deployAgent, describeCode, readState, runTurn } from "../kit/user-agent.ts";
import { waitUntil } from "../kit/wait-until.ts";
import { openTestbed, type Testbed } from "../kit/worker/testbed.ts";

// Agents of one owner share a process. When one of them ends it, the others go on; those of two owners never share one.

const agentSlots = 4;

let testbed: Testbed;
let client: Client;

beforeAll(async () => {
  testbed = await openTestbed({
    config: {
      maxFailuresPerMinute: 1000,
      sandboxSlots: 0,
      agentSlots,
      sandbox: { memoryMb: 64, stallTimeoutSeconds: 2 },
      turn: { heartbeatSeconds: 1 },
    },
  });
  client = testbed.host().client;
  await deployAgent(client, "neighbor", neighbor(testbed.bell.url), { capabilities: ["tools"], createAgent: false });
});

afterAll(() => testbed?.stop());

beforeEach(() => {
  testbed.bell.rings.length = 0;
  testbed.bell.onRing = () => {};
});

type Definition = Exclude<Parameters<typeof deployAgent>[2], string>;

/** Rings three times in a turn; the response to the second ring may be held. */
const neighbor = (bell: string): Definition => ({
  settings: { bell: { type: "text", default: bell } },
  state: { turns: 0 },
  async onMessage(message, ctx) {
    const ring = (tool: string, name: string) =>
      ctx.tools.execute(tool, { bell: ctx.settings.bell, id: `${ctx.agent} ${name}` });
    ctx.setState({ turns: ctx.state.turns + 1 });
    const reply = ctx.reply();
    void reply.write("Hello. ");
    await ring("ring", "first");
    void reply.write("Going on. ");
    await ring("ring_again", "second");
    await ring("ring", "third");
    void reply.write(`Turn ${ctx.state.turns}, ${message.content}.`);
  },
});

/** Ends its process in the way that the message names, after it rang. */
const villain = (bell: string): Definition => ({
  settings: { bell: { type: "text", default: bell } },
  async onMessage({ content }, ctx) {
    await ctx.tools.execute("ring", { bell: ctx.settings.bell, id: "villain" });
    await ctx.send("I begin. ");
    const all: unknown[] = [];
    while (content === "spin");
    // It pauses, so that nothing but its memory ends it.
    for (; content === "memory"; await new Promise((resolve) => setTimeout(resolve, 0)))
      all.push(Array.from({ length: 1_000_000 }, () => 0.5));
    await ctx.tools.execute("ring_again", { bell: ctx.settings.bell, id: "villain second" });
    await ctx.send(`It is ${content}.`);
  },
});

const deployVillain = (name: string, comment = "") =>
  deployAgent(client, name, villain(testbed.bell.url), { capabilities: ["tools"], description: comment });

/** Slots that run code of user agents now. */
async function listBusy(): Promise<{ pid: number; owner: string }[]> {
  const { sandboxes = [] } = (await testbed.api("/health")).body as Health;
  return sandboxes.flatMap(({ pid = 0, agent }) => (agent === undefined ? [] : [{ pid, owner: agent }]));
}

/** Holds rings with these ids until it is released. */
function holdRings(isHeld: (id: string) => boolean) {
  let release = () => {};
  const promise = new Promise<void>((resolve) => (release = resolve));
  const held = new Set<string>();
  testbed.bell.onRing = ({ id }) => {
    if (!isHeld(id)) return;
    held.add(id);
    return promise;
  };
  return { held, release };
}

const countRings = (id: string) => testbed.bell.rings.filter((ring) => ring.id === id).length;

test.each([
  { how: "spin", neighbors: 9, reason: /blocked its process/ },
  { how: "memory", neighbors: 4, reason: /memory/ },
])(
  "$neighbors agents finish their turns although a neighbor ends their process ($how), each effect once",
  { timeout: 120_000 },
  async ({ how, neighbors, reason }) => {
    const names = Array.from({ length: neighbors }, (_, index) => `${how}-${index}`);
    const name = `villain-${how}`;
    await deployVillain(name);
    for (const each of names) await client.agents().create({ name: each, blueprint: "neighbor" });
    const { held, release } = holdRings((id) => id.endsWith(" second"));
    const talking = names.map((each) => runTurn(client, each, "one"));
    await waitUntil("all neighbors to be in the middle of their turns", () => held.size === neighbors);
    const busy = await listBusy();
    expect(busy).toEqual([{ pid: expect.any(Number), owner: "owner" }]);

    const failing = captureFailure(client, name, how);
    await waitUntil("the process to end", async () => !(await listBusy()).some(({ pid }) => pid === busy[0]?.pid), {
      timeoutMs: 60_000,
    });
    release();
    expect((await failing).message).toMatch(reason);
    const outcomes: Outcome[] = await Promise.all(talking);
    expect(outcomes.map(({ status, content }) => [status, content])).toEqual(
      names.map(() => ["completed", "Hello. Going on. Turn 1, one."]),
    );
    expect(await Promise.all(names.map((each) => readState(client, each)))).toEqual(names.map(() => ({ turns: 1 })));
    for (const each of names)
      for (const ring of ["first", "second", "third"])
        expect([each, ring, countRings(`global~${each} ${ring}`)]).toEqual([each, ring, 1]);
    expect(countRings("villain")).toBe(1);
    // Only the one at fault is kept apart.
    for (const each of [...names, name])
      expect([each, (await describeCode(client, each)).isApart]).toEqual([each, each === name]);
    expect((await describeCode(client, name)).lastError?.message).toMatch(reason);
  },
);

test("an agent that ended a process runs apart until its code changes", { timeout: 120_000 }, async () => {
  await deployVillain("apart");
  await client.agents().create({ name: "companion", blueprint: "neighbor" });
  expect((await captureFailure(client, "apart", "spin")).message).toMatch(/blocked its process/);
  expect((await describeCode(client, "apart")).isApart).toBe(true);
  expect(await countProcessesOfBoth()).toBe(2);
  // The same code with another description is still the same code.
  await deployVillain("apart", "More of it.");
  expect(await countProcessesOfBoth()).toBe(2);

  const changed = villain(testbed.bell.url);
  await deployAgent(client, "apart", { ...changed, state: { changed: true } }, { capabilities: ["tools"] });
  expect((await describeCode(client, "apart")).isApart).toBe(false);
  expect(await countProcessesOfBoth()).toBe(1);

  /** Counts the processes while both agents are in the middle of a turn. */
  async function countProcessesOfBoth(): Promise<number> {
    const { held, release } = holdRings((id) => id.endsWith(" second"));
    const talking = [ask(client, "apart", "fine"), ask(client, "companion", "two")];
    await waitUntil("both to be in the middle of a turn", () => held.size === 2);
    const processes = new Set((await listBusy()).map(({ pid }) => pid));
    release();
    expect((await Promise.all(talking))[0]).toBe("I begin. \n\nIt is fine.");
    return processes.size;
  }
});

test("agents of different owners never share a process, even if there are more owners than processes", async () => {
  const owners = ["owner", ...Array.from({ length: agentSlots + 1 }, (_, index) => `user-${index}`)];
  const clients = await Promise.all(
    owners.map(async (user) => {
      const body = { name: "t", user, scopes: ["admin" as const] };
      const { token } = await client.call("createToken", { body });
      return createClient({ url: testbed.host().url, token });
    }),
  );
  const agency = "team";
  for (const each of clients) {
    await each.call("createAgency", { body: { id: agency } });
    const options = { agency, capabilities: ["tools" as const], createAgent: false };
    await deployAgent(each, "neighbor", neighbor(testbed.bell.url), options);
    for (const name of ["one", "two"]) await each.agents(agency).create({ name, blueprint: "neighbor" });
  }
  /** Owners whose code has run in a process, by its pid. */
  const seen = new Map<number, Set<string>>();
  for (let round = 0; round < owners.length; round++) {
    const present = Array.from({ length: agentSlots }, (_, index) => (round + index) % owners.length);
    const { held, release } = holdRings((id) => id.endsWith(" second"));
    const talking = present.flatMap((index) =>
      ["one", "two"].map((name) => ask(clients[index] as Client, `${name}@${agency}`, String(round))),
    );
    await waitUntil("code of each of them to run", () => held.size === present.length * 2);
    const busy = await listBusy();
    expect(busy.map(({ owner }) => owner).toSorted()).toEqual(present.map((index) => owners[index]).toSorted());
    for (const { pid, owner } of busy) seen.set(pid, (seen.get(pid) ?? new Set()).add(owner));
    release();
    await Promise.all(talking);
  }
  expect([...seen.values()].map((ofProcess) => [...ofProcess]).filter(({ length }) => length !== 1)).toEqual([]);
  expect(seen.size).toBeGreaterThan(owners.length);
});
