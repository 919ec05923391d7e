import type { Channel, ChannelMessage, InboxItem } from "@thinkery/sdk";
import { Channels } from "../../packages/runtime/src/agency/team/channels.ts";
import type { ItemRow, MessageRow } from "../../packages/runtime/src/agency/team/context-store.ts";
import { Deliveries, type DeliveriesOptions } from "../../packages/runtime/src/agency/team/deliveries.ts";
import type { Participant } from "../../packages/runtime/src/agency/team/direct-channel.ts";
import { Inboxes } from "../../packages/runtime/src/agency/team/inboxes.ts";
import { MemoryContextStore } from "../../packages/runtime/src/agency/team/memory-context-store.ts";

export const toAgent = (name: string): Participant => ({ kind: "agent", name });

export const owner: Participant = { kind: "user", name: "owner" };

/** The channels and inboxes of an agency in memory, without anything around them. */
export function createTeamParts(agents: readonly string[] = ["alice", "bob", "kimi-code"]) {
  const store = new MemoryContextStore();
  const items: InboxItem[] = [];
  const messages: ChannelMessage[] = [];
  const created: Channel[] = [];
  const texts: string[] = [];
  const inboxes = new Inboxes({
    store,
    onItem(describe) {
      const item = describe();
      if (item) items.push(item);
    },
  });
  const channels = new Channels({
    store,
    names: {
      findAgent: (name) => agents.find((agent) => agent.toLowerCase() === name.toLowerCase()),
      hasPerson: (name) => name === "owner" || name === "ann",
      listAgents: () => [...agents],
    },
    // Stored later, as in a blob store.
    async storeText(text) {
      await new Promise((resolve) => setImmediate(resolve));
      texts.push(text);
      return `hash-${texts.length}`;
    },
    redact: (text) => text.replaceAll("secret", "[redacted]"),
    deliver(message, recipients) {
      for (const agent of recipients) inboxes.add(message, agent);
    },
    onMessage: (message) => messages.push(message),
    onChannel: (channel) => created.push(channel),
  });
  return {
    store,
    inboxes,
    channels,
    /** What was published, and the long texts that were stored. */
    items,
    messages,
    created,
    texts,
    post: (content: string, options: { to?: string[]; priority?: MessageRow["priority"]; channel?: string } = {}) => {
      const { channel = "general", ...rest } = options;
      return channels.post(channel, { content, ...rest }, owner);
    },
    listItems: (agent: string): ItemRow[] =>
      store.listItems({
        agent,
        statuses: ["pending", "seen", "deferred", "acked", "given_up"],
        after: 0,
        limit: 100_000,
      }),
    createDeliveries: (options: Partial<DeliveriesOptions> & Pick<DeliveriesOptions, "send">) =>
      new Deliveries({
        store,
        inboxes,
        getSettings: () => ({ maxAttempts: 3, backoffSeconds: 2 }),
        isHeld: () => false,
        hasAgent: (name) => agents.includes(name),
        onGivenUp: () => {},
        ...options,
      }),
  };
}

export type TeamParts = ReturnType<typeof createTeamParts>;
