import { describe, expect, expectTypeOf, test } from "vitest";
import { createTestAgent } from "../agent-test/agent-test.ts";
import { defineAgent } from "./agent.ts";
import { runHandler } from "./run-handler.ts";
import type { AgentHost } from "./wire.ts";

describe("messages", () => {
  test("a handler gets the message, the conversation before it, and says something", async () => {
    const agent = createTestAgent(
      defineAgent({
        async onMessage({ content, sender }, ctx) {
          expect(ctx.message.content).toBe(content);
          expect(ctx.messages).toHaveLength(1);
          await ctx.send(`${sender.name} said ${content} after ${ctx.conversation.length} messages.`);
        },
      }),
    );
    expect((await agent.send("one")).text).toBe("User said one after 0 messages.");
    expect((await agent.send("two")).text).toBe("User said two after 2 messages.");
  });

  test("what a handler throws is the error of its turn, after what it said before", async () => {
    let turn: Promise<unknown> | undefined;
    const agent = createTestAgent(
      defineAgent({
        async onMessage(_, ctx) {
          void ctx.reply().write("Let me see …");
          throw new RangeError("no");
        },
      }),
    );
    turn = agent.send("Hello");
    await expect(turn).rejects.toMatchObject({ name: "RangeError", message: "no" });
    expect(
      (
        await createTestAgent(defineAgent({ onMessage: (_, ctx) => ctx.send(JSON.stringify(ctx.conversation)) })).send(
          "x",
        )
      ).text,
    ).toBe("[]");
    await expect(runHandler(() => Promise.reject("just text"))).rejects.toThrow("just text");
  });

  test("attachments are only loaded when they are read", async () => {
    const agent = createTestAgent(
      defineAgent({
        async onMessage({ attachments }, ctx) {
          const [first, second] = attachments;
          await ctx.send(`${first?.name} ${first?.size} ${await first?.text()} ${(await second?.read())?.join()}`);
        },
      }),
    );
    const attachments = [
      { name: "a.txt", mediaType: "text/plain", content: "höh" },
      { name: "b.bin", mediaType: "application/octet-stream", content: new Uint8Array([1, 255]) },
    ];
    expect((await agent.send("Look", { attachments })).text).toBe("a.txt 4 höh 1,255");
  });

  test("earlier messages are read page by page", async () => {
    const agent = createTestAgent(
      defineAgent({
        async onMessage({ content }, ctx) {
          if (content !== "read") return ctx.send(`re: ${content}`);
          const latest = await ctx.history.read({ before: ctx.message.id, limit: 2 });
          const before = await ctx.history.read({ before: latest[0]?.id ?? "", limit: 1 });
          await ctx.send([...before, ...latest].map((message) => message.content).join(", "));
        },
      }),
    );
    for (const content of ["one", "two"]) await agent.send(content);
    expect((await agent.send("read")).text).toBe("re: one, two, re: two");
  });

  test("paths that are not an agent's, and other methods, are not found", async () => {
    const worker = defineAgent({ onMessage() {} });
    const env = { HOST: {} as AgentHost };
    for (const [path, method] of [
      ["/", "POST"],
      ["/messages", "POST"],
      ["/constructor", "POST"],
      ["/__proto__", "POST"],
      ["/message", "GET"],
    ] as const)
      expect((await worker.fetch(new Request(`http://agent${path}`, { method }), env)).status).toBe(404);
  });

  test.each([
    [{}, "needs onMessage"],
    [{ onMessage() {}, concurrency: 0 }, "concurrency"],
    [{ onMessage() {}, concurrency: 17 }, "concurrency"],
    [{ onMessage() {}, history: { maxMessages: -1 } }, "history.maxMessages"],
    [{ onMessage() {}, tools: { look: { description: "Looks." } } }, "“look”"],
  ])("a wrong definition is an error when the module is loaded: %j", (definition, message) => {
    expect(() => defineAgent(definition as never)).toThrow(message);
  });
});

describe("replies", () => {
  test("order is kept under 1,000 interleaved operations that nobody awaits", async () => {
    const turn = await runHandler((ctx) => {
      const replies = [ctx.reply(), ctx.reply(), ctx.reply()];
      for (let index = 0; index < 1000; index++) {
        const reply = replies[index % 3];
        if (index % 10 === 9) void reply?.thinking(`${index}`);
        else void reply?.write(`${index} `);
      }
    });
    const expected = [0, 1, 2].map((reply) =>
      Array.from({ length: 1000 }, (_, index) => index)
        .filter((index) => index % 3 === reply && index % 10 !== 9)
        .map((index) => `${index} `)
        .join(""),
    );
    expect(turn.messages).toEqual(expected);
    expect(turn.thinking).toEqual(Array.from({ length: 100 }, (_, index) => `${index * 10 + 9}`));
    expect(turn.openReplies).toBe(0);
    const shown = turn.operations.map((operation) => (operation.type === "thinking" ? operation.text : operation.type));
    expect(shown.indexOf("9")).toBeLessThan(shown.indexOf("19"));
  });

  test("thinking and actions arrive in order with text; what is open at the end is ended", async () => {
    const turn = await runHandler(async (ctx) => {
      const reply = ctx.reply();
      await reply.thinking("hm");
      await reply.action("look", { at: 1 });
      await reply.actionComplete();
      await reply.write("Done.");
    });
    expect(turn.operations.map(({ type }) => type)).toEqual(["thinking", "action", "actionComplete", "write", "end"]);
    expect(turn.actions).toEqual([{ tool: "look", args: { at: 1 } }]);
  });

  test("writing after the end throws at once, and an empty write begins no message", async () => {
    const turn = await runHandler(async (ctx) => {
      const reply = ctx.reply();
      void reply.write("");
      await reply.end();
      expect(() => reply.write("more")).toThrow("after reply.end");
      expect(() => reply.thinking("more")).toThrow("after reply.end");
      expect(() => reply.end()).toThrow("twice");
      expect(() => ctx.reply().write(5 as never)).toThrow("takes text");
      expect(() => ctx.reply().action("x", { f() {} })).toThrow("must be JSON");
    });
    expect(turn.messages).toEqual([]);
  });

  test("a reply that the host refuses fails the handler, even if nobody awaits it", async () => {
    const worker = defineAgent({ onMessage: (_, ctx) => void ctx.reply().write("x") });
    const HOST: AgentHost = { call: () => Promise.reject(new Error("full")) };
    const message = { id: "1", content: "", attachments: [], sender: {}, timestamp: "" };
    const payload = { state: {}, settings: {}, tools: [], message, messages: [message], conversation: [] };
    const request = new Request("http://agent/message", { method: "POST", body: JSON.stringify(payload) });
    const response = await worker.fetch(request, { HOST });
    expect([response.status, await response.json()]).toMatchObject([500, { error: { message: "full" } }]);
  });

  test("the channel starts, continues and completes messages, in order with replies", async () => {
    const turn = await runHandler(
      async (ctx) => {
        void ctx.reply().write("First.");
        const { id } = await ctx.channel.send("Sec");
        await ctx.channel.update(id, "Second.");
        await ctx.channel.complete(id);
        await expect(ctx.channel.update(id, "Else.")).rejects.toThrow("continued");
        expect(await ctx.channel.callTool("add", { a: 1, b: 2 })).toBe(3);
      },
      { tools: { add: { execute: ({ a, b }) => a + b } } },
    );
    expect(turn.messages).toEqual(["First.", "Second."]);
  });
});

describe("state and storage", () => {
  test("changes are visible at once, saved at the end, and dropped if the handler throws", async () => {
    const agent = createTestAgent(
      defineAgent({
        state: { count: 0, note: "none" as string },
        async onMessage({ content }, ctx) {
          expectTypeOf(ctx.state.count).toEqualTypeOf<number>();
          ctx.setState({ count: ctx.state.count + 1 });
          if (content === "forget") ctx.setState({ note: undefined });
          await ctx.storage.set("last", { content });
          if (content === "fail") throw new Error("failed");
          await ctx.send(`${ctx.state.count} ${ctx.state.note}`);
        },
      }),
      { state: { note: "old" } },
    );
    expect((await agent.send("Hello")).text).toBe("1 old");
    await expect(agent.send("fail")).rejects.toThrow("failed");
    expect([agent.state, agent.storage.get("last")]).toEqual([{ count: 1, note: "old" }, { content: "Hello" }]);
    expect((await agent.send("forget")).text).toBe("2 none");
    expect(agent.state).toEqual({ count: 2 });
  });

  test("what is not JSON, or too large, is refused with its path and changes nothing", async () => {
    const circular: Record<string, unknown> = {};
    circular.self = circular;
    const turn = runHandler((ctx) => {
      const failures = [
        [{ a: () => {} }, "state.a must be JSON.*a function"],
        [{ ok: 1, a: { b: [1, Number.NaN] } }, "NaN at b\\[1\\]"],
        [{ a: new Map() }, "a Map"],
        [circular, "circular"],
        [{ a: 5n }, "a bigint"],
        [{ a: "x".repeat(1024 * 1024) }, "at most 1048576.*ctx.storage"],
        [[], "takes an object"],
      ] as const;
      for (const [changes, message] of failures) expect(() => ctx.setState(changes)).toThrow(new RegExp(message));
      expect(ctx.state).toEqual({});
      expect(() => ctx.setState(JSON.parse('{"__proto__": {"x": 1}}'))).toThrow("cannot have the key “__proto__”");
      ctx.setState({ at: new Date(0), nested: JSON.parse('{"__proto__": {"x": 1}}') });
    });
    await turn;
  });

  test("storage keeps, lists and removes values", async () => {
    const agent = createTestAgent(
      defineAgent({
        async onMessage(_, { storage, send }) {
          for (const key of ["b/2", "a/1", "b/1", "b/3"]) await storage.set(key, [key]);
          expect(await storage.delete("a/1")).toBe(true);
          expect(await storage.delete("a/1")).toBe(false);
          const { entries, next } = await storage.list({ prefix: "b/", limit: 2 });
          expect([entries.map(({ key }) => key), next]).toEqual([["b/1", "b/2"], "b/2"]);
          expect((await storage.list({ prefix: "b/", after: "b/2" })).entries).toEqual([{ key: "b/3", chars: 7 }]);
          await send(JSON.stringify([await storage.get("b/1"), await storage.get("a/1")]));
        },
      }),
    );
    expect((await agent.send("go")).text).toBe('[["b/1"],null]');
    expect([...agent.storage.keys()].toSorted()).toEqual(["b/1", "b/2", "b/3"]);
  });
});
