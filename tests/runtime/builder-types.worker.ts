// What the compiler promises to whoever builds a system. Nothing here runs: `npm run check` is the test, and a line
// that should not compile and does is an error of its own.
import { AgentSystem } from "@thinkery/runtime";
import { defineMiddleware, defineTool } from "@thinkery/sdk";
import { z } from "zod";

const echo = defineTool(
  {
    name: "echo",
    description: "Says it again.",
    inputSchema: z.object({ text: z.string(), times: z.number().default(1) }),
  },
  (input) => {
    const text: string = input.text;
    const times: number = input.times;
    // @ts-expect-error its input has no such field
    void input.txet;
    // @ts-expect-error a number is no text
    const wrong: string = input.times;
    return text.repeat(times) + wrong;
  },
);

const audit = defineMiddleware({
  name: "audit",
  config: z.object({ audit: z.object({ to: z.string(), every: z.number().default(10) }) }),
  beforeModel({ config }, plan) {
    const every: number = config.audit.every;
    plan.addSystem(`${config.audit.to} ${every}`);
    // @ts-expect-error its config has no such key
    void config.adit;
    // @ts-expect-error a plan is not to be assigned to
    plan.tools = [];
    // @ts-expect-error there is no such setting
    plan.updateSettings({ topP: 1 });
  },
  onToolStart({ run, info, config }, call) {
    const name: string = call.name;
    void [name, config.audit.to];
    // @ts-expect-error what the log says cannot be set
    run.status = "completed";
    // @ts-expect-error nor who the agent is
    info.owner = "me";
  },
});

const limits = defineMiddleware({ name: "limits", config: z.object({ limit: z.number() }) });
const plain = defineMiddleware({ name: "plain", onTick: async ({ state }) => void (state.ticks = 1) });

const bare = new AgentSystem({ defaultModel: "openai:gpt-4.1-mini" }).defaults().addTool(echo, ["words"]);
const blueprint = { name: "analyst", description: "Reads logs.", prompt: "", tags: ["default"] };

bare.addAgent({
  ...blueprint,
  config: { budget: { steps: 5 }, hitl: { tools: ["echo"] }, policy: [{ tool: "*", action: "deny" }] },
});
// @ts-expect-error nobody that was added reads this key
bare.addAgent({ ...blueprint, config: { audit: { to: "me" } } });
// @ts-expect-error a key that the host reads has its type
bare.addAgent({ ...blueprint, config: { budget: { steps: "five" } } });
// @ts-expect-error a blueprint has no such key
bare.addAgent({ ...blueprint, promt: "" });
// @ts-expect-error a blueprint has a name
bare.addAgent({ description: "Reads logs." });

const audited = bare.use(audit, ["audit"]);

audited.addAgent({ ...blueprint, config: { audit: { to: "me" } } });
audited.addAgent({ ...blueprint, config: { audit: { to: "me", every: 5 }, budget: { steps: 5 } } });
audited.addAgent({ ...blueprint });
// @ts-expect-error its value is a text
audited.addAgent({ ...blueprint, config: { audit: { to: 5 } } });
// @ts-expect-error something is missing that has no default
audited.addAgent({ ...blueprint, config: { audit: {} } });
// @ts-expect-error misspelt
audited.addAgent({ ...blueprint, config: { adit: { to: "me" } } });
// @ts-expect-error not added yet
audited.addAgent({ ...blueprint, config: { limit: 3 } });

const both = audited.use(plain, ["default"]).use(limits, ["limits"]);

both.addTool(echo).addAgent({ ...blueprint, config: { audit: { to: "me" }, limit: 3 } });
both.addAgent({ ...blueprint, config: { limit: 3 } });
// @ts-expect-error of another type
both.addAgent({ ...blueprint, config: { limit: "3" } });

export const { Think, Agency, User, Supervision, handler } = both.export();
export default handler;

export class Product extends Think {
  protected override getAdditionalInstructions(): string {
    return "";
  }
}
