import type { ToolContext } from "@thinkery/sdk/agent";
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
} from "../kit/user-agent.ts";

// Tools that the code of an agent provides to the other agents of its agency.

let host: HostProcess;

beforeAll(async () => {
  host = await startAgentHost({
    scripts: {
      adder: [
        { when: "bad", steps: [{ call: { tool: "math__add", input: { a: "x" } } }, { text: "{{ results.0 }}" }] },
        { when: "fail", steps: [{ call: { tool: "math__fail", input: {} } }, { text: "{{ results.0 }}" }] },
        { steps: [{ call: { tool: "math__add", input: { a: 1, b: 2 } } }, { text: "{{ results.0 }}" }] },
      ],
    },
  });
  await deployMath();
  // Executes the tool that the message names.
  await deployAgent(
    host.client,
    "client",
    {
      async onMessage({ content }, ctx) {
        if (content === "list") return ctx.send(JSON.stringify(ctx.tools.filter(({ name }) => name.includes("__"))));
        const [name = "", json = "{}"] = content.split(" ");
        const result = await ctx.tools
          .execute(name, JSON.parse(json))
          .catch((error: Error) => ({ error: error.name, message: error.message }));
        await ctx.send(JSON.stringify(result ?? "nothing"));
      },
    },
    { capabilities: ["tools"] },
  );
});

afterAll(() => host?.stop());

function deployMath() {
  const { client } = host;
  return deployAgent(client, "math", {
    settings: { offset: { type: "number", default: 0 } },
    state: { calls: 0 },
    onInit: (ctx) => ctx.log.info("init"),
    onMessage: (_, ctx) => ctx.send(String(ctx.state.calls)),
    tools: {
      add: {
        description: "Adds two numbers.",
        parameters: { a: { type: "number" }, b: { type: "number", optional: true, description: "Zero if left out." } },
        execute({ a, b = 0 }: { a: number; b?: number }, ctx: ToolContext) {
          ctx.setState({ calls: Number(ctx.state.calls) + 1 });
          ctx.log.info(`add ${a} ${b}`);
          return { sum: a + b + Number(ctx.settings.offset), caller: ctx.caller, agent: ctx.agent };
        },
      },
      fail: {
        description: "Fails.",
        execute(_: object, ctx: ToolContext) {
          ctx.setState({ calls: -1 });
          throw new RangeError("It cannot be done.");
        },
      },
      nothing: { description: "Returns nothing.", execute() {} },
      text: { description: "Returns text.", execute: () => "just text" },
      odd: { description: "Returns what is no JSON.", execute: () => ({ at: new Map() }) },
      schema: {
        description: "Has a schema.",
        parameters: {
          type: "object",
          properties: { unit: { enum: ["m", "km"] }, list: { type: "array", items: { type: "integer" } } },
          required: ["unit"],
        },
        execute: (args: object) => args,
      },
      reply: { description: "Tries to reply.", execute: (_: object, ctx: ToolContext) => Object.keys(ctx).toSorted() },
    },
  });
}

test("tools are offered to the other agents under the agent's name, with their schemas, and not to itself", async () => {
  const { client } = host;
  const listed = (await askJson(client, "client", "list")) as {
    name: string;
    description: string;
    parameters: object;
  }[];
  const own = ["add", "fail", "nothing", "text", "odd", "schema", "reply"].map((name) => `math__${name}`);
  expect(listed.map(({ name }) => name)).toEqual(own);
  expect(listed[0]).toEqual({
    name: "math__add",
    description: "Adds two numbers.",
    parameters: {
      type: "object",
      properties: { a: { type: "number" }, b: { type: "number", description: "Zero if left out." } },
      required: ["a"],
      additionalProperties: false,
    },
  });
  await deployAgent(
    client,
    "alone",
    {
      tools: { own: { description: "Its own.", execute: () => 1 } },
      onMessage: (_, ctx) => ctx.send(ctx.tools.map(({ name }) => name).join()),
    },
    { capabilities: ["tools"] },
  );
  const names = (await ask(client, "alone")).split(",");
  expect(names).toContain("math__add");
  expect(names).not.toContain("alone__own");
  expect((await describeCode(client, "math")).tools.map(({ name }) => name)).toEqual(
    own.map((name) => name.replace("math__", "")),
  );
});

test("a tool gets its arguments, settings and state, and its result comes back as JSON", async () => {
  const { client } = host;
  await ask(client, "math");
  const caller = { caller: "global~client", agent: "global~math" };
  expect(await askJson(client, "client", 'math__add {"a":1,"b":2}')).toEqual({ sum: 3, ...caller });
  await putSettings(client, "math", { offset: 100 });
  expect(await askJson(client, "client", 'math__add {"a":1}')).toEqual({ sum: 101, ...caller });
  await putSettings(client, "math", { offset: null });
  expect(await readState(client, "math")).toEqual({ calls: 2 });
  const texts = (await readLog(client, "math")).map(({ text }) => text);
  expect(texts.slice(-2)).toEqual(["add 1 2", "add 1 0"]);
  expect(texts.filter((text) => text === "init")).toHaveLength(1);
  expect(await askJson(client, "client", "math__text")).toBe("just text");
  expect(await askJson(client, "client", 'math__schema {"unit":"km","list":[1,2]}')).toEqual({
    unit: "km",
    list: [1, 2],
  });
  // There is no conversation to reply to.
  const members = (await askJson(client, "client", "math__reply")) as string[];
  expect(members).toContain("caller");
  expect(members.filter((name) => ["reply", "send", "message", "conversation", "channel"].includes(name))).toEqual([]);
});

test("errors of a tool, wrong arguments and results that are no JSON are errors for its caller", async () => {
  const { client } = host;
  const before = await readState(client, "math");
  const failed = {
    error: "ToolCallError",
    message: expect.stringMatching(/math__fail failed: RangeError: It cannot be done\./),
  };
  expect(await askJson(client, "client", "math__fail")).toEqual(failed);
  for (const [call, text] of [
    ['math__add {"a":"x"}', "a: "],
    ["math__add {}", "a: "],
    ['math__add {"a":1,"c":2}', "c"],
    ['math__schema {"unit":"mm"}', "unit"],
    ["math__odd", "The result of odd must be JSON"],
    ["math__unknown", "There is no tool “math__unknown”"],
  ])
    expect([call, await askJson(client, "client", call)]).toEqual([
      call,
      { error: "ToolCallError", message: expect.stringContaining(text ?? "") },
    ]);
  // Nothing of a call that failed is kept.
  expect(await readState(client, "math")).toEqual(before);
});

test("a built-in agent's model can call them", async () => {
  const { client } = host;
  const params = { agency: "global" };
  await client.call("createAgent", { params, body: { name: "scripted", model: "scripted:adder" } });
  expect(JSON.parse(await ask(client, "scripted", "go"))).toMatchObject({ sum: 3, caller: "global~scripted" });
  expect(await ask(client, "scripted", "bad")).toContain("Invalid input for math__add");
  expect(await ask(client, "scripted", "fail")).toContain("It cannot be done.");
});

test("a policy can ask or deny, as for any tool", async () => {
  const { client } = host;
  const params = { agency: "global" };
  await client.call("putPolicy", { params, body: { rules: [{ tool: "math__add", action: "deny", agent: "client" }] } });
  expect(await askJson(client, "client", 'math__add {"a":1}')).toMatchObject({
    message: expect.stringContaining("denies math__add"),
  });
  await client.call("putPolicy", { params, body: { rules: [] } });
});

test("agents that call each other in circles are stopped, and say which", async () => {
  const { client } = host;
  for (const [name, other] of [
    ["ping", "pong"],
    ["pong", "ping"],
  ])
    await deployAgent(
      client,
      name ?? "",
      `export default defineAgent({
        tools: { hit: { description: "Hits back.", execute: (_, ctx) => ctx.tools.execute("${other}__hit") } },
        onMessage: async (_, ctx) => ctx.send(await ctx.tools.execute("${other}__hit")),
      });`,
      { capabilities: ["tools"] },
    );
  const { message } = await captureFailure(client, "ping");
  expect(message).toContain("Agents wait for each other: global~ping → global~pong → global~ping");
  const [, agents = ""] = /wait for each other: (.*?)\. Stopped here\./.exec(message) ?? [];
  expect(agents.split(" → ")).toHaveLength(10);
});

test("many calls at once each have their result; state has all of their changes", async () => {
  const { client } = host;
  await deployAgent(client, "store", {
    onMessage() {},
    tools: {
      put: {
        description: "Stores a key.",
        parameters: { key: { type: "string" } },
        async execute({ key }: { key: string }, ctx: ToolContext) {
          await new Promise((resolve) => setTimeout(resolve, 5));
          ctx.setState({ [key]: true });
          await ctx.storage.set(key, key);
          return key;
        },
      },
    },
  });
  await deployAgent(
    client,
    "crowd",
    {
      async onMessage(_, ctx) {
        const keys = Array.from({ length: 40 }, (_unused, index) => `k${index}`);
        const results = await Promise.all(keys.map((key) => ctx.tools.execute("store__put", { key })));
        await ctx.send(JSON.stringify([keys, results]));
      },
    },
    { capabilities: ["tools"] },
  );
  const [keys, results] = (await askJson(client, "crowd")) as string[][];
  expect(results).toEqual(keys);
  expect(Object.keys((await readState(client, "store")) as object).toSorted()).toEqual(keys?.toSorted());
  expect((await describeCode(client, "store")).storage.entries).toBe(40);
});

test("tools come and go with versions, and with the agent", async () => {
  const { client } = host;
  const deployTool = (tool: string) =>
    deployAgent(
      client,
      "fleeting",
      `export default defineAgent({ onMessage() {}, tools: { ${tool}: { description: "x", execute: () => "${tool}" } } });`,
    );
  const listFleeting = async () =>
    ((await askJson(client, "client", "list")) as { name: string }[])
      .map(({ name }) => name)
      .filter((name) => name.startsWith("fleeting"));
  await deployTool("one");
  expect(await listFleeting()).toEqual(["fleeting__one"]);
  await deployTool("two");
  expect(await listFleeting()).toEqual(["fleeting__two"]);
  expect(await askJson(client, "client", "fleeting__two")).toBe("two");
  await client.call("rollbackPackage", { params: { agency: "global", package: "fleeting" }, body: {} });
  expect(await listFleeting()).toEqual(["fleeting__one"]);
  const body = { name: "fleeting-2", blueprint: "fleeting" };
  await client.call("createAgent", { params: { agency: "global" }, body });
  expect(await listFleeting()).toEqual(["fleeting__one", "fleeting-2__one"]);
  await client.agent("fleeting").delete();
  await client.agent("fleeting-2").delete();
  expect(await listFleeting()).toEqual([]);
  expect(await askJson(client, "client", "fleeting__one")).toMatchObject({
    message: expect.stringContaining("There is no tool “fleeting__one”"),
  });
  // Another agency has never had any of them.
  await client.call("createAgency", { body: { id: "other" } });
  await deployAgent(
    client,
    "client",
    { onMessage: (_, ctx) => ctx.send(ctx.tools.map(({ name }) => name).join()) },
    { agency: "other", capabilities: ["tools"] },
  );
  expect(await ask(client, "client@other")).not.toContain("__");
});
