import { type Agent, type AgentTarget, fail, isThinkeryError } from "@thinkery/sdk";
import type { Client } from "@thinkery/sdk/client";
import { findNearest } from "@thinkery/sdk/internal";
import { listAgents } from "./lists.ts";
import { persist } from "./persist.ts";

/** The agent a target names; for one that is not there, an error with the name that was probably meant. */
export async function findAgent(client: Client, { agency, agent }: AgentTarget): Promise<Agent> {
  try {
    return await persist((signal) => client.call("getAgent", { params: { agency, agent }, signal }));
  } catch (error) {
    if (!isNotFound(error)) throw error;
    const names = await listAgents(client, agency).then(
      (agents) => agents.map(({ name }) => name),
      () => [],
    );
    const meant = findNearest(agent, names);
    const next = meant ? `did you mean ${meant}?` : "create it with `thinkery new`, or see `thinkery ls`.";
    throw fail("not_found", `${error.message.replace(/\.$/, "")}; ${next}`, meant ? { suggestion: meant } : {});
  }
}

const maxMessages = 20;

/** The model that gave the agent's latest answer. */
export async function findUsedModel(client: Client, { agency, agent }: AgentTarget): Promise<string | undefined> {
  const query = { limit: maxMessages };
  const { messages } = await persist((signal) =>
    client.call("listMessages", { params: { agency, agent }, query, signal }),
  );
  return messages.findLast(({ model }) => model !== undefined)?.model;
}

function isNotFound(error: unknown): error is Error {
  return isThinkeryError(error) && error.code === "not_found";
}
