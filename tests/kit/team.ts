import type { ChannelMessage, InboxItem } from "@thinkery/sdk";
import { waitUntil } from "./wait-until.ts";
import type { Testbed } from "./worker/testbed.ts";

let agencyCount = 0;

/** Creates an agency with agents, by name and script. */
export async function openTeam(testbed: Testbed, agents: Record<string, string>) {
  const id = `team-${++agencyCount}`;
  const at = `/agency/${id}`;
  const api = async (path: string, method = "GET", body?: unknown, status = method === "POST" ? 201 : 200) => {
    const response = await testbed.api(`${at}${path}`, method, body);
    if (response.status !== status) throw new Error(`${path}: ${response.status} ${JSON.stringify(response.body)}`);
    return response.body;
  };
  const created = await testbed.api("/agencies", "POST", { id });
  if (created.status !== 201) throw new Error(JSON.stringify(created.body));
  for (const [name, script] of Object.entries(agents))
    await api("/agents", "POST", { name, model: `scripted:${script}` });
  return {
    id,
    at,
    api,
    agent: (name: string) => testbed.agentAt(`${at}/agent/${name}`, name),
    post: (content: string, options: object = {}) =>
      api("/channels/general/messages", "POST", { content, ...options }) as Promise<ChannelMessage>,
    async read(channel = "general"): Promise<ChannelMessage[]> {
      return (await api(`/channels/${encodeURIComponent(channel)}/messages?limit=500`)).messages;
    },
    async inbox(agent: string, status = "all"): Promise<InboxItem[]> {
      return (await api(`/inbox/${agent}?limit=500&status=${status}`)).items;
    },
    /** Waits until nothing is left to handle in these inboxes. */
    async settle(...names: string[]): Promise<void> {
      for (const name of names)
        await waitUntil(`${name} to handle its inbox`, async () => (await this.inbox(name, "open")).length === 0);
    },
  };
}
