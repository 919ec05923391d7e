import type { AgentContext } from "@thinkery/sdk/agent";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { HostProcess } from "../kit/host-process.ts";
import { type Answer, type ModelServer, openModelServer, type RecordedRequest } from "../kit/model-server.ts";
import {
  ask,
  askJson,
  deployAgent,
  describeCode,
  listMessages,
  putSettings,
  runTurn,
  startAgentHost,
} from "../kit/user-agent.ts";
import { waitUntil } from "../kit/wait-until.ts";

// How the code of an agent uses models, as a model server receives it.

let server: ModelServer;
let host: HostProcess;

beforeAll(async () => {
  server = await openModelServer({ models: ["main", "fast", "claude-sonnet-4-5"] });
  host = await startAgentHost({
    config: {
      model: "box:main",
      models: { fast: "box:fast" },
      providers: { box: { baseUrl: `${server.url}/v1` }, wise: { baseUrl: `${server.url}/v1`, wire: "messages" } },
      prices: { "box:main": { input: 1000, output: 1000 } },
    },
  });
});

afterAll(async () => {
  await host?.stop();
  await server?.stop();
});

/** Deploys an agent that may use models and tools, and returns how to ask it and which requests it made then. */
async function deploy(name: string, onMessage: (message: { content: string }, ctx: AgentContext) => unknown) {
  await deployAgent(host.client, name, { onMessage: onMessage as never }, { capabilities: ["ai", "tools"] });
  return async (answers: Answer[] | ((request: RecordedRequest) => Answer), message = "Hello.") => {
    server.answer(answers);
    const before = server.countCalls();
    const result = await askJson(host.client, name, message);
    return { result, requests: server.listRequests().slice(before) };
  };
}

const call = (name: string, input: object): Answer => ({ toolCalls: [{ name, input }] });

/** What a request contains of the conversation: roles and texts. */
const toRows = ({ body }: RecordedRequest) =>
  (body.messages as { role: string; content: unknown }[]).map(({ role, content }) => [role, content]);

test("a stream yields thoughts, text and the end with what was used; the request has every option", async () => {
  const run = await deploy("streamer", async (_, ctx) => {
    const events: unknown[] = [];
    const options = { system: "Be brief.", temperature: 0.3, maxOutputTokens: 77, reasoningEffort: "high" as const };
    for await (const event of ctx.ai.stream({ prompt: "Who?", ...options })) events.push(event);
    await ctx.send(JSON.stringify(events));
  });
  const usage = { input: 30, output: 7 };
  const { result, requests } = await run([{ reasoning: "Hm.", text: "I am it.", usage }]);
  expect(result).toEqual([
    { type: "thinking", text: "Hm." },
    { type: "text", text: "I am it." },
    { type: "finish", reason: "stop", usage: { inputTokens: 30, outputTokens: 7 } },
  ]);
  expect(requests).toHaveLength(1);
  expect(requests[0]?.body).toMatchObject({
    model: "main",
    temperature: 0.3,
    reasoning_effort: "high",
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: "Who?" },
    ],
  });
  expect(JSON.stringify(requests[0]?.body)).toMatch(/"max_(completion_)?tokens":77/);
  expect(requests[0]?.body).not.toHaveProperty("tools");
});

test("text arrives while the model still writes it", async () => {
  const { client } = host;
  await deployAgent(
    client,
    "relay",
    {
      async onMessage(_, ctx) {
        const reply = ctx.reply();
        for await (const event of ctx.ai.stream({ prompt: "Go." }))
          if (event.type === "text") await reply.write(event.text);
      },
    },
    { capabilities: ["ai"] },
  );
  server.answer({ text: ["One ", "two"], fault: { kind: "stall", phase: "text" } });
  const turn = await client.agent("relay").send("Hello.");
  const texts: string[] = [];
  for await (const event of turn) {
    if (event.type !== "text") continue;
    texts.push(event.text);
    server.release();
  }
  expect(texts.join("")).toBe("One two");
  expect(texts.length).toBeGreaterThan(1);
});

test("a role, a model by its id, and the standard settings choose model and options", async () => {
  const { client } = host;
  await deployAgent(
    client,
    "chooser",
    {
      settings: {
        model: { type: "select", options: "$roles", default: "fast" },
        temperature: { type: "number", default: 0.7 },
        maxOutputTokens: { type: "number", default: 500 },
        thinkingBudget: { type: "number", default: 0 },
      },
      async onMessage({ content }, ctx) {
        if (content === "settings") return ctx.send(await ctx.ai.generate("x"));
        await ctx.send(await ctx.ai.generate({ prompt: "x", model: content, temperature: 0.1, maxOutputTokens: 9 }));
      },
    },
    { capabilities: ["ai"] },
  );
  const readRequest = async (message: string) => {
    server.answer({ text: "Yes." });
    await ask(client, "chooser", message);
    return server.listRequests().at(-1)?.body;
  };
  expect(await readRequest("settings")).toMatchObject({ model: "fast", temperature: 0.7 });
  await putSettings(client, "chooser", { model: "primary", temperature: 0.2 });
  expect(await readRequest("settings")).toMatchObject({ model: "main", temperature: 0.2 });
  expect(await readRequest("primary")).toMatchObject({ model: "main", temperature: 0.1 });
  expect(await readRequest("box:fast")).toMatchObject({ model: "fast", temperature: 0.1 });
  await putSettings(client, "chooser", { thinkingBudget: 4000, maxOutputTokens: 9000 });
  expect(await readRequest("wise:claude-sonnet-4-5")).toMatchObject({
    model: "claude-sonnet-4-5",
    thinking: { type: "enabled", budget_tokens: 4000 },
  });
});

test("a thinking budget of the call reaches the provider, and signed thoughts go back with the results", async () => {
  const run = await deploy("sage", async (_, ctx) => {
    const options = { model: "wise:claude-sonnet-4-5", thinking: { budgetTokens: 3000 }, maxOutputTokens: 8000 };
    await ctx.send(JSON.stringify(await ctx.ai.generate({ prompt: "Think.", tools: ctx.tools, ...options })));
  });
  const { result, requests } = await run([
    { reasoning: "I look.", ...call("bash", { command: "echo seen" }) },
    { text: "Seen." },
  ]);
  expect(result).toBe("Seen.");
  expect(requests.map(({ body }) => body.thinking)).toEqual(
    [3000, 3000].map((budget_tokens) => ({ type: "enabled", budget_tokens })),
  );
  expect(JSON.stringify(requests[1]?.body.messages)).toContain('"signature":"signed-thoughts"');
  expect(requests[1]?.results).toMatchObject([{ content: "seen" }]);
});

test("tools are executed between the steps; the caller's list of messages has it all", async () => {
  const run = await deploy("stepper", async (_, ctx) => {
    const messages = [{ role: "user" as const, content: "Add." }];
    // It has more tools than it offers.
    const own = {
      name: "add",
      description: "Adds.",
      parameters: { type: "object", properties: { a: { type: "number" } } },
      execute: ({ a }: { a: number }) => {
        if (a < 0) throw new RangeError("Too small.");
        return { sum: a + 1 };
      },
    };
    const bash = ctx.tools.filter(({ name }) => name === "bash");
    const text = await ctx.ai.generate({ messages, tools: [...bash, own] });
    await ctx.send(JSON.stringify({ text, messages }));
  });
  const { result, requests } = await run([
    {
      text: "First. ",
      toolCalls: [
        { id: "c1", name: "add", input: { a: 1 } },
        { id: "c2", name: "bash", input: { command: "echo two" } },
        { id: "c3", name: "add", input: { a: -1 } },
        { id: "c4", name: "writeFile", input: { path: "a.txt", content: "x" } },
      ],
    },
    { text: "Done." },
  ]);
  const offered = requests[0]?.body.tools as { function: { name: string } }[];
  expect(offered.map(({ function: { name } }) => name)).toEqual(["bash", "add"]);
  const contents = ['{"sum":2}', "two", "Too small.", "There is no tool “writeFile”. Available tools: bash, add."];
  expect(requests[1]?.results.map(({ content }) => content.replace(/^Error: /, ""))).toEqual(contents);
  const { text, messages } = result as { text: string; messages: { role: string; content: string; isError?: true }[] };
  expect(text).toBe("Done.");
  expect(messages.map(({ role, content, isError = false }) => [role, content, isError])).toEqual([
    ["user", "Add.", false],
    ["assistant", "First. ", false],
    ["tool", contents[0], false],
    ["tool", contents[1], false],
    ["tool", contents[2], true],
    ["tool", contents[3], true],
    ["assistant", "Done.", false],
  ]);
  // Only the host's tools are calls of the conversation, and what was not offered is not called.
  const tools = (await listMessages(host.client, "stepper")).filter(([role]) => role === "tool");
  expect(tools.map(([, , content]) => content)).toEqual([contents[1]]);
});

test("a stream makes one step unless told otherwise, and generate five", async () => {
  const run = await deploy("counter", async ({ content }, ctx) => {
    const [kind, steps] = content.split(" ");
    const options = { prompt: "Go.", tools: ctx.tools, ...(steps ? { maxSteps: Number(steps) } : {}) };
    if (kind === "generate") return ctx.send(JSON.stringify(await ctx.ai.generate(options)));
    const types: string[] = [];
    try {
      for await (const { type } of ctx.ai.stream(options)) types.push(type);
    } catch (error) {
      types.push(`${(error as Error).name}: ${(error as Error).message}`);
    }
    await ctx.send(JSON.stringify(types));
  });
  const loop = ({ results }: RecordedRequest): Answer => ({
    text: `Step after ${results.length}. `,
    ...call("bash", { command: `echo ${Math.random()}` }),
  });
  const step = ["text", "tool-call", "finish", "tool-result"];
  expect(await run(loop, "stream")).toMatchObject({ result: step, requests: { length: 1 } });
  expect(await run(loop, "stream 3")).toMatchObject({ result: [...step, ...step, ...step], requests: { length: 3 } });
  expect(await run(loop, "generate")).toMatchObject({ result: "", requests: { length: 5 } });
  for (const steps of ["0", "101", "1.5"])
    expect(await run(loop, `stream ${steps}`)).toMatchObject({
      result: [`RangeError: maxSteps must be a whole number from 1 to 100, not ${steps}.`],
      requests: { length: 0 },
    });
});

test("images that people attached reach the model; what is no attachment is named", async () => {
  const { client } = host;
  await deployAgent(
    client,
    "seer",
    `export default defineAgent({
      async onMessage(message, ctx) {
        if (message.content === "wrong")
          return ctx.send(await ctx.ai.generate({ messages: [{ role: "user", content: [{ type: "image", attachment: "nope" }] }] }).catch((error) => error.message));
        await ctx.send(await ctx.ai.generate({ messages: toModelMessages(ctx.conversation, message) }));
      },
    });`,
    { capabilities: ["ai"] },
  );
  server.answer(() => ({ text: "A dot." }));
  const data = Buffer.from([137, 80, 78, 71, 0, 255]).toString("base64");
  const attachments = [
    { name: "dot.png", mediaType: "image/png", data },
    { name: "a.txt", mediaType: "text/plain", data: "YQ==" },
  ];
  expect(await ask(client, "seer", { message: "What is it?", attachments })).toBe("A dot.");
  expect(await ask(client, "seer", "And now?")).toBe("A dot.");
  const first = [
    "user",
    [
      { type: "text", text: "What is it?\n[file a.txt, text/plain, 1 bytes]" },
      { type: "image_url", image_url: expect.objectContaining({ url: `data:image/png;base64,${data}` }) },
    ],
  ];
  const [before, after] = server.listRequests().slice(-2);
  expect(toRows(before as RecordedRequest)).toEqual([first]);
  expect(toRows(after as RecordedRequest)).toEqual([first, ["assistant", "A dot."], ["user", "And now?"]]);
  expect(await ask(client, "seer", "wrong")).toBe("There is no attachment “nope”.");
});

test("a call ends when the code stops reading, or aborts it, and the provider is told", async () => {
  const run = await deploy("quitter", async ({ content }, ctx) => {
    const ending = new AbortController();
    let ended = "none";
    try {
      for await (const { type } of ctx.ai.stream({ prompt: "Go.", signal: ending.signal })) {
        if (content === "break" && type === "text") break;
        setTimeout(() => ending.abort(new Error("Enough.")), 1);
      }
    } catch (error) {
      ended = (error as Error).message;
    }
    await ctx.send(JSON.stringify(ended));
  });
  const stall: Answer = { text: ["One ", "two"], fault: { kind: "stall", phase: "text" } };
  for (const [message, ended] of [
    ["break", "none"],
    ["abort", "Enough."],
  ] as const) {
    const abandoned = server.countAbandoned();
    // The rest of the response never comes.
    const { result } = await run([stall], message);
    expect(result).toBe(ended);
    await waitUntil("the call to be abandoned", () => server.countAbandoned() > abandoned);
    server.release();
  }
});

test("calls that are made at once each have their own response; what they use is counted", async () => {
  const { client } = host;
  const run = await deploy("parallel", async (_, ctx) => {
    const texts = await Promise.all([1, 2, 3, 4, 5].map((number) => ctx.ai.generate(`number ${number}`)));
    await ctx.send(JSON.stringify(texts));
  });
  const { result } = await run(({ latest }) => ({ text: `re: ${latest}`, usage: { input: 100, output: 10 } }));
  expect(result).toEqual([1, 2, 3, 4, 5].map((number) => `re: number ${number}`));
  const { total, byModel } = await client.agent("parallel").usage();
  expect(total).toMatchObject({ calls: 5, inputTokens: 500, outputTokens: 50, costUsd: 0.55 });
  expect(byModel).toMatchObject([{ model: "box:main", calls: 5 }]);
  server.answer(({ latest }) => ({ text: latest, usage: { input: 100, output: 10 } }));
  expect((await runTurn(client, "parallel", "Again.")).usage).toMatchObject({ inputTokens: 500, outputTokens: 50 });
  expect((await describeCode(client, "parallel")).requests).toMatchObject({ total: 2, failed: 0, modelCalls: 10 });
});
