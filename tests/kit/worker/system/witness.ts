import { defineMiddleware, type Middleware, type MiddlewareContext } from "@thinkery/sdk";

/** Steps each witness saw per agent. In memory, so that a discarded turn does not undo it. */
const ticks = new Map<string, number>();

/** A middleware that records each hook in its own state, one `middleware.state_changed` event per hook. */
export function createWitness(name: string): Middleware {
  const record = (context: MiddlewareContext, entry: string) => {
    context.state.last = entry;
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
