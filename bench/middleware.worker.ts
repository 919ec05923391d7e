import { AgentSystem } from "@thinkery/runtime";
import { defineMiddleware } from "@thinkery/sdk";

/** Has every hook and does nothing in any, half of the time asynchronously. */
function idle(number: number) {
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
for (let number = 0; number < 10; number++) system.use(idle(number));

export const { Think, Agency, User, Supervision, handler } = system
  .addAgent({ name: "idle", tags: ["default", "idle"] })
  .export();

export default handler;
