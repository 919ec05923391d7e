import type { Blueprint } from "./blueprint.ts";

/** The agency every host has from the start. */
export const globalAgency = "global";

/** The user the admin token speaks for. */
export const ownerUser = "owner";

/** The branch that every workspace has. */
export const mainBranch = "main";

/** The blueprint every agency has, and what an agent is made from when nothing is said. */
export const defaultBlueprint: Blueprint = {
  name: "think",
  description: "A general agent that reads, writes, runs code and delegates.",
  prompt: "",
  tags: ["default"],
};
