import { defineMiddleware, type Middleware, type MiddlewareContext } from "@thinkery/sdk";

/** How often each began a step of an agent, kept where no turn can take it back. */
const ticks = new Map<string, number>();

/** Writes down what it sees, in its own part of the agent's log: `middleware.kept`, one for each hook. */
export function createWitness(name: string): Middleware {
  const record = (context: MiddlewareContext, words: string) => {
    context.state.last = words;
    context.state.count = Number(context.state.count ?? 0) + 1;
  };
  return defineMiddleware({
    name,
    tags: ["witness"],
    state: ({ state, agent }) => ({ [name]: state.count ?? 0, [`${name}Ticks`]: ticks.get(`${name} ${agent}`) ?? 0 }),
    onInit: (context) => record(context, "onInit"),
    async onTick(context) {
      const key = `${name} ${context.agent}`;
      ticks.set(key, (ticks.get(key) ?? 0) + 1);
      await sleep(1);
      record(context, `onTick ${context.step}`);
    },
    beforeModel: (context, plan) =>
      record(context, `beforeModel ${plan.step} of ${plan.messages.length}, run ${context.run.status}`),
    async onModelResult(context, { message }) {
      await undefined;
      const calls = (message.toolCalls ?? []).map((call) => call.name);
      record(context, `onModelResult “${message.content}” [${calls.join()}], ${context.messages().length} said`);
    },
    onToolStart: (context, call) => record(context, `onToolStart ${call.name} ${JSON.stringify(call.input)}`),
    async onToolResult(context, call, result) {
      await sleep(1);
      record(context, `onToolResult ${call.name} ${JSON.stringify(result)}`);
    },
    onToolError: (context, call, error) => record(context, `onToolError ${call.name} ${error.message}`),
    onResume: (context, reason, payload) => record(context, `onResume ${reason} ${(payload as unknown[]).length}`),
    onChildReport: (context, child) =>
      record(context, `onChildReport ${child.toolName} ${child.failed ? "failed: " : ""}${child.report}`),
  });
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
