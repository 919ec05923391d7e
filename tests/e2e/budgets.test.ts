import type { Budget, Failure, Standing } from "@thinkery/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Answer } from "../kit/model-server/answer.ts";
import { type ModelServer, openModelServer, type SeenRequest } from "../kit/model-server.ts";
import { until } from "../kit/until.ts";
import { openWorkshop, type Workshop, type WorkshopAgent } from "../kit/worker/workshop.ts";

// Limits of turns, agents, agencies and users, with a model that uses as many tokens as its message says.

let server: ModelServer;
let workshop: Workshop;

beforeAll(async () => {
  server = await openModelServer({ models: ["priced", "nobody-knows"] });
  server.answer(answer);
  workshop = await openWorkshop({
    config: {
      providers: { local: { base: `${server.url}/v1` } },
      // A dollar for a thousand tokens, in or out.
      prices: { "local:priced": { input: 1000, output: 1000 } },
      turn: { heartbeatSeconds: 1, steps: 5 },
      failuresPerMinute: 1000,
    },
  });
});

afterAll(async () => {
  server?.release();
  await workshop?.stop();
  await server?.stop();
});

let called = 0;

/** “say 300”, “loop 300” (a tool call, again and again), “fail”, “stall”, “wait”, “ask 300” (a tool that consults). */
function answer({ latest, results }: SeenRequest): Answer {
  const [verb, amount = "100"] = latest.split(" ");
  const tokens = Number(amount);
  const usage = { input: tokens - Math.floor(tokens / 5), output: Math.floor(tokens / 5) };
  const call = (name: string, input: object): Answer => ({ toolCalls: [{ name, input }], usage });
  if (verb === "fail") return { fault: { kind: "status", status: 400, message: "No." } };
  if (verb === "stall") return { text: "Hm.", usage, fault: { kind: "stall", phase: "before" } };
  if (verb === "loop") return call("set_title", { title: String(++called) });
  if (verb === "wait" && results.length === 0) return call("wait", { ms: 600_000 });
  if (verb === "ask" && results.length === 0) return call("consult", { prompt: "say 1000" });
  return { text: `Used ${tokens}.`, usage };
}

let made = 0;

interface Given {
  budget?: object;
  model?: string;
  agency?: string;
}

async function newAgent({ budget, model = "local:priced", agency = "global" }: Given = {}): Promise<WorkshopAgent> {
  const name = `a${++made}`;
  if (budget) await put(`/agency/${agency}/blueprints`, { name, config: { budget } }, "POST");
  await put(`/agency/${agency}/agents`, { name, model, ...(budget ? { blueprint: name } : {}) }, "POST");
  return workshop.agentAt(`/agency/${agency}/agent/${name}`, name);
}

async function put(path: string, body: object, method = "PUT"): Promise<any> {
  const answer = await workshop.api(path, method, body);
  if (answer.status >= 300) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
  return answer.body;
}

async function newAgency(budget?: Partial<Budget>): Promise<string> {
  const { id } = await put("/agencies", { id: `agency-${++made}` }, "POST");
  if (budget) await put(`/agency/${id}/budget`, budget);
  return id;
}

/** Says something and answers how it failed; nothing where it did not. */
async function failure(agent: WorkshopAgent, message: string): Promise<Failure | undefined> {
  const event = await agent.say(message);
  if (event.type === "agent.completed") return undefined;
  if (event.type !== "agent.error") throw new Error(event.type);
  const { code, error, advice, budget } = event.data;
  return { code, message: error, ...(advice ? { advice } : {}), ...(budget ? { budget } : {}) };
}

const callsOf = async (agent: WorkshopAgent) => (await agent.log()).filter(({ type }) => type === "model.started").length;

test("a turn's tokens end it after the call that used them up, and nothing said is lost", async () => {
  const agent = await newAgent({ budget: { tokens: 1000 } });
  const standing: Standing = { level: "turn", kind: "tokens", per: "turn", limit: 1000, spent: 1200, reserved: 0 };
  expect(await failure(agent, "loop 400")).toEqual({
    code: "budget",
    message: "The turn has used 1200 of the 1000 tokens that its budget allows.",
    advice: "Say “go on” for another turn, or raise config.budget.tokens in the blueprint.",
    budget: standing,
  });
  expect(await callsOf(agent)).toBe(3);
  // The next turn has the whole of it again, and knows what was said.
  expect(await failure(agent, "say 900")).toBeUndefined();
  expect((await agent.messages()).filter(({ role }) => role === "user").map(({ content }) => content)).toEqual(["loop 400", "say 900"]);
  const { body } = await workshop.api(`${agent.at}/state`);
  expect(body.run.status).toBe("completed");
});

test("a blueprint's steps are a budget, the host's own are not", async () => {
  const few = await newAgent({ budget: { steps: 2 } });
  expect(await failure(few, "loop")).toMatchObject({ code: "budget", budget: { kind: "steps", spent: 2, limit: 2 } });
  expect(await callsOf(few)).toBe(2);
  const many = await newAgent({ budget: { steps: 8 } });
  expect(await failure(many, "loop")).toMatchObject({ code: "budget", budget: { spent: 8, limit: 8 } });
  const usual = await newAgent();
  expect(await failure(usual, "loop")).toMatchObject({ code: "steps" });
  expect(await callsOf(usual)).toBe(5);
});

test("a turn's cost ends it, and where nobody knows the price no call is made", async () => {
  const agent = await newAgent({ budget: { costUsd: 0.5 } });
  expect(await failure(agent, "loop 300")).toMatchObject({
    code: "budget",
    message: "The turn has used $0.60 of the $0.50 that its budget allows.",
    budget: { kind: "costUsd", spent: 0.6, limit: 0.5 },
  });
  const unknown = await newAgent({ budget: { agent: { costUsd: 5 } }, model: "local:nobody-knows" });
  const refused = await failure(unknown, "say 1");
  expect(refused).toMatchObject({ code: "budget", budget: { level: "agent", kind: "costUsd", spent: 0 } });
  expect(refused?.message).toBe("The price of local:nobody-knows is not known, so the agent's limit of cost cannot be kept.");
  expect(refused?.advice).toContain("“prices” in config.jsonc");
  expect(await callsOf(unknown)).toBe(0);
  const counted = await newAgent({ budget: { tokens: 5000 }, model: "local:nobody-knows" });
  expect(await failure(counted, "say 1")).toBeUndefined();
});

test("where the provider does not say what a call used, a limit of tokens ends the turn", async () => {
  const agent = await newAgent({ budget: { tokens: 5000 } });
  expect(await failure(agent, "loop 0")).toMatchObject({ code: "budget", message: expect.stringContaining("does not say how many tokens") });
  expect(await callsOf(agent)).toBe(1);
  const steps = await newAgent({ budget: { steps: 3 } });
  expect(await failure(steps, "loop 0")).toMatchObject({ budget: { kind: "steps" } });
});

test("a turn's time ends it in the middle of a tool and of a call", async () => {
  for (const message of ["wait", "stall"]) {
    const agent = await newAgent({ budget: { seconds: 1 } });
    expect(await failure(agent, message)).toMatchObject({ code: "budget", budget: { level: "turn", kind: "seconds", limit: 1 } });
  }
  server.release();
});

test("an agent's budget counts all its turns, also those that were cleared away", async () => {
  const agent = await newAgent({ budget: { agent: { tokens: 1000 } } });
  expect(await failure(agent, "say 600")).toBeUndefined();
  await workshop.api(`${agent.at}/messages`, "DELETE");
  expect(await failure(agent, "say 600")).toBeUndefined();
  const refused = await failure(agent, "say 1");
  expect(refused).toMatchObject({ code: "budget", budget: { level: "agent", per: "ever", spent: 1200, limit: 1000 } });
  expect(refused?.advice).toBe("Raise config.budget.agent.tokens in the blueprint.");
  expect((await workshop.api(`${agent.at}/usage`)).body.budget).toEqual([refused?.budget]);
  // Raised, it goes on at once.
  await put("/agency/global/blueprints", { name: agent.name, config: { budget: { agent: { tokens: 2000, per: "day" } } } }, "POST");
  expect(await failure(agent, "say 1")).toBeUndefined();
});

test("an agency's budget holds for all its agents together, and what raises it is said", async () => {
  const agency = await newAgency({ tokens: 1000 });
  const [one, other] = [await newAgent({ agency }), await newAgent({ agency })];
  expect(await failure(one, "say 700")).toBeUndefined();
  expect(await failure(other, "say 700")).toBeUndefined();
  const refused = await failure(one, "say 1");
  expect(refused).toEqual({
    code: "budget",
    message: `The agency “${agency}” has used 1400 of the 1000 tokens that its budget allows.`,
    advice: `Raise it with \`thinkery budget set @${agency} --tokens …\`.`,
    budget: { level: "agency", kind: "tokens", per: "ever", limit: 1000, spent: 1400, reserved: 0 },
  });
  expect(await callsOf(one)).toBe(1);
  expect((await workshop.api(`${one.at}/usage`)).body.budget).toEqual([refused?.budget]);
  await put(`/agency/${agency}/budget`, { tokens: 3000, per: "day" });
  expect(await failure(one, "say 1")).toBeUndefined();
  await put(`/agency/${agency}/budget`, { steps: 1 });
  expect(await failure(one, "say 1")).toMatchObject({ code: "budget", budget: { kind: "steps" } });
  await workshop.api(`/agency/${agency}/budget`, "DELETE");
  expect(await failure(one, "say 1")).toBeUndefined();
});

test("a limit that a turn's own calls reach ends it before the next, whoever set it", async () => {
  const steps = { steps: 100 };
  const agency = await newAgency({ tokens: 1000 });
  const ways: [string, () => Promise<WorkshopAgent>][] = [
    ["agent", () => newAgent({ budget: { ...steps, agent: { tokens: 1000 } } })],
    ["agency", () => newAgent({ agency, budget: steps })],
    [
      "user",
      async () => {
        const own = (await workshop.api("/user/usage")).body.total;
        await put("/user/budget", { tokens: own.inputTokens + own.outputTokens + 1000 });
        return newAgent({ budget: steps });
      },
    ],
  ];
  try {
    for (const [level, make] of ways) {
      const agent = await make();
      expect(await failure(agent, "loop 400")).toMatchObject({ code: "budget", budget: { level, kind: "tokens", reserved: 0 } });
      expect([level, await callsOf(agent)]).toEqual([level, 3]);
    }
  } finally {
    await workshop.api("/user/budget", "DELETE");
  }
});

test("what a crash kept from being told is told after it, though nobody asks the agent", async () => {
  for (const budget of [undefined, { tokens: 1_000_000 }]) {
    const agency = await newAgency(budget);
    const agent = await newAgent({ agency });
    for (let turn = 1; turn <= 3; turn++) {
      await agent.say("say 100");
      await workshop.killMain();
      const calls = async () => (await workshop.api(`/agency/${agency}/usage`)).body.total.calls;
      await until("the agency to hear of it", async () => (await calls()) === turn);
      const standings = async () => (await workshop.api(`/agency/${agency}/budget`)).body.standings as Standing[];
      await until("nothing to be set aside", async () => (await standings()).every(({ reserved }) => reserved === 0));
    }
  }
});

test("a call that failed gives back what was set aside, and a call under way holds it", async () => {
  const agency = await newAgency({ tokens: 500 });
  const [one, other, failing] = [await newAgent({ agency }), await newAgent({ agency }), await newAgent({ agency })];
  const standing = async (): Promise<Standing> => (await workshop.api(`/agency/${agency}/budget`)).body.standings[0];
  expect(await failure(failing, "fail")).toMatchObject({ code: "model_refused" });
  await until("nothing to be set aside", async () => (await standing()).reserved === 0);
  expect(await standing()).toMatchObject({ spent: 0, reserved: 0 });
  const { runId } = await one.invoke({ message: "stall 100" });
  await until("something to be set aside", async () => (await standing()).reserved > 0);
  const refused = await failure(other, "say 1");
  expect(refused).toMatchObject({ code: "budget", budget: { spent: 0, reserved: 500 } });
  expect(refused?.message).toContain("and 500 more is set aside for calls under way");
  // Canceled, it holds nothing either.
  await one.cancel({ runId });
  server.release();
  await until("room again", async () => (await standing()).reserved === 0);
  expect(await failure(other, "say 1")).toBeUndefined();
});

test("a budget that is set while a turn runs holds for its next step", async () => {
  const agency = await newAgency();
  const agent = await newAgent({ agency, budget: { steps: 100 } });
  let held = true;
  server.answer((request) => (request.latest === "loop 50" && held ? { ...answer(request), fault: { kind: "stall", phase: "before" } } : answer(request)));
  const { runId } = await agent.invoke({ message: "loop 50" });
  await until("the call", async () => (await callsOf(agent)) === 1);
  await put(`/agency/${agency}/budget`, { steps: 2 });
  held = false;
  server.release();
  const end = await agent.over(runId);
  server.answer(answer);
  expect(end).toMatchObject({ type: "agent.error", data: { code: "budget", budget: { level: "agency", kind: "steps", spent: 2, limit: 2 } } });
});

test("a user's budget holds over all their agencies, also over one that is made later", async () => {
  const [first, second] = [await newAgency(), await newAgency()];
  const [one, other] = [await newAgent({ agency: first }), await newAgent({ agency: second })];
  const before = (await workshop.api("/user/usage")).body.total;
  const spent = before.inputTokens + before.outputTokens;
  await put("/user/budget", { tokens: spent + 1000 });
  try {
    expect(await failure(one, "say 700")).toBeUndefined();
    expect(await failure(other, "say 700")).toBeUndefined();
    const refused = await failure(one, "say 1");
    expect(refused).toMatchObject({ code: "budget", budget: { level: "user", kind: "tokens", limit: spent + 1000, spent: spent + 1400, reserved: 0 } });
    expect(refused?.advice).toBe("Raise it with `thinkery budget set --tokens …`.");
    const later = await newAgent({ agency: await newAgency() });
    expect(await failure(later, "say 1")).toMatchObject({ code: "budget", budget: { level: "user" } });
    // The narrower limit is told first.
    await put(`/agency/${first}/budget`, { tokens: 1 });
    expect(await failure(one, "say 1")).toMatchObject({ budget: { level: "agency" } });
    expect((await workshop.api(`${one.at}/usage`)).body.budget.map(({ level }: Standing) => level)).toEqual(["agency", "user"]);
  } finally {
    expect((await workshop.api("/user/budget", "DELETE")).status).toBe(204);
  }
  expect(await failure(other, "say 1")).toBeUndefined();
});

test("a cost limit of the agency refuses a model whose price nobody knows, before its call", async () => {
  const agency = await newAgency({ costUsd: 10 });
  const agent = await newAgent({ agency, model: "local:nobody-knows" });
  expect(await failure(agent, "say 1")).toMatchObject({ code: "budget", message: expect.stringContaining("so the agency's limit of cost cannot be kept"), budget: { level: "agency" } });
  expect(await callsOf(agent)).toBe(0);
});

test("a step that another model looks at is refused where its price is not known", async () => {
  const name = `a${++made}`;
  await put("/agency/global/blueprints", { name, models: { vision: "local:nobody-knows" }, config: { budget: { costUsd: 5 } } }, "POST");
  await put("/agency/global/agents", { name, model: "local:priced", blueprint: name }, "POST");
  const agent = workshop.agentAt(`/agents/${name}`, name);
  expect(await failure(agent, "say 10")).toBeUndefined();
  const picture = { mediaType: "image/png", data: "iVBORw0KGgo=" };
  const { runId } = await agent.invoke({ message: "say 10", attachments: [picture] });
  expect(await agent.over(runId)).toMatchObject({ type: "agent.error", data: { code: "budget", error: expect.stringContaining("The price of local:nobody-knows is not known") } });
  expect((await workshop.api(`${agent.at}/usage`)).body.total.calls).toBe(1);
});

test("questions beside the conversation are counted, and refused like every other call", async () => {
  const agent = await newAgent({ budget: { steps: 2 } });
  // The first call asks for the tool, the tool asks the model, and then there is nothing left for the answer.
  expect(await failure(agent, "ask 100")).toMatchObject({ budget: { kind: "steps", spent: 2 } });
  expect((await workshop.api(`${agent.at}/usage`)).body.total).toMatchObject({ calls: 2, inputTokens: 880, outputTokens: 220 });
  const tight = await newAgent({ budget: { tokens: 90 } });
  expect(await failure(tight, "ask 100")).toMatchObject({ budget: { kind: "tokens", spent: 100 } });
  const result = (await tight.messages()).find(({ role }) => role === "tool");
  expect(result?.content).toContain("The turn has used 100 of the 90 tokens");
  const agency = await newAgency({ tokens: 1050 });
  const metered = await newAgent({ agency });
  expect(await failure(metered, "ask 100")).toMatchObject({ budget: { level: "agency", spent: 1100, reserved: 0 } });
});
