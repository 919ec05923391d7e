import type { Blueprint } from "./blueprint.ts";

/** The agency every host has from the start. */
export const globalAgency = "global";

/** The user the admin token speaks for. */
export const ownerUser = "owner";

/** The branch that every workspace has. */
export const mainBranch = "main";

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

/** What a run of code may use when nothing is said. */
export const defaultSandboxLimits = { seconds: 30, mostSeconds: 300, waitSeconds: 300, silenceSeconds: 20, memoryMb: 128, runs: 250 };

/** What a command in the Linux sandbox may use when nothing is said. */
export const defaultLinuxLimits = { seconds: 60, mostSeconds: 600, memoryMb: 2048, processes: 8, network: false };

/** What a workspace may hold when nothing is said. Text that is edited together lies in rows, which are small on Cloudflare. */
export const defaultWorkspaceLimits = {
  fileMb: 32,
  textKb: 1024,
  files: 10_000,
  totalMb: 512,
  textMb: 64,
  keepDays: 0,
  keepVersions: 0,
};

/** The blueprint every agency has, and what an agent is made from when nothing is said. */
export const defaultBlueprint: Blueprint = {
  name: "think",
  description: "A general agent that reads, writes, runs code and delegates.",
  prompt: "",
  tags: ["default"],
};
