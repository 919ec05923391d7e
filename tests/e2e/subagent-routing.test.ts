import { AgentClient } from "agents/client";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { WebSocket } from "ws";
import { waitUntil } from "../kit/wait-until.ts";
import type { Probe } from "../kit/worker/probe.ts";
import { openTestbed, type TestAgent, type Testbed } from "../kit/worker/testbed.ts";

// What the Agents SDK promises about facets, behind our guard, also after `kill -9`.

let testbed: Testbed;

beforeAll(async () => {
  testbed = await openTestbed({
    worker: new URL("../kit/worker/routing.worker.ts", import.meta.url),
    config: { maxFailuresPerMinute: 1000, turn: { heartbeatSeconds: 1, maxCrashes: 20, maxAttempts: 20 } },
    scripts: {
      default: [
        {
          when: '/^\\{"/',
          steps: [{ call: { tool: "probe", input: { request: "{{ message }}" } } }, { text: "{{ results.0 }}" }],
        },
        { when: "/^take your time$/", steps: [{ text: "Begun. " }, { wait: 3000 }, { text: "Done at last." }] },
        { steps: [{ text: "I heard: {{ message }}" }] },
      ],
    },
  });
});

afterAll(() => testbed?.stop());

/** Lets an agent or a facet below it do something, and returns the result. */
async function probe(agent: TestAgent, path: string[], method: string, ...args: unknown[]): Promise<any> {
  const { type, data } = await agent.say(JSON.stringify({ path, method, args } satisfies Probe));
  const { result = "" } = data as { result?: string };
  expect([method, type, result]).toEqual([
    method,
    "agent.completed",
    expect.stringMatching(/^(null|true|false|[[{"])/),
  ]);
  return JSON.parse(result);
}

const formatPath = (agent: TestAgent, path: readonly string[]) =>
  `/agents/think/global~${agent.name}${path.map((name) => `/sub/think/${encodeURIComponent(name)}`).join("")}`;

const readOver = async (agent: TestAgent, path: string[]) => {
  const { status, body } = await testbed.api(formatPath(agent, path));
  return [status, body];
};

/** Connects with the client that the Agents SDK publishes. */
function connect(agent: TestAgent, path: string[]) {
  const { token, port } = testbed.host();
  const frames: { type: string; text?: string; state?: { title?: string } }[] = [];
  const closes: number[] = [];
  const client = new AgentClient({
    agent: "think",
    name: `global~${agent.name}`,
    host: `127.0.0.1:${port}`,
    protocol: "ws",
    ...(path.length > 0 ? { path: path.map((name) => `sub/think/${name}`).join("/") } : {}),
    WebSocket: class extends WebSocket {
      constructor(address: string, protocols?: string[]) {
        super(address, protocols, { headers: { authorization: `Bearer ${token}` } });
      }
    },
    maxRetries: 0,
  } as never);
  client.addEventListener("message", ({ data }) => frames.push(JSON.parse(String(data))));
  client.addEventListener("close", ({ code }) => closes.push(code));
  onTestFinished(() => client.close());
  return { client, frames, closes };
}

async function newFamily(name: string): Promise<TestAgent> {
  const agent = await testbed.newAgent({ name });
  await probe(agent, [], "spawn", "child");
  await probe(agent, [], "spawn", "sibling");
  await probe(agent, ["child"], "spawn", "grandchild");
  return agent;
}

/** Runs the same checks on the running host and after a crash. */
async function checkAlsoAfterKill(check: (round: string) => Promise<void>): Promise<void> {
  await check("before");
  await testbed.restartMain();
  await check("after");
}

test("S3.1, 5–8: facets have their own storage, a registry, their path, and their parent one hop away", async () => {
  const agent = await newFamily("ada");
  const step = (name: string) => ({ className: "Think", name });
  const [root, child, grandchild] = ["global~ada", "child", "grandchild"].map(step);
  await checkAlsoAfterKill(async () => {
    expect(await probe(agent, [], "list")).toEqual(["child", "sibling"]);
    expect(await probe(agent, ["child"], "list")).toEqual(["grandchild"]);
    expect(await probe(agent, [], "has", "child")).toBe(true);
    expect(await probe(agent, [], "has", "grandchild")).toBe(false);
    expect(await probe(agent, [], "paths")).toEqual({ self: [root], parents: [] });
    expect(await probe(agent, ["child", "grandchild"], "paths")).toEqual({
      self: [root, child, grandchild],
      parents: [root, child],
    });
    // One hop: a grandchild gets the child, not the root; and only as the class that it is.
    expect(await probe(agent, ["child", "grandchild"], "askParent")).toEqual({ self: [root, child], parents: [root] });
    expect(await probe(agent, ["child"], "askParent")).toEqual({ self: [root], parents: [] });
    expect(await probe(agent, ["child"], "askOther")).toMatch(/^Error: .*Think/);
    expect(await probe(agent, [], "askOther")).toMatch(/^Error/);
  });
  // Its own SQLite: nothing that one writes is in another.
  const threads = async (path: string[]) =>
    (await probe(agent, path, "query", "SELECT count(*) AS n FROM probe_notes"))[0].n as number;
  await probe(agent, ["child"], "notes");
  await probe(agent, ["sibling"], "notes");
  await probe(agent, ["child"], "schedule", 0, "mine");
  await waitUntil("the note", async () => (await threads(["child"])) === 1);
  expect(await threads(["sibling"])).toBe(0);
});

test("S3.2, 3: a request passes the gate of each parent, which may let it pass, change it or answer it", async () => {
  const agent = await newFamily("bea");
  await probe(agent, [], "spawn", "changed");
  await probe(agent, [], "spawn", "answered");
  await checkAlsoAfterKill(async () => {
    // The first request after the kill wakes the root first.
    expect(await readOver(agent, ["child"])).toEqual([200, { name: "child", probe: null }]);
    expect(await readOver(agent, ["child", "grandchild"])).toEqual([200, { name: "grandchild", probe: null }]);
    expect(await readOver(agent, ["changed"])).toEqual([200, { name: "changed", probe: "from the gate" }]);
    expect(await readOver(agent, ["answered"])).toEqual([418, "The gate says no."]);
    for (const path of [["nobody"], ["child", "nobody"], ["nobody", "grandchild"], ["a.b"], ["ä b"], ["a/b"]]) {
      expect([path, (await testbed.api(formatPath(agent, path))).status]).toEqual([path, 404]);
    }
    expect((await probe(agent, [], "list")).toSorted()).toEqual(["answered", "changed", "child", "sibling"]);
  });
  const notes = async (path: string[]) => (await probe(agent, path, "notes")) as string[];
  expect((await notes([])).filter((note) => note === "gate child")).toHaveLength(6);
  expect(await notes(["child"])).toEqual(["gate grandchild", "gate nobody", "gate grandchild", "gate nobody"]);
});

test("S3.4, 9: frames reach only their facet, past the gate once; so do its broadcasts, state and servers its clients", async () => {
  const agent = await newFamily("cid");
  await checkAlsoAfterKill(async (round) => {
    const paths = [[], ["child"], ["sibling"], ["child", "grandchild"]];
    const all = paths.map((path) => connect(agent, path));
    const [root, child, sibling, grandchild] = all as [
      (typeof all)[0],
      (typeof all)[0],
      (typeof all)[0],
      (typeof all)[0],
    ];
    const countGates = async () =>
      ((await probe(agent, [], "notes")) as string[]).filter((note) => note === "gate sibling").length;
    await Promise.all(all.map(({ client }) => client.ready));
    await waitUntil("the state", () => all.every(({ frames }) => frames.some(({ type }) => type === "cf_agent_state")));
    const gates = await countGates();
    sibling.client.send(JSON.stringify({ type: "chat", id: `${round}-1`, content: `hello ${round}` }));
    await waitUntil("the answer", () => JSON.stringify(sibling.frames).includes(`I heard: hello ${round}`));
    sibling.client.send(JSON.stringify({ type: "chat", id: `${round}-2`, content: `again ${round}` }));
    await waitUntil("the answer", () => JSON.stringify(sibling.frames).includes(`I heard: again ${round}`));
    expect(await countGates()).toBe(gates);
    for (const { frames } of [root, child, grandchild])
      expect(JSON.stringify(frames)).not.toContain(`I heard: hello ${round}`);

    await probe(agent, ["child"], "broadcast", `only here ${round}`);
    await probe(agent, ["child"], "setTitle", `Title ${round}`);
    const countServers = ({ frames }: typeof child) =>
      frames.filter(({ type }) => type === "cf_agent_mcp_servers").length;
    const before = all.map(countServers);
    await probe(agent, ["child"], "showServers");
    await waitUntil("the servers", () => countServers(child) > (before[1] ?? 0));
    await waitUntil("the title", () => child.frames.some(({ state }) => state?.title === `Title ${round}`));
    expect(child.frames.filter(({ text }) => text === `only here ${round}`)).toHaveLength(1);
    // A broadcast of the root, sent last, reaches only its own clients too.
    await probe(agent, [], "broadcast", `root ${round}`);
    await waitUntil("the root's", () => root.frames.some(({ text }) => text === `root ${round}`));
    for (const one of [root, sibling, grandchild]) {
      const isOfChild = ({ type, text, state }: (typeof one.frames)[0]) =>
        (type === "probe" && text?.startsWith("only")) || state?.title?.startsWith("Title");
      expect(one.frames.filter(isOfChild)).toEqual([]);
      expect(countServers(one)).toBe(before[all.indexOf(one)]);
    }
    expect(JSON.stringify(child.frames)).not.toContain(`root ${round}`);
    for (const { client } of all) client.close();
  });
});

test("the published client is refused for a facet that is not registered, and closed when its facet is deleted", async () => {
  const agent = await newFamily("dan");
  await checkAlsoAfterKill(async (round) => {
    const refused = connect(agent, ["nobody"]);
    await waitUntil("the refusal", () => refused.closes.length > 0);
    expect([refused.closes, refused.frames]).toEqual([[4404], []]);
    expect(await probe(agent, [], "has", "nobody")).toBe(false);

    await probe(agent, [], "spawn", round);
    const child = connect(agent, [round]);
    await child.client.ready;
    await probe(agent, [], "remove", round);
    // The event follows when the connection has ended, which can take workerd some seconds.
    await waitUntil("the close", () => child.client.readyState !== WebSocket.OPEN);
    expect((await readOver(agent, [round]))[0]).toBe(404);
  });
});

test("S3.10–12: a facet's schedules are kept by the root, run in the facet, and survive a kill", async () => {
  const agent = await newFamily("eve");
  const path = ["child", "grandchild"];
  const later = await probe(agent, path, "schedule", 3600, "later");
  const soon = await probe(agent, path, "schedule", 2, "soon");
  const often = await probe(agent, path, "every", 1, "often");
  const jobs = async (at: string[]) =>
    (await probe(agent, at, "query", "SELECT * FROM cf_agents_jobs")).filter((row: object) =>
      JSON.stringify(row).includes("note"),
    );
  expect(JSON.stringify(await jobs([]))).toMatch(/owner_path.*child.*grandchild/);
  expect(await jobs(path)).toEqual([]);
  // As if the kill came while the interval ran: it must not count as still running after the restart.
  const started = Date.now();
  await probe(
    agent,
    [],
    "query",
    `UPDATE cf_agents_jobs SET running = 1, execution_started_at = ${started} WHERE payload LIKE '%often%'`,
  );
  await testbed.restartMain();
  const count = async (label: string) =>
    ((await probe(agent, path, "notes")) as string[]).filter((note) => note === label).length;
  const countedBefore = await count("often");
  // A schedule whose run the kill cut off runs again.
  await waitUntil("both to run", async () => (await count("soon")) >= 1 && (await count("often")) > countedBefore + 1);
  expect(await probe(agent, path, "listAll")).toEqual(expect.arrayContaining([later, often]));
  expect(await probe(agent, path, "listAll")).not.toContain(soon);
  expect(await probe(agent, path, "getById", later)).toBe("later");
  // Another facet neither sees nor cancels them.
  expect(await probe(agent, ["sibling"], "listAll")).toEqual([]);
  expect(await probe(agent, ["sibling"], "getById", later)).toBeNull();
  expect(await probe(agent, ["sibling"], "cancel", later)).toBe(false);
  expect(await probe(agent, path, "cancel", later)).toBe(true);
  expect(await probe(agent, path, "cancel", often)).toBe(true);
  expect(await probe(agent, path, "listAll")).toEqual([]);
  expect(await probe(agent, ["sibling"], "notes")).toEqual([]);
  for (const error of await probe(agent, path, "readSync"))
    expect(error).toMatch(/^Error: .*(getScheduleById|listSchedules)/);
});

test("S3.13, 14: facets can stay awake and run fibers, whose rows are theirs and which recover after a kill", async () => {
  const agent = await newFamily("fay");
  await checkAlsoAfterKill(async () => expect(await probe(agent, ["child"], "keepAwake")).toBe("done"));
  await probe(agent, ["child"], "startFiber", "job");
  await waitUntil("the fiber", async () =>
    ((await probe(agent, ["child"], "notes")) as string[]).includes("job started"),
  );
  expect(await probe(agent, ["child"], "query", "SELECT name FROM cf_agents_runs")).toEqual([{ name: "job" }]);
  expect(await probe(agent, [], "query", "SELECT name FROM cf_agents_runs")).toEqual([]);
  expect(JSON.stringify(await probe(agent, [], "query", "SELECT * FROM cf_agents_facet_runs"))).toContain("child");
  await testbed.restartMain();
  await waitUntil("the recovery", async () =>
    ((await probe(agent, ["child"], "notes")) as string[]).includes('job recovered {"step":7}'),
  );
  expect(await probe(agent, ["child"], "query", "SELECT name FROM cf_agents_runs")).toEqual([]);
  await waitUntil(
    "the index to be empty",
    async () => (await probe(agent, [], "query", "SELECT * FROM cf_agents_facet_runs")).length === 0,
  );
});

test("S3.15: a facet's turn that a kill cut off goes on", async () => {
  const agent = await newFamily("gus");
  const child = connect(agent, ["child"]);
  await child.client.ready;
  child.client.send(JSON.stringify({ type: "chat", id: "slow", content: "take your time" }));
  await waitUntil("the beginning", () => JSON.stringify(child.frames).includes("Begun."));
  await testbed.restartMain();
  const { body } = await waitUntil("the end", async () => {
    const messages = await testbed.api("/agents/gus/sub/child/messages");
    return JSON.stringify(messages.body).includes("Done at last.") ? messages : undefined;
  });
  expect(body.messages.map(({ role }: { role: string }) => role)).toEqual(["user", "assistant"]);
});

test("S3.16: deleting is idempotent, and ends the schedules and fibers of everyone below", async () => {
  const agent = await newFamily("hal");
  const countJobs = async () =>
    (await probe(agent, [], "query", "SELECT * FROM cf_agents_jobs")).filter((row: object) =>
      /"note\b|callback[^}]*note/.test(JSON.stringify(row)),
    ).length;
  await probe(agent, ["child"], "every", 1, "child");
  await probe(agent, ["child", "grandchild"], "every", 1, "grandchild");
  await probe(agent, ["sibling"], "every", 3600, "sibling");
  await probe(agent, ["child", "grandchild"], "startFiber", "job");
  expect(await countJobs()).toBe(3);
  await testbed.restartMain();
  await probe(agent, [], "remove", "child");
  await probe(agent, [], "remove", "child");
  expect(await probe(agent, [], "list")).toEqual(["sibling"]);
  expect(await countJobs()).toBe(1);
  expect(await probe(agent, [], "query", "SELECT * FROM cf_agents_facet_runs")).toEqual([]);
  await testbed.restartMain();
  expect(await probe(agent, [], "list")).toEqual(["sibling"]);
  // A new one under the old name has nothing of the old one.
  await probe(agent, [], "spawn", "child");
  expect(await probe(agent, ["child"], "notes")).toEqual([]);
  expect(await probe(agent, ["child"], "list")).toEqual([]);
});

test("S3.17: a class whose name is the separator of paths is refused", async () => {
  const agent = await testbed.newAgent({ name: "ida" });
  await checkAlsoAfterKill(async () =>
    expect(await probe(agent, [], "spawnSub")).toMatch(/^Error: .*"Sub" kebab-cases to "sub"/),
  );
});
