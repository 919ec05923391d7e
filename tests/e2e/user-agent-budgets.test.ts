import type { AgentContext } from "@thinkery/sdk/agent";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { HostProcess } from "../kit/host-process.ts";
import { type ModelServer, openModelServer } from "../kit/model-server.ts";
import { ask, askJson, captureFailure, deployAgent, readLog, startAgentHost } from "../kit/user-agent.ts";

// Budgets, and model calls that fail, as the code of an agent and the person who asked it see them.

let server: ModelServer;
let host: HostProcess;

beforeAll(async () => {
  server = await openModelServer({ models: ["main"] });
  host = await startAgentHost({
    config: { model: "box:main", providers: { box: { baseUrl: `${server.url}/v1` } } },
    env: { ANTHROPIC_API_KEY: "" },
  });
  // The message is the model, unless it says otherwise.
  await deployAgent(
    host.client,
    "caller",
    {
      async onMessage({ content }, ctx: AgentContext) {
        const [verb, model = "primary"] = content.split(" ");
        if (verb === "generate") return ctx.send(await ctx.ai.generate({ prompt: "x", model }));
        if (verb === "repeat") for (let index = 0; index < 5; index++) await ctx.ai.generate("x");
        const errors: string[] = [];
        for (let index = 0; index < 5; index++) {
          try {
            await ctx.ai.generate({ prompt: "x", model });
            errors.push("none");
          } catch (error) {
            errors.push((error as Error).message);
          }
        }
        await ctx.send(JSON.stringify(errors));
      },
    },
    { capabilities: ["ai"] },
  );
});

afterAll(async () => {
  await host?.stop();
  await server?.stop();
});

let agentCount = 0;

/** Creates an agent of the package with a budget of its own. */
async function createAgentWithBudget(budget: object): Promise<string> {
  const name = `frugal-${++agentCount}`;
  const config = { budget, isolate: { package: "caller" } };
  const params = { agency: "global" };
  await host.client.call("putBlueprint", { params, body: { name, driver: "isolate", tags: ["default"], config } });
  await host.client.call("createAgent", { params, body: { name, blueprint: name } });
  return name;
}

test("a turn's budget that a model call exceeds refuses the next one, and fails the turn", async () => {
  const { client } = host;
  const usage = { input: 400, output: 100 };
  const agent = await createAgentWithBudget({ tokens: 1000 });
  server.answer(() => ({ text: "Yes.", usage }));
  const message = "The turn has used 1000 of the 1000 tokens that its budget allows.";
  expect(await askJson(client, agent, "loop")).toEqual(["none", "none", message, message, message]);
  expect((await client.agent(agent).usage()).total).toMatchObject({ calls: 2, inputTokens: 800, outputTokens: 200 });
  expect(await captureFailure(client, agent, "repeat")).toMatchObject({
    code: "budget",
    message,
    budget: { level: "turn", kind: "tokens", limit: 1000, spent: 1000 },
  });

  server.answer(() => ({ text: "Yes.", usage: { input: 2000, output: 1 } }));
  expect(await ask(client, agent, "generate")).toBe("Yes.");
  const poor = await createAgentWithBudget({ tokens: 1000, agent: { tokens: 2000, per: "day" } });
  expect(await ask(client, poor, "generate")).toBe("Yes.");
  expect(await captureFailure(client, poor, "generate")).toMatchObject({
    code: "budget",
    message: expect.stringMatching(/^The agent has used 2001 of the 2000 tokens/),
    advice: expect.any(String),
    budget: { level: "agent", kind: "tokens", limit: 2000, spent: 2001 },
  });
});

test("errors of a model reach the code, and fail its turn with their kind if it does not catch them", async () => {
  const { client } = host;
  const faults = [
    [{ status: 401, message: "Wrong key." }, "model_auth", "Wrong key"],
    [{ status: 400, message: "No such thing." }, "model_refused", "No such thing"],
  ] as const;
  for (const [fault, code, text] of faults) {
    server.answer(() => ({ fault: { kind: "status", ...fault } }));
    const failure = await captureFailure(client, "caller", "generate");
    expect(failure).toMatchObject({ code, message: expect.stringContaining(text), advice: expect.any(String) });
    const errors = (await askJson(client, "caller", "loop")) as string[];
    expect(new Set(errors)).toEqual(new Set([failure.message]));
    expect((await readLog(client, "caller", { level: "error" })).at(-1)?.text).toBe(failure.message);
  }
});

test("a response that breaks off is an error for the code that has read a part of it, and else tried again", async () => {
  const { client } = host;
  server.answer([{ fault: { kind: "cut", phase: "before" } }, { text: "Second try." }]);
  expect(await ask(client, "caller", "generate")).toBe("Second try.");
  server.answer([{ text: ["One", "two"], fault: { kind: "cut", phase: "text" } }, { text: "Not asked for." }]);
  expect(await captureFailure(client, "caller", "generate")).toMatchObject({ code: "model_network" });
});

test("a model that does not exist is named, with those that do or what to set", async () => {
  const { client } = host;
  expect((await captureFailure(client, "caller", "generate gpt")).message).toContain(
    "There is no model “gpt”. Expected a role (primary, fast, summarizer, vision) or provider:model",
  );
  for (const [model, text] of [
    ["nobody:x", "nobody"],
    ["anthropic:claude-sonnet-4-5", "ANTHROPIC_API_KEY"],
  ]) {
    const failure = await captureFailure(client, "caller", `generate ${model}`);
    expect(failure).toMatchObject({ code: "no_model", message: expect.stringContaining(text ?? "") });
  }
});
