import type { ChatFrame } from "@thinkery/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { collectFrames } from "../kit/frames.ts";
import type { HostProcess } from "../kit/host-process.ts";
import { createRandom } from "../kit/random.ts";
import {
  ask,
  askJson,
  captureFailure,
  deployAgent,
  listMessages,
  runTurn,
  startAgentHost,
  waitForStatus,
} from "../kit/user-agent.ts";
import { waitUntil } from "../kit/wait-until.ts";

// What the code of an agent says, and what it shows meanwhile.

let host: HostProcess;

beforeAll(async () => {
  host = await startAgentHost();
});

afterAll(() => host?.stop());

const at = (agent: string) => `/agency/global/agent/${agent}`;

/** Returns the texts of what an agent said, one for each message. */
const listSaid = async (agent: string) =>
  (await listMessages(host.client, agent)).filter(([role]) => role === "assistant").map(([, , content]) => content);

test("replies are messages in the order in which they began, whatever the order of what is written", async () => {
  const { client } = host;
  await deployAgent(client, "weaver", {
    async onMessage(_, ctx) {
      const [first, second, third] = [ctx.reply(), ctx.reply(), ctx.reply()];
      await third.write("third ");
      await second.write("second ");
      void first.write("first");
      void second.write("again");
      await third.end();
      await second.end();
      await first.write(".");
      await ctx.send("sent");
    },
  });
  const { content } = await runTurn(client, "weaver", "Hello.");
  // The last two end with the handler: nothing of them is lost.
  expect(await listSaid("weaver")).toEqual(["third ", "second again", "first.", "sent"]);
  expect(content).toBe("third \n\nsecond again\n\nfirst.\n\nsent");
});

test("1,000 interleaved writes to several replies arrive complete and in order", async () => {
  const { client } = host;
  const random = createRandom("user-agent-writes");
  await deployAgent(client, "flooder", {
    async onMessage({ content }, ctx) {
      const plan = JSON.parse(content) as number[];
      const replies = [ctx.reply(), ctx.reply(), ctx.reply(), ctx.reply(), ctx.reply()];
      for (const reply of replies) void reply.write("> ");
      for (const [index, number] of plan.entries()) {
        const reply = replies[number];
        // Some wait, some let other tasks run, most do neither.
        if (index % 97 === 0) await reply?.write(`${index},`);
        else void reply?.write(`${index},`);
        if (index % 50 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
        if (index % 10 === 9) void reply?.thinking(`${index}`);
      }
    },
  });
  const plan = Array.from({ length: 1000 }, () => random.below(5));
  const frames = await collectFrames(host, at("flooder"), "?only=chat");
  await ask(client, "flooder", JSON.stringify(plan));
  const expected = [0, 1, 2, 3, 4].map(
    (reply) => `> ${plan.flatMap((number, index) => (number === reply ? [`${index},`] : [])).join("")}`,
  );
  expect(await listSaid("flooder")).toEqual(expected);
  // The same text, and the same order of what it thought, on the socket.
  await waitUntil("the last frame", () => frames.some(({ type }) => type === "task-complete"));
  const streamed = new Map<string, string>();
  for (const frame of frames as ChatFrame[])
    if (frame.type === "text_delta") streamed.set(frame.messageId, (streamed.get(frame.messageId) ?? "") + frame.delta);
  expect([...streamed.values()]).toEqual(expected);
  expect(listThoughts(frames as ChatFrame[]).join("")).toBe(
    Array.from({ length: 100 }, (_, index) => index * 10 + 9).join(""),
  );
});

const listThoughts = (frames: readonly ChatFrame[]) =>
  frames.flatMap((frame) =>
    frame.type === "activity" && frame.activity.kind === "thinking" ? [frame.activity.text] : [],
  );

test("what the code thinks and does is shown while it works, and stored nowhere", async () => {
  const { client } = host;
  await deployAgent(client, "thinker", {
    async onMessage(_, ctx) {
      const reply = ctx.reply();
      await reply.thinking("secret ");
      await reply.thinking("thought");
      await reply.action("look", { at: "hidden place", deep: [1, { a: null }] });
      await reply.action("wait");
      await reply.actionComplete();
      await reply.write("Done.");
      await reply.end();
    },
  });
  const frames = (await collectFrames(host, at("thinker"), "?only=chat")) as ChatFrame[];
  await ask(client, "thinker");
  await waitUntil("the end", () => frames.some(({ type }) => type === "task-complete"));
  const shown = frames.flatMap((frame) => (frame.type === "activity" ? [frame.activity] : []));
  const thoughts = shown.findIndex(({ kind }) => kind !== "thinking");
  expect(listThoughts(frames).join("")).toBe("secret thought");
  expect(shown.slice(thoughts)).toEqual([
    { kind: "action", tool: "look", args: { at: "hidden place", deep: [1, { a: null }] } },
    { kind: "action", tool: "wait", args: {} },
    { kind: "idle" },
  ]);
  expect(frames.findIndex(({ type }) => type === "activity")).toBeLessThan(
    frames.findIndex(({ type }) => type === "text_delta"),
  );
  const params = { agency: "global", agent: "thinker" };
  const { events } = await client.call("listEvents", { params, query: { limit: 1000 } });
  const exported = await fetch(`${host.url}${at("thinker")}/export`, {
    headers: { authorization: `Bearer ${host.token}` },
  });
  const stored = JSON.stringify([events, await listMessages(client, "thinker")]) + (await exported.text());
  expect(stored).toContain("Done.");
  expect(stored).not.toMatch(/secret thought|hidden place/);
});

test("a thought that ends as a secret of the host begins is shown to its end", async () => {
  const { client } = host;
  await deployAgent(client, "guesser", {
    async onMessage({ content }, ctx) {
      await ctx.reply().thinking(`It begins with ${content}`);
    },
  });
  const frames = (await collectFrames(host, at("guesser"), "?only=chat")) as ChatFrame[];
  const beginning = host.token.slice(0, 8);
  await ask(client, "guesser", beginning);
  await waitUntil("the end", () => frames.some(({ type }) => type === "task-complete"));
  expect(listThoughts(frames).join("")).toBe(`It begins with ${beginning}`);
});

test("a reply streams: text that was written is seen before the reply ends", async () => {
  const { client } = host;
  await deployAgent(
    client,
    "slow",
    {
      async onMessage(_, ctx) {
        const reply = ctx.reply();
        await reply.write("The beginning");
        while (!(await ctx.fs.exists("go"))) await new Promise((resolve) => setTimeout(resolve, 20));
        await reply.write(", and the end.");
      },
    },
    { capabilities: ["fs"] },
  );
  const frames = (await collectFrames(host, at("slow"), "?only=chat")) as ChatFrame[];
  const turn = await client.agent("slow").send("Hello.");
  await waitUntil("the first text", () =>
    frames.some((frame) => frame.type === "text_delta" && frame.delta === "The beginning"),
  );
  expect(await waitForStatus(client, "slow", "running")).toMatchObject({ runId: turn.runId });
  await client.agent("slow").putFile("go", "");
  expect((await turn.outcome()).content).toBe("The beginning, and the end.");
  expect(await listMessages(client, "slow")).toEqual([
    ["user", "complete", "Hello."],
    ["assistant", "complete", "The beginning, and the end."],
  ]);
});

test("only text makes a message; an ended reply takes no more, and every method says so", async () => {
  const { client } = host;
  await deployAgent(client, "strict", {
    async onMessage(_, ctx) {
      const reply = ctx.reply();
      await reply.write("");
      await ctx.reply().end();
      const wrong = [5, null, undefined, {}].map((value) => {
        try {
          void reply.write(value as never);
          return "accepted";
        } catch (error) {
          return (error as Error).message;
        }
      });
      await reply.write("One.");
      await reply.end();
      const late = (["write", "thinking", "action", "actionComplete", "end"] as const).map((method) => {
        try {
          void reply[method]("more");
          return "accepted";
        } catch (error) {
          return (error as Error).message;
        }
      });
      await ctx.send(JSON.stringify({ wrong, late }));
    },
  });
  await ask(client, "strict");
  const said = await listSaid("strict");
  const explain = (method: string) =>
    `reply.${method} was called after reply.end. Begin another message with ctx.reply().`;
  expect([said[0], JSON.parse(said[1] ?? "")]).toEqual([
    "One.",
    {
      wrong: [
        "reply.write takes text, not a value of type number.",
        "reply.write takes text, not null.",
        "reply.write takes text, not a value of type undefined.",
        "reply.write takes text, not a value of type object.",
      ],
      late: [...["write", "thinking", "action", "actionComplete"].map(explain), "reply.end was called twice."],
    },
  ]);
  expect(said).toHaveLength(2);
});

test("tool calls divide a reply into messages, which are one again in the conversation", async () => {
  const { client } = host;
  await deployAgent(
    client,
    "divided",
    {
      async onMessage({ content }, ctx) {
        if (content === "recall") {
          const texts = ctx.conversation.map((message) => message.content);
          return ctx.send(JSON.stringify([texts, (await ctx.history.read({ before: ctx.message.id })).length]));
        }
        const [first, second] = [ctx.reply(), ctx.reply()];
        await first.write("one ");
        void second.write("a ");
        void first.write(`${await ctx.tools.execute("bash", { command: "echo two" })} `);
        await Promise.all([1, 2].map((number) => ctx.tools.execute("bash", { command: `echo ${number}` })));
        await second.write("b");
        await first.write("three");
      },
    },
    { capabilities: ["tools"] },
  );
  expect(await ask(client, "divided")).toBe("one two three\n\na b");
  const rows = await listMessages(client, "divided");
  expect(rows.map(([role, , content]) => `${role}: ${content}`)).toEqual([
    "user: Hello.",
    "assistant: one ",
    "tool: two",
    "assistant: two ",
    "tool: 1",
    "tool: 2",
    "assistant: three",
    "assistant: a b",
  ]);
  expect(await askJson(client, "divided", "recall")).toEqual([["Hello.", "one two three", "a b"], 3]);
});

test("what was said before an error stays, and the error follows it", async () => {
  const { client } = host;
  await deployAgent(client, "failing", {
    async onMessage({ content }, ctx) {
      if (content === "recall") return ctx.send(ctx.conversation.map((message) => message.content).join(" | "));
      void ctx.reply().write("I try. ");
      await ctx.send("And more.");
      throw new RangeError("It does not fit.");
    },
  });
  expect(await captureFailure(client, "failing", "go")).toMatchObject({
    code: "code_failed",
    message: expect.stringMatching(/^RangeError: It does not fit\.\n {4}at .*agent\.js:\d+:\d+/),
  });
  expect((await listMessages(client, "failing")).map(([role, status]) => [role, status])).toEqual([
    ["user", "complete"],
    ["assistant", "complete"],
    ["assistant", "complete"],
    ["assistant", "error"],
  ]);
  expect(await ask(client, "failing", "recall")).toBe("go | I try.  | And more.");
});

test("the channel begins messages that can be continued until they are complete, and calls tools", async () => {
  const { client } = host;
  await deployAgent(
    client,
    "channeled",
    {
      async onMessage(_, ctx) {
        const { channel } = ctx;
        const capture = (work: Promise<unknown>) => work.catch((error: Error) => error.message);
        void ctx.reply().write("Before. ");
        const first = await channel.send("One");
        await channel.update(first.id, "One, two");
        const second = await channel.send("Other");
        const errors = [
          await capture(channel.update(first.id, "Something else")),
          await capture(channel.update("channel-9", "x")),
          await capture(channel.complete("channel-9")),
          await capture(channel.callTool("bash", { command: 5 })),
        ];
        await channel.update(first.id, "One, two");
        await channel.complete(first.id);
        errors.push(String(await capture(channel.update(first.id, "One, two, three"))));
        const called = await channel.callTool("bash", { command: "echo called" });
        await channel.update(second.id, "Other, continued");
        await ctx.send(JSON.stringify({ ids: [first.id, second.id], errors, called }));
      },
    },
    { capabilities: ["channel"] },
  );
  await ask(client, "channeled");
  const said = await listSaid("channeled");
  // The second call came after the text before it, so that it has a message of its own.
  expect(said.slice(0, -1)).toEqual(["Before. ", "", "One, two", "Other, continued"]);
  expect(JSON.parse(said.at(-1) ?? "")).toEqual({
    ids: ["channel-0", "channel-1"],
    errors: [
      "The text of a message can only be continued.",
      "There is no message “channel-9” of this request.",
      "There is no message “channel-9” of this request.",
      "Invalid input for bash. command: Invalid input: expected string, received number",
      "This reply has ended.",
    ],
    called: "called",
  });
});
