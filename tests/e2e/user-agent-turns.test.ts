import type { AgentContext } from "@thinkery/sdk/agent";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { HostProcess } from "../kit/host-process.ts";
import { readEvents } from "../kit/sse.ts";
import { ask, askJson, deployAgent, listMessages, readState, startAgentHost } from "../kit/user-agent.ts";
import { waitUntil } from "../kit/wait-until.ts";

// How messages to an agent's code become turns: one by one, together, or at the same time.

let host: HostProcess;

beforeAll(async () => {
  host = await startAgentHost();
});

afterAll(() => host?.stop());

/** Handles a message: notes that it began, and says what it was when the file `go` exists. */
const gated = {
  async onMessage({ content }: { content: string }, ctx: AgentContext) {
    ctx.log.info(`began ${content}`);
    while (!(await ctx.fs.exists("go"))) await new Promise((resolve) => setTimeout(resolve, 10));
    const texts = (list: readonly { content: string }[]) => list.map((message) => message.content).join("+");
    await ctx.send(`${texts(ctx.messages)} after ${texts(ctx.conversation)}`);
  },
};

const deployGated = (name: string, options: { batch?: boolean } = {}) =>
  deployAgent(host.client, name, { ...gated, ...options }, { capabilities: ["fs"] });

const waitForBeginning = (agent: string, message: string) =>
  waitUntil(`${message} to begin`, async () => {
    const { logs } = await host.client.call("listAgentLogs", { params: { agency: "global", agent } });
    return logs.some(({ text }) => text === `began ${message}`);
  });

/** Lets all handlers of an agent go on. */
const open = (agent: string) => host.client.agent(agent).putFile("go", "");

async function post(path: string, body: object): Promise<Response> {
  const headers = { authorization: `Bearer ${host.token}`, "content-type": "application/json" };
  return fetch(host.url + path, { method: "POST", headers, body: JSON.stringify(body) });
}

test("/serve returns everything that was said, with tool calls; /run streams it", async () => {
  const { client } = host;
  await deployAgent(
    client,
    "served",
    {
      async onMessage({ content }, ctx) {
        const reply = ctx.reply();
        await reply.write("One ");
        await reply.write(await ctx.tools.execute("bash", { command: `echo ${content}` }));
        await reply.end();
        await ctx.send("Two");
      },
    },
    { capabilities: ["tools"] },
  );
  const served = await post("/serve", { agent: "served", message: "hi" });
  const call = { name: "bash", input: { command: "echo hi" }, output: "hi" };
  expect([served.status, await served.json()]).toMatchObject([
    200,
    { content: "One hi\n\nTwo", toolCalls: [call], outcomes: [{ status: "completed" }] },
  ]);
  const events: [string, Record<string, unknown>][] = [];
  for await (const { type, data } of readEvents(await post("/run", { agent: "served", message: "ho" })))
    events.push([type, JSON.parse(data)]);
  const kinds = events.map(([type]) => type).filter((type, index, all) => type !== all[index - 1]);
  expect(kinds).toEqual(["chunk", "tool_call", "tool_result", "chunk", "done"]);
  const chunks = events.flatMap(([type, data]) => (type === "chunk" ? [JSON.stringify(data)] : []));
  expect(chunks.join("")).toMatch(/One .*ho.*Two/s);
  expect(events.at(-1)?.[1]).toMatchObject({ agent: "served" });
});

test("several messages that are sent as one are one: the earlier ones are what was said before", async () => {
  await deployAgent(host.client, "bundled", {
    async onMessage({ content }, ctx) {
      const before = ctx.conversation.map((message) => `${message.role} ${message.content}`);
      await ctx.send(JSON.stringify([content, ctx.messages.length, before]));
    },
  });
  const messages = ["one", "two", "three"].map((content, index) => ({
    role: index === 1 ? ("assistant" as const) : ("user" as const),
    content,
  }));
  expect(await askJson(host.client, "bundled", { messages })).toEqual(["three", 1, ["user one", "assistant two"]]);
});

test("a message of a schedule is from the host", async () => {
  const { client } = host;
  await deployAgent(client, "woken", { onMessage: (message, ctx) => ctx.send(JSON.stringify(message.sender)) });
  const { id } = await client.agent("woken").schedules().create({ when: 3600, input: "Wake up." });
  const params = { agency: "global", agent: "woken" };
  await client.call("runSchedule", { params: { ...params, schedule: id } });
  const said = await waitUntil("a reply", async () => (await listMessages(client, "woken"))[1]);
  expect(JSON.parse(said[2] ?? "")).toMatchObject({ id: "owner", type: "host" });
});

test("messages wait for each other, in the order in which they came, with their position", async () => {
  const { client } = host;
  await deployGated("queued");
  const params = { agency: "global", agent: "queued" };
  const admissions = [];
  for (const message of ["a", "b", "c"]) admissions.push(await client.call("invoke", { params, body: { message } }));
  expect(admissions.map(({ position }) => position)).toEqual([0, 1, 2]);
  await waitForBeginning("queued", "a");
  expect((await client.agent("queued").state()).run.runId).toBe(admissions[0]?.runId);
  await open("queued");
  expect(await ask(client, "queued", "d")).toBe(
    "d after a+a after +b+b after a+a after +c+c after a+a after +b+b after a+a after ",
  );
  const { logs } = await client.call("listAgentLogs", { params });
  expect(logs.map(({ text }) => text)).toEqual(["a", "b", "c", "d"].map((name) => `began ${name}`));
});

test("a message that is steered into a turn is handled after the current one, in the same turn", async () => {
  const { client } = host;
  await deployGated("steered");
  const agent = client.agent("steered");
  const turn = await agent.send("a");
  await waitForBeginning("steered", "a");
  const queued = await agent.send("later");
  const steered = await agent.send({ message: "b", mode: "steer" });
  const last = await agent.send({ message: "c", mode: "steer" });
  expect([steered.runId, last.runId]).toEqual([turn.runId, turn.runId]);
  await open("steered");
  expect((await turn.outcome()).content).toBe(
    "a after \n\nb after a+a after \n\nc after a+a after +b+b after a+a after ",
  );
  expect((await steered.outcome()).runId).toBe(turn.runId);
  expect((await queued.outcome()).content).toMatch(/^later after a\+a after \+b/);
});

test("an agent that batches gets all messages that wait at once, the last one as the current one", async () => {
  const { client } = host;
  await deployGated("batcher", { batch: true });
  const agent = client.agent("batcher");
  const turns = [await agent.send("a")];
  await waitForBeginning("batcher", "a");
  for (const message of ["b", "c"]) turns.push(await agent.send(message));
  expect(turns[2]?.runId).toBe(turns[1]?.runId);
  // Steered ones are handled together, too, and before those.
  for (const message of ["s", "t"]) await agent.send({ message, mode: "steer" });
  await open("batcher");
  const contents = await Promise.all(turns.map(async (turn) => (await turn.outcome()).content));
  const first = "a after \n\ns+t after a+a after ";
  expect(contents.slice(0, 2)).toEqual([first, `b+c after a+a after +s+t+${"s+t after a+a after "}`]);
  expect(contents[2]).toBe(contents[1]);
  const { logs } = await client.call("listAgentLogs", { params: { agency: "global", agent: "batcher" } });
  expect(logs.map(({ text }) => text)).toEqual(["began a", "began t", "began c"]);
});

test("messages of different turns are handled at the same time, as many as the agent allows", async () => {
  const { client } = host;
  await deployAgent(
    client,
    "concurrent",
    {
      concurrency: 4,
      async onMessage({ content }, ctx) {
        const shared = globalThis as unknown as { running?: number; peak?: number };
        shared.running = (shared.running ?? 0) + 1;
        shared.peak = Math.max(shared.peak ?? 0, shared.running);
        const reply = ctx.reply();
        await reply.write(`begin ${content}, `);
        if (content !== "warm") {
          // Nobody goes on before four of them are here.
          while ((shared.peak ?? 0) < 4) await new Promise((resolve) => setTimeout(resolve, 5));
        }
        await reply.write(`${await ctx.tools.execute("bash", { command: `echo ${content}` })}, `);
        ctx.setState({ [content]: true });
        await ctx.storage.set(content, content);
        await reply.write(`end ${content}`);
        shared.running--;
        ctx.log.info(String(shared.peak));
      },
    },
    { capabilities: ["tools"] },
  );
  await ask(client, "concurrent", "warm");
  const names = Array.from({ length: 10 }, (_, index) => `m${index}`);
  const contents = await Promise.all(names.map((name) => ask(client, "concurrent", name)));
  expect(contents).toEqual(names.map((name) => `begin ${name}, ${name}, end ${name}`));
  const { logs } = await client.call("listAgentLogs", { params: { agency: "global", agent: "concurrent" } });
  expect(logs.at(-1)?.text).toBe("4");
  // Each has changed its own key.
  expect(Object.keys((await readState(client, "concurrent")) as object).toSorted()).toEqual([...names, "warm"]);
  const rows = await listMessages(client, "concurrent");
  expect(new Set(rows.map(([, status]) => status))).toEqual(new Set(["complete"]));
  expect(rows.filter(([role]) => role === "tool")).toHaveLength(11);
});

test("a stopped agent cancels its turn and takes no messages; started again, it handles those that waited", async () => {
  const { client } = host;
  await deployGated("stopped");
  const agent = client.agent("stopped");
  const turn = await agent.send("a");
  await waitForBeginning("stopped", "a");
  const waiting = await agent.send("b");
  await agent.stop();
  expect((await turn.outcome()).status).toBe("canceled");
  await expect(agent.send("c")).rejects.toMatchObject({ code: "conflict" });
  await open("stopped");
  await agent.start();
  expect((await waiting.outcome()).content).toBe("b after a");
});

test("the messages of a conversation that was cleared are gone for the code, and its state stays", async () => {
  const { client } = host;
  await deployAgent(client, "cleared", {
    async onMessage(_, ctx) {
      ctx.setState({ count: (ctx.state.count ?? 0) + 1 });
      const earlier = await ctx.history.read({ before: ctx.message.id });
      await ctx.send(`${ctx.conversation.length} ${earlier.length} ${ctx.state.count}`);
    },
  });
  expect(await ask(client, "cleared")).toBe("0 0 1");
  expect(await ask(client, "cleared")).toBe("2 2 2");
  await client.call("clearMessages", { params: { agency: "global", agent: "cleared" } });
  expect(await ask(client, "cleared")).toBe("0 0 3");
});
