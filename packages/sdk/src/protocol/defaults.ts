import type { Blueprint } from "./blueprint.ts";

/** The default branch of every workspace. */
export const mainBranch = "main";

/** The blueprint that every agency has. Agents are created from it by default. */
export const defaultBlueprint: Blueprint = {
  name: "think",
  description: "A general agent that reads, writes, runs code and delegates.",
  prompt: "",
  tags: ["default"],
};
