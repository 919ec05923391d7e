import { type AgentAddress, formatAddress } from "@thinkery/sdk";
import type { Actor } from "../agency/actor.ts";
import type { TeamPort } from "../turn/team-port.ts";
import { openDocuments } from "./documents-api.ts";
import type { Env } from "./env.ts";
import { readTransfer } from "./transfer.ts";

interface TeamClientOptions {
  env: Env;
  address: AgentAddress;
}

/** Opens an agent's agency for its turns. A sub-agent acts under the name of its root agent. */
export function createTeamClient({ env, address }: TeamClientOptions): TeamPort {
  const [agent] = address.path;
  const actor: Actor = { kind: "agent", name: agent };
  const agency = () => env.Agency.getByName(address.agency);
  return {
    post: (channel, message) => agency().team.post(channel, message, actor),
    readChannel: (channel, query) => agency().team.readChannel(channel, query, actor),
    listInbox: async () => (await agency().team.listInbox(agent, { limit: 100, status: "open" })).items,
    ack: async (ack) => (await agency().team.ack(agent, ack)).items,
    defer: async (defer) => (await agency().team.defer(agent, defer)).items,
    setStatus: (note, task) => agency().team.setNote(agent, note, task),
    leaveFeedback: (feedback, runId, key) => agency().feedback.create(feedback, actor, { runId, key }),
    openDocuments: ({ createKey, ...call }) =>
      openDocuments(agency().documents, { agent: formatAddress(address), ...call }, createKey),
    createResource: (content, type) =>
      agency().resources.create({ content, ...(type === undefined ? {} : { type }), encoding: "text" }, agent),
    async readResource(id) {
      const { resource, content } = await agency().resources.read(id);
      return { resource, content: await readTransfer(content) };
    },
    listTasks: () => agency().sharedTasks.listForAgent(),
    createTask: (task, key) => agency().sharedTasks.create(task, actor, key),
    claimTask: (id) => agency().sharedTasks.claim(id, actor),
    updateTask: (id, change) => agency().sharedTasks.update(id, change, actor),
  };
}
