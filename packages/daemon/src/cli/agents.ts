import { type Agent, type AgentTarget, fail, globalAgency, isThinkeryError } from "@thinkery/sdk";
import { type Client, withRetry } from "@thinkery/sdk/client";
import { findNearest } from "@thinkery/sdk/internal";
import { listAgencies, listAgents } from "./lists.ts";

/** Returns an agent; if it or its agency does not exist, throws an error that suggests the closest name. */
export async function findAgent(client: Client, { agency, agent }: AgentTarget): Promise<Agent> {
  try {
    return await withRetry((signal) => client.call("getAgent", { params: { agency, agent }, signal }));
  } catch (error) {
    if (!isNotFound(error)) throw error;
    throw await createMissingAgentError(client, agency, agent);
  }
}

async function createMissingAgentError(client: Client, agency: string, agent: string): Promise<Error> {
  let names: string[] = [];
  try {
    names = (await listAgents(client, agency)).map(({ name }) => name);
  } catch (error) {
    if (isNotFound(error)) return createMissingAgencyError(client, agency);
  }
  const [root = "", ...below] = agent.split("/");
  if (below.length > 0 && names.includes(root)) {
    const parent = agent.slice(0, agent.lastIndexOf("/"));
    const list = agency === globalAgency ? parent : `${parent}@${agency}`;
    return fail("not_found", `Sub-agent “${agent}” not found in ${agency}. List them with \`thinkery ls ${list}\`.`);
  }
  const suggestion = findNearest(agent, names);
  const [target, list] =
    agency === globalAgency ? [agent, "thinkery ls"] : [`${agent}@${agency}`, `thinkery ls @${agency}`];
  const hint = suggestion
    ? `Did you mean ${suggestion}?`
    : `Create it with \`thinkery new ${target}\`, or list agents with \`${list}\`.`;
  return fail("not_found", `Agent “${agent}” not found in ${agency}. ${hint}`, suggestion ? { suggestion } : {});
}

export async function createMissingAgencyError(client: Client, agency: string): Promise<Error> {
  const ids = await listAgencies(client).then(
    (agencies) => agencies.map(({ id }) => id),
    () => [],
  );
  const suggestion = findNearest(agency, ids);
  const [, owner] = agency.split("@");
  const hint = suggestion
    ? `Did you mean ${suggestion}?`
    : owner
      ? `It belongs to ${owner}, who can add you with \`thinkery agency add-member\`; list yours with \`thinkery agency ls\`.`
      : `Create it with \`thinkery agency new ${agency}\`, or list yours with \`thinkery agency ls\`.`;
  return fail("not_found", `Agency “${agency}” not found. ${hint}`, suggestion ? { suggestion } : {});
}

/** Returns the error of a request to an agency, or a better one if there is no such agency. */
export async function explainMissingAgency(client: Client, agency: string, error: unknown): Promise<unknown> {
  if (!isNotFound(error)) return error;
  const agencies = await listAgencies(client).catch(() => undefined);
  const isMissing = agencies !== undefined && agencies.every(({ id }) => id !== agency);
  return isMissing ? createMissingAgencyError(client, agency) : error;
}

const maxMessages = 20;

/** Returns the model of the agent's latest response. */
export async function findUsedModel(client: Client, { agency, agent }: AgentTarget): Promise<string | undefined> {
  const query = { limit: maxMessages };
  const { messages } = await withRetry((signal) =>
    client.call("listMessages", { params: { agency, agent }, query, signal }),
  );
  return messages.findLast(({ model }) => model !== undefined)?.model;
}

function isNotFound(error: unknown): error is Error {
  return isThinkeryError(error) && error.code === "not_found";
}
