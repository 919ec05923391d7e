import { AgentSystem } from "@thinkery/runtime";

export const { Think, Agency, User, Supervision, handler } = new AgentSystem({ defaultModel: "scripted:lead" })
  .defaults()
  .addAgent({
    name: "lead",
    description: "Divides a refactoring into parts and has them done at the same time.",
    prompt:
      "You lead a refactoring. Give each module to a sub-agent of its own with workspace “fork” and a check that must succeed before it is merged. Then say what was merged, where changes overlap, and what is left.",
    tags: ["default"],
    config: { subagents: ["refactorer"] },
  })
  .addAgent({
    name: "refactorer",
    description: "Refactors one module without changing what it exports.",
    prompt: "You refactor the module you are given, and nothing else. Keep its behaviour and its exports.",
    model: "scripted:refactorer",
    tags: ["default"],
  })
  .export();

export default handler;
