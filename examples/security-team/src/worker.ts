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
      "You lead a small security team. Plan what has to be found out, and say who should find it out. You do not read logs yourself.",
    // Not "default": whoever only plans needs neither code nor a shell.
    tags: ["planning"],
  })
  .addAgent({
    name: "analyst",
    description: "Reads the access log and says what is wrong in it.",
    prompt: "You are a security analyst. Look at the numbers before you judge, and name the addresses you speak of.",
    tags: ["security", "audit"],
    // Known to the compiler since `use(audit)`: try to misspell it.
    config: { audit: { keep: 5 }, budget: { steps: 20 } },
  })
  .export();

export default handler;
