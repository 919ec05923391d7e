import type { AgentContext } from "@thinkery/sdk/agent";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { HostProcess } from "../kit/host-process.ts";
import { isLongRun } from "../kit/sample.ts";
import {
  ask,
  askJson,
  captureFailure,
  deployAgent,
  describeCode,
  listMessages,
  readLog,
  readState,
  startAgentHost,
} from "../kit/user-agent.ts";
import { waitUntil } from "../kit/wait-until.ts";

// Code that does what it should not: the turn fails with a reason, and everything else goes on.

let host: HostProcess;

beforeAll(async () => {
  host = await startAgentHost();
  await deployAgent(host.client, "bystander", { onMessage: (_, ctx) => ctx.send("Fine.") });
});

afterAll(() => host?.stop());

const deploy = (
  name: string,
  onMessage: (message: { content: string }, ctx: AgentContext) => unknown,
  capabilities: ("fs" | "tools" | "ai")[] = [],
) => deployAgent(host.client, name, { onMessage: onMessage as never }, { capabilities });

test("a reply that is too long, or one too many, fails the turn with the limit; what fits is kept", async () => {
  const { client } = host;
  await deploy("flooding", async ({ content }, ctx) => {
    const reply = ctx.reply();
    if (content === "long") for (let index = 0; index < 30; index++) void reply.write("x".repeat(50_000));
    if (content === "await") for (let index = 0; index < 30; index++) await reply.write("x".repeat(50_000));
    if (content === "many")
      for (let index = 0; index < 300; index++) {
        const one = ctx.reply();
        void one.write(`${index}`);
        void one.end();
      }
    if (content === "total")
      for (let index = 0; index < 10; index++) {
        const one = ctx.reply();
        for (let part = 0; part < 9; part++) void one.write("x".repeat(100_000));
        await one.end();
      }
    await ctx.send("Done.");
  });
  const tooLong = "A reply can have at most 1000000 characters. Write long results to a file.";
  for (const [message, failure] of [
    ["long", tooLong],
    ["await", tooLong],
    ["many", "A request can have at most 200 replies."],
    ["total", "The replies to a message can have at most 4000000 characters together."],
  ] as const)
    expect([message, (await captureFailure(client, "flooding", message)).message.split("\n")[0]]).toEqual([
      message,
      failure,
    ]);
  const said = (await client.agent("flooding").messages({ limit: 20 })).messages;
  expect(said.every(({ status }) => status === "complete" || status === "error")).toBe(true);
  expect(await ask(client, "flooding", "ok")).toBe("Done.");
});

test("what the code has kept of a request is useless when the request is over", async () => {
  const { client } = host;
  await deployAgent(
    client,
    "keeping",
    `let kept;
    export default defineAgent({
      async onMessage({ content }, ctx) {
        if (content === "keep") {
          const reply = ctx.reply();
          await reply.write("Kept.");
          kept = { ctx, reply };
          // Nobody waits for this.
          setTimeout(() => void ctx.send("Later.").catch(() => {}), 20);
          return;
        }
        const attempts = {
          send: () => kept.ctx.send("late"),
          write: () => kept.reply.write("late"),
          reply: () => kept.ctx.reply().write("late"),
          storage: () => kept.ctx.storage.set("late", 1),
          fs: () => kept.ctx.fs.writeFile("late.txt", "x"),
          history: () => kept.ctx.history.read(),
          ai: () => kept.ctx.ai.generate("x"),
          tools: () => kept.ctx.tools.execute("bash", { command: "echo late" }),
        };
        const results = {};
        for (const [name, attempt] of Object.entries(attempts))
          results[name] = await Promise.resolve().then(attempt).then(() => "It succeeded.", (error) => error.message);
        kept.ctx.setState({ late: true });
        kept.ctx.log.info("late");
        await ctx.send(JSON.stringify({ results, state: ctx.state }));
      },
    });`,
    { capabilities: ["fs", "ai", "tools"] },
  );
  expect(await ask(client, "keeping", "keep")).toBe("Kept.");
  const { results, state } = (await askJson(client, "keeping", "use")) as {
    results: Record<string, string>;
    state: object;
  };
  expect(Object.keys(results)).toHaveLength(8);
  expect(Object.values(results).filter((result) => !/is over|was called after reply\.end/.test(result))).toEqual([]);
  expect(state).toEqual({});
  expect((await listMessages(client, "keeping")).map(([, , content]) => content).slice(0, 3)).toEqual([
    "keep",
    "Kept.",
    "use",
  ]);
  expect(await readLog(client, "keeping")).toEqual([]);
  expect(await readState(client, "keeping")).toEqual({});
});

test("whatever is thrown has a message, of at most some thousand characters", async () => {
  const { client } = host;
  await deploy("thrower", ({ content }) => {
    const thrown: Record<string, unknown> = {
      text: "just text",
      nothing: undefined,
      null: null,
      number: 5,
      object: { a: 1 },
      long: new Error("x".repeat(100_000)),
      named: Object.assign(new Error("Odd."), { name: "OddError" }),
      empty: new Error(""),
      cause: new Error("Outer.", { cause: new Error("Inner.") }),
      noStack: Object.assign(new Error("Bare."), { stack: undefined }),
    };
    throw thrown[content];
  });
  const failures: Record<string, string> = {};
  for (const kind of ["text", "nothing", "null", "number", "object", "long", "named", "empty", "cause", "noStack"])
    failures[kind] = (await captureFailure(client, "thrower", kind)).message;
  expect(failures.long?.length).toBeLessThan(6000);
  delete failures.long;
  const firstLines = Object.entries(failures).map(([kind, message]) => [kind, message.split("\n")[0]]);
  expect(Object.fromEntries(firstLines)).toEqual({
    text: "just text",
    nothing: "undefined",
    null: "null",
    number: "5",
    object: "[object Object]",
    named: "OddError: Odd.",
    empty: expect.anything(),
    cause: "Outer.",
    noStack: "Bare.",
  });
});

test("a promise that nobody awaits may reject; the turn is what its handler returned", async () => {
  const { client } = host;
  await deploy("careless", async (_, ctx) => {
    void Promise.reject(new Error("Nobody sees this."));
    void ctx.storage.set("", 1);
    setTimeout(() => {
      throw new Error("Nor this.");
    }, 1);
    await new Promise((resolve) => setTimeout(resolve, 20));
    await ctx.send("Done.");
    return { odd: true };
  });
  expect(await ask(client, "careless")).toBe("Done.");
  expect(await ask(client, "careless")).toBe("Done.");
  expect((await describeCode(client, "careless")).requests).toMatchObject({ total: 2, failed: 0 });
});

test("there are limits for calls, model streams and stored values of one request", async () => {
  const { client } = host;
  await deploy(
    "greedy",
    async ({ content }, ctx) => {
      let error = "none";
      try {
        if (content === "files") for (let index = 0; index < 1001; index++) await ctx.fs.exists("a");
        if (content === "store")
          for (let index = 0; index < 20; index++) await ctx.storage.set(`${index}`, "x".repeat(1_000_000));
        if (content === "streams") {
          const streams = Array.from({ length: 17 }, () => ctx.ai.stream({ prompt: "x", model: "scripted:tour" }));
          await Promise.all(streams.map((stream) => stream.next()));
        }
        if (content === "depth") {
          let deep: unknown = 1;
          for (let index = 0; index < 300; index++) deep = [deep];
          ctx.setState({ deep: deep as string });
        }
      } catch (thrown) {
        error = (thrown as Error).message;
      }
      await ctx.send(error);
    },
    ["fs", "ai"],
  );
  for (const [message, error] of [
    ["files", "Code may make at most 1000 calls per run."],
    ["store", "A request can store at most 16777216 characters. Store less at a time."],
    ["streams", "16 model calls are open. Read or close some first."],
    ["depth", /Found more than 200 levels deep/],
  ] as const)
    expect([message, await ask(client, "greedy", message)]).toEqual([
      message,
      typeof error === "string" ? error : expect.stringMatching(error),
    ]);
});

test("code that breaks its globals harms nobody else", async () => {
  const { client } = host;
  await deploy("vandal", async (_, ctx) => {
    await ctx.send("Broken.");
    const broken = globalThis as unknown as Record<string, unknown>;
    for (const name of ["Promise", "Map", "Error", "Response", "Request", "TextEncoder", "setTimeout", "fetch"]) {
      try {
        broken[name] = () => "broken";
      } catch {
        // It cannot be changed.
      }
    }
    for (const value of [JSON, Object, Array.prototype, Object.prototype, Function.prototype])
      for (const name of ["parse", "stringify", "entries", "keys", "then", "call", "toJSON", "map", "push"]) {
        try {
          Object.defineProperty(value, name, { value: () => "broken", configurable: true, writable: true });
        } catch {
          // It cannot be changed.
        }
      }
  });
  // It may never end, because nothing of what it awaits works any more.
  for (let index = 0; index < 2; index++) {
    const turn = await client.agent("vandal").send("Go.");
    await waitUntil("it to break them", async () =>
      (await listMessages(client, "vandal")).some(([, , content]) => content === "Broken."),
    );
    expect(await ask(client, "bystander")).toBe("Fine.");
    await turn.cancel();
    expect(await ask(client, "bystander")).toBe("Fine.");
  }
  // A new version begins with new globals.
  await deploy("vandal", (_, ctx) => ctx.send("Whole."));
  expect(await ask(client, "vandal")).toBe("Whole.");
});

test("keys of the state that are special in JavaScript are keys like all others", async () => {
  const { client } = host;
  await deploy("special", async ({ content }, ctx) => {
    ctx.setState({ constructor: 2, toString: "x", hasOwnProperty: null, [content]: 1 });
    await ctx.storage.set("__proto__", { b: 1 });
    await ctx.send(JSON.stringify([ctx.state, await ctx.storage.get("__proto__")]));
  });
  const state = { constructor: 2, toString: "x", hasOwnProperty: null, valueOf: 1 };
  for (let index = 0; index < 2; index++)
    expect(await askJson(client, "special", "valueOf")).toEqual([state, { b: 1 }]);
  expect(await readState(client, "special")).toEqual(state);
});

// It takes as long as a process may be silent.
test.runIf(isLongRun())(
  "code that never pauses loses its process; others go on, and it can be asked again",
  async () => {
    const { client } = host;
    await deploy("spinning", async ({ content }, ctx) => {
      if (content === "spin") for (;;);
      await ctx.send("Well.");
    });
    await deploy("hungry", async ({ content }, ctx) => {
      const hoard: string[][] = [];
      while (content === "eat") hoard.push(Array.from({ length: 100_000 }, (_, index) => `${index} ${Math.random()}`));
      await ctx.send("Full.");
    });
    expect(await ask(client, "spinning", "x")).toBe("Well.");
    const spinning = captureFailure(client, "spinning", "spin");
    const eating = captureFailure(client, "hungry", "eat");
    expect((await spinning).message).toMatch(
      /^The agent's code blocked its process: it ran for too long without pausing/,
    );
    expect((await eating).message).toMatch(/memory/);
    expect(await ask(client, "bystander")).toBe("Fine.");
    expect(await ask(client, "spinning", "x")).toBe("Well.");
    expect(await describeCode(client, "spinning")).toMatchObject({ isApart: true, requests: { failed: 1 } });
    await deploy("spinning", (_, ctx) => ctx.send("Repaired."));
    expect(await ask(client, "spinning", "spin")).toBe("Repaired.");
    await waitUntil("it to be together with the others", async () => !(await describeCode(client, "spinning")).isApart);
  },
);
