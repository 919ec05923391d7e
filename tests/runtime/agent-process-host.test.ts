import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { waitUntil } from "../kit/wait-until.ts";
import { startAgentHost } from "./agent-process-host.ts";
import type { SendOptions } from "./agent-process-request.ts";

// The processes of user agents under the real daemon: what their requests share, and how they end.

let host: Awaited<ReturnType<typeof startAgentHost>>;
let lastOwner = 0;

beforeAll(async () => {
  host = await startAgentHost({ agentSlots: 2, sandbox: { stallTimeoutSeconds: 3, memoryMb: 64 } });
});

afterAll(() => host?.stop());

interface Sent {
  outcome?: { ok: boolean; status: number };
  logged?: string[];
  lost?: string;
  rejected?: string;
}

const get = async (path: string) => (await fetch(`${host.url}/${path}`)).json() as Promise<any>;

const message = {
  id: "1",
  content: "Hello",
  attachments: [],
  sender: { id: "u", name: "Ann", type: "user" },
  timestamp: "",
};
const payload = {
  agent: "global~a",
  settings: {},
  state: {},
  tools: [],
  capabilities: [],
  message,
  messages: [message],
  conversation: [],
  hasEarlier: false,
};

const createCode = (body: string) =>
  `import { defineAgent } from "/thinkery/sdk.js";\nlet count = 0;\nexport default defineAgent({ async onMessage(message, ctx) {\n${body}\n} });`;

const code = {
  /** Waits at a host call until `open`. */
  hold: createCode(`await ctx.fetch("http://gate.test/");`),
  echo: createCode(`ctx.log.info("done");`),
  spin: createCode("for (;;);"),
  exhaust: createCode("const kept = []; for (;;) kept.push(new Array(1_000_000).fill(0.5));"),
};

/** An owner of its own, whose agents are named. */
function createOwner() {
  const owner = `owner-${++lastOwner}`;
  const nameObject = (agent: string) => `${owner}-${agent}`;
  const send = async (agent: string, body: string, more: Partial<SendOptions> = {}): Promise<Sent> => {
    const options = { owner, code: body, isolateId: `${agent}.${body.length}`, payload, ...more };
    const response = await fetch(`${host.url}/send/${nameObject(agent)}`, {
      method: "POST",
      body: JSON.stringify(options),
    });
    return response.ok ? ((await response.json()) as Sent) : { rejected: await response.text() };
  };
  const open = (agent: string) => get(`open/${nameObject(agent)}`);
  /** Sends requests that wait at their gates. Resolves when they do. */
  const hold = async (agents: string[], more: Partial<SendOptions> = {}) => {
    const sent = agents.map((agent) => send(agent, code.hold, more));
    onTestFinished(() => Promise.all(agents.map(open)).then(() => {}));
    const isHeld = async () => {
      const counts = await Promise.all(agents.map((agent) => get(`count/${nameObject(agent)}`)));
      return counts.every((count) => count > 0);
    };
    const ended = Promise.race(sent).then((first) => {
      throw new Error(`A request did not wait: ${JSON.stringify(first)}`);
    });
    ended.catch(() => {});
    await Promise.race([waitUntil("the requests to wait", isHeld), ended]);
    return sent;
  };
  const describe = () => get(`describe/${owner}`);
  return { owner, send, hold, open, describe, die: (agent: string) => get(`die/${nameObject(agent)}`) };
}

const done = { outcome: { ok: true, status: 200 }, logged: ["done"] };

/** Returns the generation of the process that an owner's requests are in. */
async function findGeneration(owner: string): Promise<string> {
  const processes = (await get("processes")) as { generation: number; owner?: string }[];
  const index = processes.findIndex((process) => process.owner === owner);
  return `${index}:${processes[index]?.generation}`;
}

const names = (count: number) => Array.from({ length: count }, (_, index) => `agent-${index}`);

test.each([
  ["silence", code.spin],
  ["memory", code.exhaust],
] as const)(
  "when ten agents lose their process, all learn that the cause is %s, and can go on",
  async (cause, body) => {
    const { owner, send, hold } = createOwner();
    const waiting = await hold(names(9));
    const [index, generation] = (await findGeneration(owner)).split(":").map(Number);
    const all = await Promise.all([...waiting, send("culprit", body)]);
    expect(all).toEqual(Array.from({ length: 10 }, () => ({ lost: cause })));
    const next = await Promise.all([...names(9), "culprit"].map((agent) => send(agent, code.echo)));
    expect(next).toMatchObject(Array.from({ length: 10 }, () => done));
    // Its successor was not taken for it by any of them.
    expect((await get("processes"))[index as number].generation).toBe((generation as number) + 1);
  },
);

test("the requests of other agents survive when the holder of one vanishes, whose code is stopped", async () => {
  const { owner, send, hold, open, die } = createOwner();
  const [held] = await hold(["other"]);
  const counting = createCode(
    `if (ctx.state.read) return void ctx.log.info(String(count));
     for (;;) { count++; await new Promise((resolve) => setTimeout(resolve, 1)); }`,
  );
  const read = async () => {
    const { logged } = await send("reader", counting, {
      isolateId: "counting.1",
      payload: { ...payload, state: { read: true } },
    });
    return Number(logged?.[0]);
  };
  const vanishing = send("vanishing", counting, { isolateId: "counting.1" });
  await waitUntil("the code to count", async () => (await read()) > 0);
  const generation = await findGeneration(owner);
  await die("vanishing");
  await vanishing;
  await waitUntil("the code to stop", async () => (await read()) === (await read()));
  expect(await findGeneration(owner)).toBe(generation);
  await open("other");
  expect(await held).toMatchObject({ outcome: { ok: true } });
});

test("a busy process does not collect the isolates of all versions, and its requests go on", async () => {
  const { owner, send, hold, open, describe } = createOwner();
  const [held] = await hold(["busy"]);
  const first = await findGeneration(owner);
  expect(await describe()).toEqual({ agents: 1, memoryBytes: expect.any(Number) });
  let maxAgents = 0;
  for (let version = 0; version < 100; version++) {
    expect(await send("changing", code.echo, { isolateId: `changing.${version}` })).toMatchObject(done);
    maxAgents = Math.max(maxAgents, ((await describe()) as { agents: number }).agents);
  }
  expect(maxAgents).toBe(80);
  expect(((await describe()) as { agents: number }).agents).toBe(21);
  await open("busy");
  expect(await held).toMatchObject({ outcome: { ok: true } });
  const replaced = Number(first.split(":")[1]) + 1;
  const index = Number(first.split(":")[0]);
  await waitUntil("the process to be replaced", async () => (await get("processes"))[index].generation === replaced);
});

test("an agent that runs alone has a process of its own, which is forgotten with it or with its owner", async () => {
  const { owner, hold, send } = createOwner();
  const [shared] = await hold(["other"]);
  const [alone] = await hold(["suspect"], { isAlone: true });
  expect(((await get("processes")) as { owner?: string }[]).map((process) => process.owner)).toEqual([owner, owner]);
  await get(`forget/${owner}/suspect`);
  expect(await alone).toEqual({ lost: "asked" });
  expect(await send("other", code.echo)).toMatchObject(done);
  const [again] = await hold(["suspect"], { isAlone: true });
  await get(`forget/${owner}`);
  expect([await shared, await again]).toEqual([{ lost: "asked" }, { lost: "asked" }]);
  expect(await get(`describe/${owner}`)).toBeNull();
  expect(await send("other", code.echo)).toMatchObject(done);
});

test("a request that is too large to send does not end the process", async () => {
  const { send, hold, open } = createOwner();
  const [held] = await hold(["other"]);
  const large = await send("large", code.echo, { payload: { ...payload, settings: { text: "x".repeat(11_000_000) } } });
  expect(large).toEqual({ rejected: expect.stringContaining("the limit is 10485760") });
  await open("other");
  expect(await held).toMatchObject({ outcome: { ok: true } });
});
