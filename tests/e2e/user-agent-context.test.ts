import { afterAll, beforeAll, expect, test } from "vitest";
import type { HostProcess } from "../kit/host-process.ts";
import {
  ask,
  askJson,
  captureFailure,
  deployAgent,
  describeCode,
  putSettings,
  readLog,
  readState,
  startAgentHost,
  waitForLog,
} from "../kit/user-agent.ts";

// What the code of an agent gets with a message: the message, what was said before, settings, state, storage and log.

let host: HostProcess;

beforeAll(async () => {
  host = await startAgentHost();
});

afterAll(() => host?.stop());

test("a handler gets the message, its sender, and its attachments, which it loads when it reads them", async () => {
  const { client } = host;
  await deployAgent(client, "reader", {
    async onMessage(message, ctx) {
      const [text, image, unnamed] = message.attachments;
      const about = message.attachments.map(({ name, mediaType, size }) => [name, mediaType, size]);
      const isSame = ctx.message === message && ctx.messages.length === 1 && ctx.messages[0] === message;
      const read = [await text?.text(), [...((await image?.read()) ?? [])], await unnamed?.text()];
      await ctx.send(JSON.stringify({ isSame, ...message, attachments: about, read, agent: ctx.agent }));
    },
  });
  const encode = (data: string | Uint8Array) => Buffer.from(data as string).toString("base64");
  const turn = await client.agent("reader").send({
    message: "Look at these.",
    attachments: [
      { name: "höhe.txt", mediaType: "text/plain", data: encode("hö\nhe") },
      { name: "dot.png", mediaType: "image/png", data: encode(Uint8Array.of(0, 127, 128, 255)) },
      { mediaType: "text/csv", data: encode("a,b") },
    ],
  });
  const seen = JSON.parse((await turn.outcome()).content);
  const [stored] = (await client.agent("reader").messages()).messages;
  expect(seen).toEqual({
    isSame: true,
    id: turn.messageId,
    content: "Look at these.",
    sender: { id: "owner", name: "owner", type: "user" },
    timestamp: new Date(stored?.timestamp ?? 0).toISOString(),
    attachments: [
      ["höhe.txt", "text/plain", 6],
      ["dot.png", "image/png", 4],
      ["attachment.csv", "text/csv", 3],
    ],
    read: ["hö\nhe", [0, 127, 128, 255], "a,b"],
    agent: "global~reader",
  });
});

test("the conversation is what was said before the message, in a window; earlier messages are read in pages", async () => {
  const { client } = host;
  await deployAgent(client, "rememberer", {
    history: { maxMessages: 3 },
    async onMessage({ content }, ctx) {
      const toTexts = (messages: readonly { role: string; content: string }[]) =>
        messages.map((message) => `${message.role}: ${message.content}`);
      if (content !== "recall") return ctx.send(`re: ${content}`);
      const earlier = await ctx.history.read();
      const page = await ctx.history.read({ limit: 2 });
      const before = await ctx.history.read({ before: page[0]?.id ?? "", limit: 2 });
      const missing = await ctx.history.read({ before: "no-such-id" }).catch((error: Error) => error.message);
      const { hasEarlier } = ctx.history;
      await ctx.send(
        JSON.stringify({
          conversation: toTexts(ctx.conversation),
          keys: Object.keys(ctx.conversation[0] ?? {}).toSorted(),
          hasEarlier,
          earlier: toTexts(earlier),
          page: toTexts(page),
          before: toTexts(before),
          missing,
        }),
      );
    },
  });
  for (const content of ["one", "two", "three"]) await ask(client, "rememberer", content);
  expect(await askJson(client, "rememberer", "recall")).toEqual({
    conversation: ["assistant: re: two", "user: three", "assistant: re: three"],
    keys: ["content", "id", "role", "timestamp"],
    hasEarlier: true,
    earlier: ["user: one", "assistant: re: one", "user: two"],
    page: ["assistant: re: one", "user: two"],
    before: ["user: one"],
    missing: "There is no message “no-such-id” in the conversation.",
  });
});

test("a window of characters keeps whole messages, and the newest one at any length", async () => {
  const { client } = host;
  const texts = ["a".repeat(60), "b".repeat(30)];
  await deployAgent(client, "brief", {
    history: { maxChars: 40 },
    async onMessage(_, ctx) {
      await ctx.send(`${ctx.conversation.map(({ content }) => content.length).join()} ${ctx.history.hasEarlier}`);
    },
  });
  expect(await ask(client, "brief", texts[0])).toBe(" false");
  expect(await ask(client, "brief", texts[1])).toBe("6 true");
  // Six characters, “6 true” and the message before it.
  expect(await ask(client, "brief", "last")).toBe("30,6 true");
  await deployAgent(client, "brief", {
    history: { maxChars: 3 },
    onMessage: (_, ctx) => ctx.send(ctx.conversation.map(({ content }) => content).join()),
  });
  expect(await ask(client, "brief")).toBe("30,6 true");
  await deployAgent(client, "brief", {
    history: { maxMessages: 0 },
    onMessage: (_, ctx) => ctx.send(`${ctx.conversation.length} ${ctx.history.hasEarlier}`),
  });
  expect(await ask(client, "brief")).toBe("0 true");
});

test("state starts as declared, changes at once for the handler, and is kept when the handler has succeeded", async () => {
  const { client } = host;
  await deployAgent(client, "stateful", {
    state: { count: 1, list: ["a"], gone: "x" },
    async onMessage({ content }, ctx) {
      const before = JSON.stringify(ctx.state);
      ctx.setState({ count: ctx.state.count + 1, gone: undefined, nested: { deep: [null, 1.5, true] } });
      if (content === "fail") throw new Error(`No: ${JSON.stringify(ctx.state)}`);
      const frozen = ["assign", "push"].map((kind) => {
        try {
          if (kind === "assign") (ctx.state as { count: number }).count = 100;
          else (ctx as { state: unknown }).state = {};
          return "changed";
        } catch (error) {
          return (error as Error).name;
        }
      });
      await ctx.send(JSON.stringify({ before: JSON.parse(before), after: ctx.state, frozen }));
    },
  });
  const initial = { count: 1, list: ["a"], gone: "x" };
  const nested = { deep: [null, 1.5, true] };
  expect(await askJson(client, "stateful")).toEqual({
    before: initial,
    // What is removed has its initial value again, because the definition declares it.
    after: { count: 2, list: ["a"], gone: "x", nested },
    frozen: ["TypeError", "TypeError"],
  });
  expect(await readState(client, "stateful")).toEqual({ count: 2, nested });
  const { message } = await captureFailure(client, "stateful", "fail");
  expect(message).toContain('"count":3');
  expect(await askJson(client, "stateful")).toMatchObject({ before: { count: 2, gone: "x" }, after: { count: 3 } });
  const { state } = await describeCode(client, "stateful");
  expect(state).toMatchObject({ keys: 2, bytes: JSON.stringify({ count: 3, nested }).length });
});

test("values that are no JSON, or too large, are refused where they are set and name their place", async () => {
  const { client } = host;
  await deployAgent(client, "sloppy", {
    state: { kept: "as it was" },
    async onMessage(_, ctx) {
      const attempts: (() => unknown)[] = [
        () => ctx.setState({ a: { b: [1, () => 1] } }),
        () => ctx.setState({ n: Number.NaN }),
        () => ctx.setState([] as never),
        () => ctx.setState({ big: "ü".repeat(512 * 1024) }),
        () => ctx.storage.set("key", new Map()),
        () => ctx.storage.set("", 1),
        () => ctx.storage.set("k".repeat(513), 1),
        () => ctx.storage.set("large", "x".repeat(1024 * 1024)),
        () => ctx.tools.execute("bash", { command: 1n }),
      ];
      const messages: string[] = [];
      for (const attempt of attempts) {
        try {
          await attempt();
          messages.push("accepted");
        } catch (error) {
          messages.push(`${(error as Error).name}: ${(error as Error).message}`);
        }
      }
      ctx.setState({ messages, when: new Date(0) });
    },
  });
  await ask(client, "sloppy");
  const form = "must be JSON: text, finite numbers, booleans, null, lists and plain objects. Found";
  expect(await readState(client, "sloppy")).toEqual({
    messages: [
      `TypeError: state.a ${form} a function at b[1].`,
      `TypeError: state.n ${form} NaN.`,
      "TypeError: setState takes an object with the keys to change.",
      "RangeError: The state would have 1048605 bytes, and may have at most 1048576. Keep large values with ctx.storage.",
      `TypeError: The value of “key” ${form} a Map.`,
      "Error: Invalid `key` in the call storage.set: Too small: expected string to have >=1 characters.",
      "Error: Invalid `key` in the call storage.set: Too big: expected string to have <=512 characters.",
      "Error: The value of “large” has 1048578 characters; a stored value may have at most 1048576.",
      `TypeError: The arguments of bash ${form} a bigint at command.`,
    ],
    when: "1970-01-01T00:00:00.000Z",
  });
});

test("storage keeps values by key, lists them in pages, and changes only when the handler has succeeded", async () => {
  const { client } = host;
  await deployAgent(client, "keeper", {
    async onMessage({ content }, ctx) {
      const { storage } = ctx;
      if (content === "fill") {
        for (let index = 0; index < 25; index++) await storage.set(`item:${String(index).padStart(2, "0")}`, { index });
        await storage.set("other", [1, "ü", null]);
        await storage.set("itemless", true);
        return ctx.send(String((await storage.list({ prefix: "item:" })).entries.length));
      }
      if (content === "change") {
        const deleted = [await storage.delete("item:03"), await storage.delete("item:03"), await storage.delete("no")];
        await storage.set("item:02b", "new");
        await storage.set("item:04", "changed");
        const pages: string[][] = [];
        for (let after: string | undefined = ""; after !== undefined;) {
          const page: Awaited<ReturnType<typeof storage.list>> = await storage.list({
            prefix: "item:",
            after,
            limit: 10,
          });
          pages.push(page.entries.map(({ key, chars }) => `${key.slice(5)} ${chars}`));
          after = page.next;
        }
        const values = [await storage.get("item:03"), await storage.get("item:04"), await storage.get("other")];
        return ctx.send(JSON.stringify({ deleted, pages, values: values.map((value) => value ?? "none") }));
      }
      await storage.set("item:99", 1);
      await storage.delete("other");
      throw new Error("Nothing of this is kept.");
    },
  });
  expect(await ask(client, "keeper", "fill")).toBe("25");
  const listed = Array.from({ length: 25 }, (_, index) => `${String(index).padStart(2, "0")} ${index < 10 ? 11 : 12}`);
  listed.splice(2, 3, "02 11", "02b 5", "04 9");
  const changed = {
    deleted: [true, false, false],
    pages: [listed.slice(0, 10), listed.slice(10, 20), listed.slice(20)],
    values: ["none", "changed", [1, "ü", null]],
  };
  expect(await askJson(client, "keeper", "change")).toEqual(changed);
  const { storage } = await describeCode(client, "keeper");
  await captureFailure(client, "keeper", "fail");
  expect((await describeCode(client, "keeper")).storage).toEqual(storage);
  expect(storage.entries).toBe(27);
  // The same again, from what is stored: only the deletion finds nothing this time.
  expect(await askJson(client, "keeper", "change")).toEqual({ ...changed, deleted: [false, false, false] });
});

test("settings have their defaults, change for the next message, and cannot be changed by the code", async () => {
  const { client } = host;
  await deployAgent(client, "configured", {
    settings: {
      greeting: { type: "text", default: "Hi" },
      times: { type: "number", min: 1, max: 5, default: 2 },
      loud: { type: "toggle", default: false },
      nickname: { type: "text" },
      model: { type: "select", options: "$roles", default: "fast" },
    },
    async onMessage(_, ctx) {
      let error = "none";
      try {
        (ctx.settings as { times: number }).times = 9;
      } catch (thrown) {
        error = (thrown as Error).name;
      }
      await ctx.send(JSON.stringify({ ...ctx.settings, error }));
    },
  });
  const defaults = { greeting: "Hi", times: 2, loud: false, model: "fast", error: "TypeError" };
  expect(await askJson(client, "configured")).toEqual(defaults);
  await putSettings(client, "configured", { greeting: "Ho", times: 5, loud: true, nickname: "Al" });
  const set = { ...defaults, greeting: "Ho", times: 5, loud: true, nickname: "Al" };
  expect(await askJson(client, "configured")).toEqual(set);
  await putSettings(client, "configured", { times: null });
  expect(await askJson(client, "configured")).toEqual({ ...set, times: 2 });
});

test("lines of the log have a level and the order in which they were written, with those of the console", async () => {
  const { client } = host;
  await deployAgent(client, "logger", {
    onMessage({ content }, ctx) {
      ctx.log.info("plain", 1, { a: [true] }, null, undefined);
      ctx.log.warn(new RangeError("odd"));
      ctx.log.error("bad", content);
      const circular: { self?: unknown } = {};
      circular.self = circular;
      ctx.log.info(circular);
    },
  });
  await ask(client, "logger", "two\nlines");
  await waitForLog(client, "logger", 4);
  const lines = await readLog(client, "logger");
  expect(lines.map(({ level, text }) => [level, text])).toEqual([
    ["info", 'plain 1 {"a":[true]} null undefined'],
    ["warn", expect.stringMatching(/^RangeError: odd\n\s+at /)],
    ["error", "bad two\nlines"],
    ["info", "[object Object]"],
  ]);
  expect(new Set(lines.map(({ version, runId }) => `${version} ${typeof runId}`))).toEqual(new Set(["1 string"]));

  await deployAgent(client, "printer", {
    async onMessage(_, ctx) {
      for (let index = 0; index < 200; index++) console.log("line", index);
      console.warn("warned", { a: 1 });
      await ctx.send("Printed.");
    },
  });
  await ask(client, "printer");
  const texts = await waitForLog(client, "printer", 100);
  expect(texts.at(-1)).toContain("warned");
  const all = (await readLog(client, "printer", { limit: 500 })).map(({ text }) => text);
  expect(all.slice(0, 200)).toEqual(Array.from({ length: 200 }, (_, index) => `line ${index}`));
});
