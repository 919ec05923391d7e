import type { Budget, Failure } from "@thinkery/sdk";
import { openModelServer, type SeenRequest } from "./model-server.ts";
import type { Answer } from "./model-server/answer.ts";
import { openTestbed, type TestAgent } from "./worker/testbed.ts";

interface SpenderOptions {
  /** Of a blueprint of its own. */
  budget?: object;
  model?: string;
  agency?: string;
}

let callCount = 0;

/** “say 300”, “loop 300” (a tool call, again and again), “fail”, “stall”, “wait”, “ask 300” (a tool that consults). */
export function spend({ latest, results }: SeenRequest): Answer {
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

/** A house with a model that uses as many tokens as its message says: `local:priced`, and `local:nobody-knows` without a price. */
export async function openBudgetTestbed() {
  const server = await openModelServer({ models: ["priced", "nobody-knows"] });
  server.answer(spend);
  const workshop = await openTestbed({
    config: {
      providers: { local: { baseUrl: `${server.url}/v1` } },
      // A dollar for a thousand tokens, in or out.
      prices: { "local:priced": { input: 1000, output: 1000 } },
      turn: { heartbeatSeconds: 1, maxSteps: 5 },
      maxFailuresPerMinute: 1000,
    },
  });
  const { api } = workshop;
  let made = 0;

  async function put(path: string, body: object, method = "PUT"): Promise<ReturnType<typeof JSON.parse>> {
    const answer = await api(path, method, body);
    if (answer.status >= 300) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  return {
    server,
    workshop,
    api,
    put,

    async newAgent({
      budget,
      model = "local:priced",
      agency = "global",
      ...more
    }: SpenderOptions & { models?: object } = {}): Promise<TestAgent> {
      const name = `a${++made}`;
      if (budget) await put(`/agency/${agency}/blueprints`, { name, ...more, config: { budget } }, "POST");
      await put(`/agency/${agency}/agents`, { name, model, ...(budget ? { blueprint: name } : {}) }, "POST");
      return workshop.agentAt(`/agency/${agency}/agent/${name}`, name);
    },

    async newAgency(budget?: Partial<Budget>): Promise<string> {
      const { id } = await put("/agencies", { id: `agency-${++made}` }, "POST");
      if (budget) await put(`/agency/${id}/budget`, budget);
      return id;
    },

    async stop(): Promise<void> {
      server.release();
      await workshop.stop();
      await server.stop();
    },
  };
}

export type BudgetTestbed = Awaited<ReturnType<typeof openBudgetTestbed>>;

/** Says something and answers how it failed; nothing where it did not. */
export async function captureFailure(agent: TestAgent, message: string): Promise<Failure | undefined> {
  const event = await agent.say(message);
  if (event.type === "agent.completed") return undefined;
  if (event.type !== "agent.error") throw new Error(event.type);
  const { code, error, advice, budget } = event.data;
  return { code, message: error, ...(advice ? { advice } : {}), ...(budget ? { budget } : {}) };
}

export const countModelCalls = async (agent: TestAgent) =>
  (await agent.log()).filter(({ type }) => type === "model.started").length;
