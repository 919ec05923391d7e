// Type tests of the builder. Nothing here runs: `npm run check` is the test, and an expected error that does not occur
// is an error.
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
    // @ts-expect-error unknown field of the input
    void input.txet;
    // @ts-expect-error a number is not a string
    const wrong: string = input.times;
    return text.repeat(times) + wrong;
  },
);

const audit = defineMiddleware({
  name: "audit",
  configSchema: z.object({ audit: z.object({ to: z.string(), every: z.number().default(10) }) }),
  beforeModel({ config }, plan) {
    const every: number = config.audit.every;
    plan.addSystem(`${config.audit.to} ${every}`);
    // @ts-expect-error unknown key of the config
    void config.adit;
    // @ts-expect-error a plan's properties are read-only
    plan.tools = [];
    // @ts-expect-error unknown setting
    plan.updateSettings({ topP: 1 });
  },
  onToolStart({ run, info, config }, call) {
    const name: string = call.name;
    void [name, config.audit.to];
    // @ts-expect-error the run is read-only
    run.status = "completed";
    // @ts-expect-error the agent's info is read-only
    info.owner = "me";
  },
});

const limits = defineMiddleware({ name: "limits", configSchema: z.object({ limit: z.number() }) });
const plain = defineMiddleware({ name: "plain", onTick: async ({ state }) => void (state.ticks = 1) });

const base = new AgentSystem({ defaultModel: "openai:gpt-4.1-mini" }).defaults().addTool(echo, ["words"]);
const blueprint = { name: "analyst", description: "Reads logs.", prompt: "", tags: ["default"] };

base.addAgent({
  ...blueprint,
  config: { budget: { steps: 5 }, hitl: { tools: ["echo"] }, policy: [{ tool: "*", action: "deny" }] },
});
// @ts-expect-error no added middleware has this key
base.addAgent({ ...blueprint, config: { audit: { to: "me" } } });
// @ts-expect-error wrong type of a built-in key
base.addAgent({ ...blueprint, config: { budget: { steps: "five" } } });
// @ts-expect-error unknown key of a blueprint
base.addAgent({ ...blueprint, promt: "" });
// @ts-expect-error a blueprint needs a name
base.addAgent({ description: "Reads logs." });

const audited = base.use(audit, ["audit"]);

audited.addAgent({ ...blueprint, config: { audit: { to: "me" } } });
audited.addAgent({ ...blueprint, config: { audit: { to: "me", every: 5 }, budget: { steps: 5 } } });
audited.addAgent({ ...blueprint });
// @ts-expect-error the value must be a string
audited.addAgent({ ...blueprint, config: { audit: { to: 5 } } });
// @ts-expect-error a required field is missing
audited.addAgent({ ...blueprint, config: { audit: {} } });
// @ts-expect-error misspelled key
audited.addAgent({ ...blueprint, config: { adit: { to: "me" } } });
// @ts-expect-error not added yet
audited.addAgent({ ...blueprint, config: { limit: 3 } });

const both = audited.use(plain, ["default"]).use(limits, ["limits"]);

both.addTool(echo).addAgent({ ...blueprint, config: { audit: { to: "me" }, limit: 3 } });
both.addAgent({ ...blueprint, config: { limit: 3 } });
// @ts-expect-error wrong type
both.addAgent({ ...blueprint, config: { limit: "3" } });

export const { Think, Agency, User, Supervision, handler } = both.export();
export default handler;

export class Product extends Think {
  protected override getAdditionalInstructions(): string {
    return "";
  }
}
