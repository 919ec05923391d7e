import { AgentSystem } from "@thinkery/runtime";
import { feedback } from "../../../packages/runtime/src/tools/team/feedback.ts";
import { teamTaskTools } from "../../../packages/runtime/src/tools/team/team-tasks.ts";

// The stock agents, and a blueprint whose agents have the tools of a team and nothing else.

const system = new AgentSystem({ defaultModel: "scripted:default" }).defaults();
for (const tool of [...teamTaskTools, feedback]) system.addTool(tool, ["team tools"]);

export const { Think, Agency, User, Supervision, handler } = system
  .addAgent({ name: "member", description: "A member of a team.", prompt: "", tags: ["team tools"] })
  .export();
export default handler;
