import { AgentSystem } from "@thinkery/runtime";
import { defineMiddleware } from "@thinkery/sdk";

/** A middleware with every hook that does nothing; every second one is asynchronous. */
function createIdleMiddleware(number: number) {
  const hook = number % 2 ? async () => {} : () => {};
  return defineMiddleware({
    name: `idle-${number}`,
    tags: ["idle"],
    state: () => ({}),
    onInit: hook,
    onTick: hook,
    beforeModel: hook,
    onModelResult: hook,
    onToolStart: hook,
    onToolResult: hook,
    onToolError: hook,
    onResume: hook,
    onChildReport: hook,
  });
}

const system = new AgentSystem().defaults();
for (let number = 0; number < 10; number++) system.use(createIdleMiddleware(number));

export const { Think, Agency, User, Supervision, handler } = system
  .addAgent({ name: "idle", tags: ["default", "idle"] })
  .export();

export default handler;
