import { defineMiddleware, type Middleware, type MiddlewareContext } from "@thinkery/sdk";

/** How often each began a step of an agent, kept where no turn can take it back. */
const ticks = new Map<string, number>();

/** Writes down what it sees, in its own part of the agent's log: `middleware.kept`, one for each hook. */
export function witness(name: string): Middleware {
  const saw = (context: MiddlewareContext, words: string) => {
    context.state.last = words;
    context.state.count = Number(context.state.count ?? 0) + 1;
  };
  return defineMiddleware({
    name,
    tags: ["witness"],
    state: ({ state, agent }) => ({ [name]: state.count ?? 0, [`${name}Ticks`]: ticks.get(`${name} ${agent}`) ?? 0 }),
    onInit: (context) => saw(context, "onInit"),
    async onTick(context) {
      const key = `${name} ${context.agent}`;
      ticks.set(key, (ticks.get(key) ?? 0) + 1);
      await pause(1);
      saw(context, `onTick ${context.step}`);
    },
    beforeModel: (context, plan) => saw(context, `beforeModel ${plan.step} of ${plan.messages.length}, run ${context.run.status}`),
    async onModelResult(context, { message }) {
      await undefined;
      const calls = (message.toolCalls ?? []).map((call) => call.name);
      saw(context, `onModelResult “${message.content}” [${calls.join()}], ${context.messages().length} said`);
    },
    onToolStart: (context, call) => saw(context, `onToolStart ${call.name} ${JSON.stringify(call.input)}`),
    async onToolResult(context, call, result) {
      await pause(1);
      saw(context, `onToolResult ${call.name} ${JSON.stringify(result)}`);
    },
    onToolError: (context, call, error) => saw(context, `onToolError ${call.name} ${error.message}`),
    onResume: (context, reason, payload) => saw(context, `onResume ${reason} ${(payload as unknown[]).length}`),
    onChildReport: (context, child) => saw(context, `onChildReport ${child.toolName} ${child.failed ? "failed: " : ""}${child.report}`),
  });
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
