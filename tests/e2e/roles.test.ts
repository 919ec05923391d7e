import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createHomePath, removeHome, runCli } from "../kit/host-process.ts";
import { type Answer, type ModelServer, openModelServer, type RecordedRequest } from "../kit/model-server.ts";
import { pixel } from "../kit/worker/model-tools.ts";
import { openTestbed, type Testbed, type TestAgent } from "../kit/worker/testbed.ts";

// Which model is called for each role, recorded by the model server.

let server: ModelServer;

beforeAll(async () => {
  server = await openModelServer({ models: ["listed"] });
  server.answer(respond);
});

afterAll(() => server?.stop());

const sideRoles = ["fast", "summarizer", "vision"];

/**
 * Outside the conversation, a model responds with its name; “who” in the conversation makes it call all other roles.
 */
function respond({ body, model, latest, results }: RecordedRequest): Answer {
  if (!body.tools) return { text: `I am ${model}.` };
  if (latest.includes("picture") && results.length === 0) return { toolCalls: [{ name: "picture", input: {} }] };
  if (latest.includes("who") && results.length === 0)
    return { toolCalls: sideRoles.map((role) => ({ name: "ask", input: { role, prompt: "Who are you?" } })) };
  return { text: `${model} is done.` };
}

const createProviders = () => ({ box: { baseUrl: `${server.url}/v1` }, eyes: { baseUrl: `${server.url}/v1` } });

/** Runs a turn that calls every role, and returns the model of each. */
async function readModels(agent: TestAgent, more: object = {}): Promise<Record<string, string>> {
  const { runId } = await agent.invoke({ message: "who?", ...more });
  expect(await agent.waitForEnd(runId)).toMatchObject({ type: "agent.completed" });
  const messages = (await agent.messages()).filter((message) => message.runId === runId);
  const results = messages.flatMap(({ toolResult }) =>
    toolResult ? [toolResult.preview.replace(/^I am (.*)\.$/, "box:$1")] : [],
  );
  const primary = messages.find(({ role }) => role === "assistant")?.model ?? "";
  return Object.fromEntries([["primary", primary], ...sideRoles.map((role, index) => [role, results[index] ?? ""])]);
}

const createRoles = (layer: string) => ({
  primary: `box:${layer}`,
  fast: `box:${layer}-fast`,
  summarizer: `box:${layer}-short`,
  vision: `box:${layer}-eyes`,
});

describe("a Worker that configures models", () => {
  let testbed: Testbed;

  beforeAll(async () => {
    testbed = await openTestbed({
      worker: new URL("../kit/worker/roles.worker.ts", import.meta.url),
      config: {
        model: "box:host",
        models: { fast: "box:host-fast", vision: "box:host-eyes" },
        providers: createProviders(),
      },
    });
    const { primary, ...others } = createRoles("blueprint");
    const { status } = await testbed.api("/agency/global/blueprints", "POST", {
      name: "custom",
      model: primary,
      models: others,
    });
    expect(status).toBe(201);
  });

  afterAll(() => testbed?.stop());

  test("each layer overrides the ones below it, role by role", async () => {
    const request = { props: { models: createRoles("request") } };
    const props = { models: createRoles("props") };
    // Strongest layer first; each step removes the strongest one.
    const withProps = await testbed.newAgent({ name: "classy-1", blueprint: "custom", model: "box:agent", props });
    expect(await readModels(withProps, request)).toEqual(createRoles("request"));
    expect(await readModels(withProps)).toEqual(createRoles("props"));
    const withModel = await testbed.newAgent({ name: "classy-2", blueprint: "custom", model: "box:agent" });
    expect(await readModels(withModel)).toEqual({ ...createRoles("blueprint"), primary: "box:agent" });
    expect(await readModels(await testbed.newAgent({ name: "classy-3", blueprint: "custom" }))).toEqual(
      createRoles("blueprint"),
    );
    expect(await readModels(await testbed.newAgent({ name: "classy-4" }))).toEqual(createRoles("class"));
    expect(await readModels(await testbed.newAgent({ name: "plain" }))).toEqual({
      primary: "box:system",
      fast: "box:host-fast",
      summarizer: "box:host-fast",
      vision: "box:host-eyes",
    });
    // A layer that sets one role does not affect the others.
    const mixed = await testbed.newAgent({ name: "classy-5", props: { models: { vision: "box:props-eyes" } } });
    expect(await readModels(mixed, { props: { models: { fast: "box:request-fast" } } })).toEqual({
      ...createRoles("class"),
      fast: "box:request-fast",
      vision: "box:props-eyes",
    });
    // A request's models apply to its own turn only.
    expect(await readModels(mixed)).toEqual({ ...createRoles("class"), vision: "box:props-eyes" });
  });
});

describe("the stock Worker", () => {
  let testbed: Testbed;

  beforeAll(async () => {
    testbed = await openTestbed({
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

  afterAll(() => testbed?.stop());

  const listRequestsSince = (before: number) => server.listRequests().slice(before);

  test("without configured roles, one model is used for all", async () => {
    expect(await readModels(await testbed.newAgent())).toEqual({
      primary: "box:host",
      fast: "box:host",
      summarizer: "box:host",
      vision: "box:host",
    });
  });

  test("model calls outside the conversation are logged and counted in the usage", async () => {
    const agent = await testbed.newAgent({ props: { models: { fast: "eyes:small" } } });
    await readModels(agent);
    const generated = (await agent.log()).flatMap((event) => (event.type === "model.generated" ? [event.data] : []));
    expect(generated.map(({ role, model, purpose, usage }) => [role, model, purpose, usage.inputTokens])).toEqual(
      expect.arrayContaining([
        ["fast", "eyes:small", "test", 10],
        ["summarizer", "eyes:small", "test", 10],
        ["vision", "box:host", "test", 10],
      ]),
    );
    const { body } = await testbed.api(`${agent.at}/usage`);
    expect(
      Object.fromEntries(body.byModel.map((sum: { model: string; calls: number }) => [sum.model, sum.calls])),
    ).toEqual({ "box:host": 3, "eyes:small": 2 });
  });

  const attachments = [{ name: "dot.png", mediaType: "image/png", data: pixel }];

  test("images are sent to the vision model; other models get a text placeholder", async () => {
    const agent = await testbed.newAgent({ props: { models: { vision: "eyes:sharp" } } });
    const before = server.countCalls();
    const { runId } = await agent.invoke({ message: "What is this?", attachments });
    expect(await agent.waitForEnd(runId)).toMatchObject({ data: { result: "sharp is done." } });
    expect(await agent.say("Thanks.")).toMatchObject({ data: { result: "host is done." } });
    // An image returned by a tool is sent to the vision model in the next step.
    expect(await agent.say("Make a picture.")).toMatchObject({ data: { result: "sharp is done." } });
    expect(await agent.say("Thanks again.")).toMatchObject({ data: { result: "host is done." } });
    const requests = listRequestsSince(before);
    expect(requests.map(({ model, raw }) => [model, raw.split(pixel).length - 1])).toEqual([
      ["sharp", 1],
      ["host", 0],
      ["host", 0],
      ["sharp", 2],
      ["host", 0],
    ]);
    expect(requests.at(-1)?.raw).toContain("[image, image/png; eyes:sharp looked at it and responded.]");
    expect(requests.at(-1)?.raw).toContain("[You cannot see this image; eyes:sharp looked at it and responded.]");
    const started = (await agent.log()).flatMap((event) => (event.type === "model.started" ? [event.data.model] : []));
    expect(started).toEqual(["eyes:sharp", "box:host", "box:host", "eyes:sharp", "box:host"]);
    const responders = (await agent.messages()).filter(({ role }) => role === "assistant").map(({ model }) => model);
    expect(responders).toEqual(started);
  });

  test("without a separate vision model, the primary model gets all images", async () => {
    const agent = await testbed.newAgent();
    const before = server.countCalls();
    await agent.waitForEnd((await agent.invoke({ message: "What is this?", attachments })).runId);
    await agent.say("Thanks.");
    expect(listRequestsSince(before).map(({ model, raw }) => [model, raw.includes(pixel)])).toEqual([
      ["host", true],
      ["host", true],
    ]);
  });

  test("a role with an unknown provider is rejected with its path, wherever it is set", async () => {
    const createError = (body: object, path: (string | number)[]) => ({
      status: 400,
      body: {
        error: {
          code: "bad_request",
          details: {
            suggestion: expect.any(String),
            issues: [{ path, message: expect.stringContaining("Unknown provider") }],
          },
          ...body,
        },
      },
    });
    const models = { summarizer: "wiese:x" };
    expect(await testbed.api("/agency/global/blueprints", "POST", { name: "bad", models })).toMatchObject(
      createError({}, ["models", "summarizer"]),
    );
    expect(await testbed.api("/agents", "POST", { name: "bad", props: { models } })).toMatchObject(
      createError({}, ["props", "models", "summarizer"]),
    );
    const agent = await testbed.newAgent();
    expect(await testbed.api(`${agent.at}/invoke`, "POST", { message: "hi", props: { models } })).toMatchObject(
      createError({}, ["props", "models", "summarizer"]),
    );
    expect(await testbed.api("/agents", "POST", { name: "bad", props: { models: { eyes: "box:x" } } })).toMatchObject({
      status: 400,
      body: { error: { details: { issues: [{ path: ["props", "models", "eyes"] }] } } },
    });
    expect(await agent.messages()).toEqual([]);
  });

  test("a role without an API key fails only the turns that need it, and the error names the role", async () => {
    const agent = await testbed.newAgent({ props: { models: { vision: "anthropic:claude-opus-5" } } });
    expect(await agent.say("Hello.")).toMatchObject({ type: "agent.completed" });
    const { runId } = await agent.invoke({ message: "What is this?", attachments });
    expect(await agent.waitForEnd(runId)).toMatchObject({
      type: "agent.error",
      data: { code: "no_model", error: expect.stringMatching(/role “vision”.*ANTHROPIC_API_KEY/) },
    });
  });

  test.each(["box", "wise", "open"])(
    "each request starts with the previous one, byte for byte (%s)",
    async (provider) => {
      const agent = await testbed.newAgent({ model: `${provider}:steady` });
      const before = server.countCalls();
      for (const message of ["who?", "Hello.", "Make a picture.", "who again?"])
        expect(await agent.say(message)).toMatchObject({ type: "agent.completed" });
      const conversation = listRequestsSince(before)
        .filter(({ body }) => body.tools)
        .map(({ body: { system, instructions, tools, messages, input } }) => ({
          prompt: JSON.stringify({ system, instructions, tools }),
          // The cache marker moves along and does not count.
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

  test("cached input tokens are counted", async () => {
    const agent = await testbed.newAgent({ model: "wise:steady" });
    server.answer([
      { text: "One.", usage: { input: 1000, output: 10 } },
      { text: "Two.", usage: { input: 1100, output: 10, cached: 1000 } },
    ]);
    onTestFinished(() => server.answer(respond));
    await agent.say("One?");
    await agent.say("Two?");
    const { body } = await testbed.api(`${agent.at}/usage`);
    expect(body.total).toMatchObject({ inputTokens: 2100, cachedInputTokens: 1000 });
  });
});

test("a host whose configuration names an unknown provider does not start, and the error names the key", async () => {
  const home = await createHomePath();
  onTestFinished(() => removeHome(home));
  await mkdir(home, { mode: 0o700 });
  await writeFile(join(home, "config.jsonc"), JSON.stringify({ models: { summarizer: "opnai:x" } }));
  expect(await runCli(["start", "--foreground", "--port", "0"], home)).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/“models\.summarizer”.*Did you mean “openai:x”/),
  });
});
