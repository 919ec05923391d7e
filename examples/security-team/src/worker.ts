import { AgentSystem } from "@thinkery/runtime";
import { audit } from "./audit.ts";
import { failedLogins } from "./tools/failed-logins.ts";
import { requestsFrom } from "./tools/requests-from.ts";
import { topAddresses } from "./tools/top-addresses.ts";

export const { Think, Agency, User, Supervision, handler } = new AgentSystem({ defaultModel: "scripted:security" })
  .defaults()
  .addTool(topAddresses, ["security"])
  .addTool(failedLogins, ["security"])
  .addTool(requestsFrom, ["security"])
  .use(audit, ["audit"])
  .addAgent({
    name: "manager",
    description: "Plans the work of the team and speaks to people.",
    prompt:
      "You lead a small security team. Plan what to investigate and who should do it. You do not read logs yourself.",
    // Not "default": a planner needs neither code execution nor a shell.
    tags: ["planning"],
  })
  .addAgent({
    name: "analyst",
    description: "Reads the access log and reports anomalies.",
    prompt: "You are a security analyst. Look at the numbers before you judge, and name the addresses you refer to.",
    tags: ["security", "audit"],
    // Type-checked because of `use(audit)`: a misspelled key does not compile.
    config: { audit: { keep: 5 }, budget: { steps: 20 } },
  })
  .export();

export default handler;
