import type { Budget, Failure } from "@thinkery/sdk";
import { openModelServer, type RecordedRequest } from "./model-server.ts";
import type { Answer } from "./model-server/answer.ts";
import { openTestbed, type TestAgent } from "./worker/testbed.ts";

interface SpenderOptions {
  /** Put into a new blueprint for this agent. */
  budget?: object;
  model?: string;
  agency?: string;
}

let callCount = 0;

/**
 * Responds by the message: “say 300” uses 300 tokens, “loop 300” calls a tool in every step, “ask 300” calls a tool that
 * calls a model; also “fail”, “stall” and “wait”.
 */
export function spend({ latest, results }: RecordedRequest): Answer {
  const [verb, amount = "100"] = latest.split(" ");
  const tokens = Number(amount);
  const usage = { input: tokens - Math.floor(tokens / 5), output: Math.floor(tokens / 5) };
  const call = (name: string, input: object): Answer => ({ toolCalls: [{ name, input }], usage });
  if (verb === "fail") return { fault: { kind: "status", status: 400, message: "No." } };
  if (verb === "stall") return { text: "Hm.", usage, fault: { kind: "stall", phase: "before" } };
  if (verb === "loop") return call("set_title", { title: String(++callCount) });
  if (verb === "wait" && results.length === 0) return call("wait", { ms: 600_000 });
  if (verb === "ask" && results.length === 0) return call("consult", { prompt: "say 1000" });
  return { text: `Used ${tokens}.`, usage };
}

/**
 * A host whose models use as many tokens as the message says: `local:priced`, and `local:nobody-knows` without a price.
 */
export async function openBudgetTestbed() {
  const server = await openModelServer({ models: ["priced", "nobody-knows"] });
  server.answer(spend);
  const testbed = await openTestbed({
    config: {
      providers: { local: { baseUrl: `${server.url}/v1` } },
      // 1 USD per 1000 tokens, input or output.
      prices: { "local:priced": { input: 1000, output: 1000 } },
      turn: { heartbeatSeconds: 1, maxSteps: 5 },
      maxFailuresPerMinute: 1000,
    },
  });
  const { api } = testbed;
  let nameCount = 0;

  async function put(path: string, body: object, method = "PUT"): Promise<ReturnType<typeof JSON.parse>> {
    const response = await api(path, method, body);
    if (response.status >= 300) throw new Error(`${path}: ${JSON.stringify(response.body)}`);
    return response.body;
  }

  return {
    server,
    base: testbed,
    api,
    put,

    async newAgent({
      budget,
      model = "local:priced",
      agency = "global",
      ...more
    }: SpenderOptions & { models?: object } = {}): Promise<TestAgent> {
      const name = `a${++nameCount}`;
      if (budget) await put(`/agency/${agency}/blueprints`, { name, ...more, config: { budget } }, "POST");
      await put(`/agency/${agency}/agents`, { name, model, ...(budget ? { blueprint: name } : {}) }, "POST");
      return testbed.agentAt(`/agency/${agency}/agent/${name}`, name);
    },

    async newAgency(budget?: Partial<Budget>): Promise<string> {
      const { id } = await put("/agencies", { id: `agency-${++nameCount}` }, "POST");
      if (budget) await put(`/agency/${id}/budget`, budget);
      return id;
    },

    async stop(): Promise<void> {
      server.release();
      await testbed.stop();
      await server.stop();
    },
  };
}

export type BudgetTestbed = Awaited<ReturnType<typeof openBudgetTestbed>>;

/** Sends a message and returns how its turn failed, or undefined if it completed. */
export async function captureFailure(agent: TestAgent, message: string): Promise<Failure | undefined> {
  const event = await agent.say(message);
  if (event.type === "agent.completed") return undefined;
  if (event.type !== "agent.error") throw new Error(event.type);
  const { code, error, advice, budget } = event.data;
  return { code, message: error, ...(advice ? { advice } : {}), ...(budget ? { budget } : {}) };
}

export const countModelCalls = async (agent: TestAgent) =>
  (await agent.log()).filter(({ type }) => type === "model.started").length;
