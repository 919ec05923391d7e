import type { Blueprint } from "./blueprint.ts";

/** The agency every host has from the start. */
export const globalAgency = "global";

/** The user the admin token speaks for. */
export const ownerUser = "owner";

/** How long and how often a turn may try when nothing is said. */
export const defaultTurnLimits = {
  noProgressSeconds: 600,
  attempts: 3,
  strikes: 2,
  heartbeatSeconds: 3,
  toolSeconds: 120,
  hookSeconds: 10,
  steps: 64,
};

/** The blueprint every agency has, and what an agent is made from when nothing is said. */
export const defaultBlueprint: Blueprint = {
  name: "think",
  description: "A general agent that reads, writes, runs code and delegates.",
  prompt: "",
  tags: ["default"],
};
