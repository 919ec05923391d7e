import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createHomePath, removeHome, runCli } from "../kit/host-process.ts";
import { type Answer, type ModelServer, openModelServer, type SeenRequest } from "../kit/model-server.ts";
import { pixel } from "../kit/worker/model-tools.ts";
import { openTestbed, type Testbed, type TestAgent } from "../kit/worker/testbed.ts";

// Which model does what, seen from the server of all of them.

let server: ModelServer;

beforeAll(async () => {
  server = await openModelServer({ models: ["listed"] });
  server.answer(answer);
});

afterAll(() => server?.stop());

const askedRoles = ["fast", "summarizer", "vision"];

/** Who is asked something beside the conversation says who it is; in the conversation all are asked. */
function answer({ body, model, latest, results }: SeenRequest): Answer {
  if (!body.tools) return { text: `I am ${model}.` };
  if (latest.includes("picture") && results.length === 0) return { toolCalls: [{ name: "picture", input: {} }] };
  if (latest.includes("who") && results.length === 0)
    return { toolCalls: askedRoles.map((role) => ({ name: "ask", input: { role, prompt: "Who are you?" } })) };
  return { text: `${model} is done.` };
}

const createProviders = () => ({ box: { baseUrl: `${server.url}/v1` }, eyes: { baseUrl: `${server.url}/v1` } });

/** The models of all roles, as the agent finds them. */
async function readModels(agent: TestAgent, more: object = {}): Promise<Record<string, string>> {
  const { runId } = await agent.invoke({ message: "who?", ...more });
  expect(await agent.over(runId)).toMatchObject({ type: "agent.completed" });
  const messages = (await agent.messages()).filter((message) => message.runId === runId);
  const results = messages.flatMap(({ toolResult }) =>
    toolResult ? [toolResult.preview.replace(/^I am (.*)\.$/, "box:$1")] : [],
  );
  const primary = messages.find(({ role }) => role === "assistant")?.model ?? "";
  return Object.fromEntries([["primary", primary], ...askedRoles.map((role, index) => [role, results[index] ?? ""])]);
}

const createRoles = (layer: string) => ({
  primary: `box:${layer}`,
  fast: `box:${layer}-fast`,
  summarizer: `box:${layer}-short`,
  vision: `box:${layer}-eyes`,
});

describe("a Worker with models of its own", () => {
  let workshop: Testbed;

  beforeAll(async () => {
    workshop = await openTestbed({
      worker: new URL("../kit/worker/roles.worker.ts", import.meta.url),
      config: {
        model: "box:host",
        models: { fast: "box:host-fast", vision: "box:host-eyes" },
        providers: createProviders(),
      },
    });
    const { primary, ...others } = createRoles("blueprint");
    const { status } = await workshop.api("/agency/global/blueprints", "POST", {
      name: "own",
      model: primary,
      models: others,
    });
    expect(status).toBe(201);
  });

  afterAll(() => workshop?.stop());

  test("every layer wins over the ones under it, role by role", async () => {
    const request = { props: { models: createRoles("request") } };
    const props = { models: createRoles("props") };
    // From the strongest: each row leaves the strongest of the row before away.
    const everything = await workshop.newAgent({ name: "classy-1", blueprint: "own", model: "box:agent", props });
    expect(await readModels(everything, request)).toEqual(createRoles("request"));
    expect(await readModels(everything)).toEqual(createRoles("props"));
    const named = await workshop.newAgent({ name: "classy-2", blueprint: "own", model: "box:agent" });
    expect(await readModels(named)).toEqual({ ...createRoles("blueprint"), primary: "box:agent" });
    expect(await readModels(await workshop.newAgent({ name: "classy-3", blueprint: "own" }))).toEqual(
      createRoles("blueprint"),
    );
    expect(await readModels(await workshop.newAgent({ name: "classy-4" }))).toEqual(createRoles("class"));
    expect(await readModels(await workshop.newAgent({ name: "plain" }))).toEqual({
      primary: "box:system",
      fast: "box:host-fast",
      summarizer: "box:host-fast",
      vision: "box:host-eyes",
    });
    // A layer that says something of one role says nothing of the others.
    const mixed = await workshop.newAgent({ name: "classy-5", props: { models: { vision: "box:props-eyes" } } });
    expect(await readModels(mixed, { props: { models: { fast: "box:request-fast" } } })).toEqual({
      ...createRoles("class"),
      fast: "box:request-fast",
      vision: "box:props-eyes",
    });
    // What a request says holds for its own turn.
    expect(await readModels(mixed)).toEqual({ ...createRoles("class"), vision: "box:props-eyes" });
  });
});

describe("a stock Worker", () => {
  let workshop: Testbed;

  beforeAll(async () => {
    workshop = await openTestbed({
      config: {
        model: "box:host",
        providers: {
          ...createProviders(),
          wise: { baseUrl: `${server.url}/v1`, wire: "messages" },
          open: { baseUrl: `${server.url}/v1`, wire: "responses" },
        },
      },
    });
  });

  afterAll(() => workshop?.stop());

  const since = (before: number) => server.listRequests().slice(before);

  test("where nobody says anything, one model does it all", async () => {
    expect(await readModels(await workshop.newAgent())).toEqual({
      primary: "box:host",
      fast: "box:host",
      summarizer: "box:host",
      vision: "box:host",
    });
  });

  test("what models were asked beside the conversation is recorded and paid for", async () => {
    const agent = await workshop.newAgent({ props: { models: { fast: "eyes:small" } } });
    await readModels(agent);
    const generated = (await agent.log()).flatMap((event) => (event.type === "model.generated" ? [event.data] : []));
    expect(generated.map(({ role, model, purpose, usage }) => [role, model, purpose, usage.inputTokens])).toEqual(
      expect.arrayContaining([
        ["fast", "eyes:small", "test", 10],
        ["summarizer", "eyes:small", "test", 10],
        ["vision", "box:host", "test", 10],
      ]),
    );
    const { body } = await workshop.api(`${agent.at}/usage`);
    expect(
      Object.fromEntries(body.byModel.map((sum: { model: string; calls: number }) => [sum.model, sum.calls])),
    ).toEqual({ "box:host": 3, "eyes:small": 2 });
  });

  const attachments = [{ name: "dot.png", mediaType: "image/png", data: pixel }];

  test("images go to the model that sees, and the others are told in words", async () => {
    const agent = await workshop.newAgent({ props: { models: { vision: "eyes:sharp" } } });
    const before = server.countCalls();
    const { runId } = await agent.invoke({ message: "What is this?", attachments });
    expect(await agent.over(runId)).toMatchObject({ data: { result: "sharp is done." } });
    expect(await agent.say("Thanks.")).toMatchObject({ data: { result: "host is done." } });
    // A picture that a tool brings is looked at in the step after it.
    expect(await agent.say("Make a picture.")).toMatchObject({ data: { result: "sharp is done." } });
    expect(await agent.say("Thanks again.")).toMatchObject({ data: { result: "host is done." } });
    const requests = since(before);
    expect(requests.map(({ model, raw }) => [model, raw.split(pixel).length - 1])).toEqual([
      ["sharp", 1],
      ["host", 0],
      ["host", 0],
      ["sharp", 2],
      ["host", 0],
    ]);
    expect(requests.at(-1)?.raw).toContain("[image, image/png; eyes:sharp looked at it and answered.]");
    expect(requests.at(-1)?.raw).toContain("[You cannot see this picture; eyes:sharp looked at it and answered.]");
    const started = (await agent.log()).flatMap((event) => (event.type === "model.started" ? [event.data.model] : []));
    expect(started).toEqual(["eyes:sharp", "box:host", "box:host", "eyes:sharp", "box:host"]);
    const answers = (await agent.messages()).filter(({ role }) => role === "assistant").map(({ model }) => model);
    expect(answers).toEqual(started);
  });

  test("a model that sees by itself is shown everything", async () => {
    const agent = await workshop.newAgent();
    const before = server.countCalls();
    await agent.over((await agent.invoke({ message: "What is this?", attachments })).runId);
    await agent.say("Thanks.");
    expect(since(before).map(({ model, raw }) => [model, raw.includes(pixel)])).toEqual([
      ["host", true],
      ["host", true],
    ]);
  });

  test("a role with a provider there is not is refused by its path, wherever it is said", async () => {
    const refused = (body: object, path: (string | number)[]) => ({
      status: 400,
      body: {
        error: {
          code: "bad_request",
          details: {
            suggestion: expect.any(String),
            problems: [{ path, message: expect.stringContaining("no provider") }],
          },
          ...body,
        },
      },
    });
    const models = { summarizer: "wiese:x" };
    expect(await workshop.api("/agency/global/blueprints", "POST", { name: "bad", models })).toMatchObject(
      refused({}, ["models", "summarizer"]),
    );
    expect(await workshop.api("/agents", "POST", { name: "bad", props: { models } })).toMatchObject(
      refused({}, ["props", "models", "summarizer"]),
    );
    const agent = await workshop.newAgent();
    expect(await workshop.api(`${agent.at}/invoke`, "POST", { message: "hi", props: { models } })).toMatchObject(
      refused({}, ["props", "models", "summarizer"]),
    );
    expect(await workshop.api("/agents", "POST", { name: "bad", props: { models: { eyes: "box:x" } } })).toMatchObject({
      status: 400,
      body: { error: { details: { problems: [{ path: ["props", "models", "eyes"] }] } } },
    });
    expect(await agent.messages()).toEqual([]);
  });

  test("a role without a key fails the turn that needs it, by its name, and no other", async () => {
    const agent = await workshop.newAgent({ props: { models: { vision: "anthropic:claude-opus-5" } } });
    expect(await agent.say("Hello.")).toMatchObject({ type: "agent.completed" });
    const { runId } = await agent.invoke({ message: "What is this?", attachments });
    expect(await agent.over(runId)).toMatchObject({
      type: "agent.error",
      data: { code: "no_model", error: expect.stringMatching(/role “vision”.*ANTHROPIC_API_KEY/) },
    });
  });

  test.each(["box", "wise", "open"])(
    "each request begins with all of the one before it, byte by byte (%s)",
    async (provider) => {
      const agent = await workshop.newAgent({ model: `${provider}:steady` });
      const before = server.countCalls();
      for (const message of ["who?", "Hello.", "Make a picture.", "who again?"])
        expect(await agent.say(message)).toMatchObject({ type: "agent.completed" });
      const conversation = since(before)
        .filter(({ body }) => body.tools)
        .map(({ body: { system, instructions, tools, messages, input } }) => ({
          prompt: JSON.stringify({ system, instructions, tools }),
          // The mark that says how far to cache moves along, and does not count.
          messages: ((messages ?? input) as object[]).map((message) =>
            JSON.stringify(message).replaceAll(',"cache_control":{"type":"ephemeral"}', ""),
          ),
        }));
      expect(conversation.length).toBeGreaterThanOrEqual(7);
      for (const [index, { prompt, messages }] of conversation.slice(1).entries()) {
        expect(prompt).toBe(conversation[index]?.prompt);
        expect(messages.slice(0, conversation[index]?.messages.length)).toEqual(conversation[index]?.messages);
      }
    },
  );

  test("tokens that a provider had in its cache are counted", async () => {
    const agent = await workshop.newAgent({ model: "wise:steady" });
    server.answer([
      { text: "One.", usage: { input: 1000, output: 10 } },
      { text: "Two.", usage: { input: 1100, output: 10, cached: 1000 } },
    ]);
    onTestFinished(() => server.answer(answer));
    await agent.say("One?");
    await agent.say("Two?");
    const { body } = await workshop.api(`${agent.at}/usage`);
    expect(body.total).toMatchObject({ inputTokens: 2100, cachedInputTokens: 1000 });
  });
});

test("a host whose configuration names a provider there is not does not start, and says where it stands", async () => {
  const home = await createHomePath();
  onTestFinished(() => removeHome(home));
  await mkdir(home, { mode: 0o700 });
  await writeFile(join(home, "config.jsonc"), JSON.stringify({ models: { summarizer: "opnai:x" } }));
  expect(await runCli(["start", "--foreground", "--port", "0"], home)).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/“models\.summarizer”.*did you mean “openai:x”/),
  });
});
