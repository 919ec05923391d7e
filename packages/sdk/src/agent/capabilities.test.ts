import { describe, expect, expectTypeOf, test } from "vitest";
import { createTestAgent } from "../agent-test/agent-test.ts";
import { type AgentContext, defineAgent, standardSettings, toModelMessages, formatConversation } from "./agent.ts";
import { runHandler } from "./run-handler.ts";

describe("models", () => {
  test("a loop of calls, as the reference agent makes it: events, results, and the messages that grow", async () => {
    const agent = createTestAgent(
      defineAgent({
        settings: standardSettings,
        async onMessage(message, ctx) {
          const reply = ctx.reply();
          const messages = toModelMessages(ctx.conversation, message);
          for (let step = 0; step < ctx.settings.maxSteps; step++) {
            let hasCalls = false;
            for await (const event of ctx.ai.stream({ messages, tools: ctx.tools })) {
              if (event.type === "text") void reply.write(event.text);
              if (event.type === "thinking") void reply.thinking(event.text);
              if (event.type === "tool-call") void reply.action(event.tool, event.args);
              if (event.type === "tool-result") void reply.actionComplete();
              hasCalls ||= event.type === "tool-call";
            }
            if (!hasCalls) break;
          }
          expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "tool", "assistant"]);
        },
      }),
      {
        models: [
          { thinking: "I add.", text: "Wait: ", calls: [{ name: "add", input: { a: 1, b: 2 } }, { name: "fail" }] },
          { chunks: ["It ", "is 3."] },
        ],
        tools: {
          add: {
            parameters: { a: { type: "number" }, b: { type: "number", optional: true } },
            execute: ({ a, b }) => a + b,
          },
          fail: { execute: () => Promise.reject(new Error("broken")) },
        },
        settings: { temperature: 0.2 },
      },
    );
    const turn = await agent.send("1 + 2?");
    expect([turn.text, turn.thinking, turn.actions.length]).toEqual(["Wait: It is 3.", ["I add."], 2]);
    expect(agent.requests[0]).toMatchObject({
      model: "fast",
      temperature: 0.2,
      maxOutputTokens: 1024,
      thinkingBudget: 0,
      tools: [
        {
          name: "add",
          parameters: {
            type: "object",
            required: ["a"],
            properties: { a: { type: "number" } },
            additionalProperties: false,
          },
        },
        { name: "fail" },
      ],
    });
    expect(agent.requests[1]?.messages.slice(1)).toEqual([
      {
        role: "assistant",
        content: "Wait: ",
        toolCalls: [
          { id: "call-0-0", name: "add", input: { a: 1, b: 2 } },
          { id: "call-0-1", name: "fail", input: {} },
        ],
      },
      { role: "tool", callId: "call-0-0", name: "add", content: "3" },
      { role: "tool", callId: "call-0-1", name: "fail", content: "broken", isError: true },
    ]);
  });

  test("generate calls tools by itself and returns the last text; own tools run in the agent", async () => {
    const models = [
      {
        text: "Let me look.",
        calls: [
          { name: "look", input: { at: "door" } },
          { name: "add", input: { a: 1, b: 1 } },
        ],
      },
      "A closed door.",
    ];
    const look = {
      name: "look",
      description: "Looks.",
      parameters: { type: "object" },
      execute: ({ at }: { at: string }) => ({ seen: `a closed ${at}` }),
    };
    const turn = await runHandler(
      async (ctx) => ctx.send(await ctx.ai.generate({ prompt: "What is there?", tools: [look, ...ctx.tools] })),
      { models, tools: { add: { execute: ({ a, b }) => a + b } } },
    );
    expect(turn.text).toBe("A closed door.");
  });

  test("a call's own options win, and wrong ones are errors", async () => {
    const agent = createTestAgent(
      defineAgent({
        settings: standardSettings,
        async onMessage(_, { ai, send }) {
          await send(
            await ai.generate({
              prompt: "Hi",
              model: "openai:gpt-5",
              system: "Be brief.",
              temperature: 0,
              maxOutputTokens: 7,
              reasoningEffort: "high",
            }),
          );
          await expect(ai.generate({})).rejects.toThrow("`prompt` or `messages`");
          await expect(ai.generate({ prompt: "x", messages: [] })).rejects.toThrow("not both");
          await expect(ai.generate({ prompt: "x", maxSteps: 0 })).rejects.toThrow("maxSteps");
          await expect(ai.generate({ messages: [{ role: "system", content: "x" }] as never })).rejects.toThrow(
            "`system`",
          );
        },
      }),
      { models: ["Hey."] },
    );
    expect((await agent.send("x")).text).toBe("Hey.");
    expect(agent.requests[0]).toEqual({
      model: "openai:gpt-5",
      system: "Be brief.",
      temperature: 0,
      maxOutputTokens: 7,
      reasoningEffort: "high",
      messages: [{ role: "user", content: "Hi" }],
    });
  });

  test("images that people attach are sent to the model, other files by name", async () => {
    const agent = createTestAgent(
      defineAgent({
        async onMessage(message, ctx) {
          await ctx.send(await ctx.ai.generate({ messages: toModelMessages(ctx.conversation, message) }));
        },
      }),
      { models: ["Nice."] },
    );
    await agent.send("Look", {
      attachments: [
        { name: "a.png", mediaType: "image/png", content: "x" },
        { name: "b.pdf", mediaType: "application/pdf", content: "yy" },
      ],
    });
    expect(agent.requests[0]?.messages).toEqual([
      {
        role: "user",
        content: [
          { type: "text", text: "Look\n[file b.pdf, application/pdf, 2 bytes]" },
          { type: "image", attachment: expect.any(String) },
        ],
      },
    ]);
  });
});

describe("tools, files and the rest", () => {
  test("tools are a list with a method, whose errors can be caught", async () => {
    const turn = await runHandler(
      async ({ tools, send }) => {
        expect(tools.map(({ name }) => name)).toEqual(["add", "fail"]);
        expect(JSON.parse(JSON.stringify(tools))).toHaveLength(2);
        await expect(tools.execute("fail")).rejects.toMatchObject({
          name: "ToolCallError",
          tool: "fail",
          message: "denied",
        });
        await expect(tools.execute("add", { f() {} })).rejects.toThrow("must be JSON");
        await send(String(await tools.execute("add", { a: 1, b: 2 })));
      },
      {
        tools: {
          add: { execute: ({ a, b }) => a + b },
          fail: { execute: () => Promise.reject(new Error("denied")) },
        },
      },
    );
    expect(turn.text).toBe("3");
  });

  test("files, commands, requests and logs go through the host", async () => {
    const agent = createTestAgent(
      defineAgent({
        async onMessage(_, { fs, bash, fetch, log, send }) {
          await fs.writeFile("a.txt", "one");
          await fs.writeFile("b.bin", new Uint8Array([255]));
          await fs.move("a.txt", "c.txt");
          expect(await fs.exists("a.txt")).toBe(false);
          expect((await fs.list()).map(({ path }) => path)).toEqual(["b.bin", "c.txt"]);
          log.warn("odd", { a: 1 });
          const { stdout } = await bash("echo hi");
          const response = await fetch("http://api.test/x", { method: "POST", body: "yes" });
          await send(`${await fs.readFile("c.txt")} ${stdout} ${response.status} ${await response.text()}`);
        },
      }),
      {
        bash: (command) => ({ stdout: command.toUpperCase() }),
        fetch: async (request) => new Response(`${request.method} ${await request.text()}`, { status: 201 }),
      },
    );
    expect((await agent.send("go")).text).toBe("one ECHO HI 201 POST yes");
    expect(agent.logs).toEqual([{ level: "warn", text: 'odd {"a":1}' }]);
  });

  test("a capability that was not granted throws, and says how to ask for it", async () => {
    for (const work of [
      (ctx: AgentContext) => ctx.ai.generate("x"),
      (ctx: AgentContext) => ctx.tools.execute("x"),
      (ctx: AgentContext) => ctx.fs.readFile("x"),
      (ctx: AgentContext) => ctx.bash("x"),
      (ctx: AgentContext) => ctx.fetch("http://x.test"),
      (ctx: AgentContext) => ctx.channel.send("x"),
    ])
      await expect(runHandler(work as never, { capabilities: [] })).rejects.toThrow("thinkery.capabilities");
  });

  test("provided tools, hooks and events get settings and state", async () => {
    const agent = createTestAgent(
      defineAgent({
        settings: { unit: { type: "select", options: ["C", "F"], default: "C" } },
        state: { calls: 0 },
        tools: {
          weather: {
            description: "The weather.",
            parameters: { city: { type: "string", description: "Where." } },
            execute({ city }, ctx) {
              expectTypeOf(ctx.settings.unit).toEqualTypeOf<string>();
              ctx.setState({ calls: ctx.state.calls + 1 });
              return { text: `20 ${ctx.settings.unit} in ${city}, ${ctx.caller}` };
            },
          },
        },
        onInit: (ctx) => ctx.setState({ calls: 100 }),
        onShutdown: (ctx) => ctx.log.info(`${ctx.state.calls} calls`),
        onEvent: (event, ctx) => ctx.log.info(event.type),
        onMessage() {},
      }),
      { settings: { unit: "F" } },
    );
    await agent.init();
    expect(await agent.callTool("weather", { city: "Athens" })).toEqual({ text: "20 F in Athens, test~other" });
    await expect(agent.callTool("nothing")).rejects.toThrow("provides no tool “nothing”");
    await agent.emit({ type: "conversation.cleared" });
    await agent.shutdown();
    expect(agent.logs.map(({ text }) => text)).toEqual(["conversation.cleared", "101 calls"]);
  });

  test("an interrupt aborts the signal, and nothing can be said after it", async () => {
    const interrupt = new AbortController();
    const agent = createTestAgent(
      defineAgent({
        async onMessage(_, ctx) {
          const reply = ctx.reply();
          await reply.write("Working …");
          interrupt.abort(new Error("stopped"));
          expect(ctx.signal.aborted).toBe(true);
          expect(() => reply.write("more")).toThrow("stopped");
          await ctx.ai.generate("x");
        },
      }),
      { models: ["never"] },
    );
    await expect(agent.send("go", { signal: interrupt.signal })).rejects.toThrow("stopped");
    expect(agent.requests).toEqual([]);
  });
});

test("a conversation can be put into a prompt as text, the newest messages if it is long", () => {
  const conversation = [
    { role: "user", content: "One?" },
    { role: "assistant", content: "1" },
    { role: "user", content: "Two?" },
  ] as const;
  expect(formatConversation(conversation)).toBe("User: One?\n\nAssistant: 1\n\nUser: Two?");
  expect(formatConversation(conversation, { maxChars: 25, names: { user: "Ann", assistant: "Bot" } })).toBe(
    "Bot: 1\n\nAnn: Two?",
  );
  expect(formatConversation([])).toBe("");
});
