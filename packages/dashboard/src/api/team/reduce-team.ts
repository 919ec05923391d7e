import type { Channel, InboxItem, TeamAgent, TeamFrame, TeamTask, WorkflowRun } from "@thinkery/sdk";
import type { Pages } from "../pages.ts";

/** The agents of an agency and what they do, as far as it is known. */
export interface Roster {
  agents: readonly TeamAgent[];
  run?: WorkflowRun;
  /** When it was first known; undefined until then. */
  at?: number;
}

/** Applies a frame to what is known of the agents and of the run. */
export function reduceRoster(roster: Roster, frame: TeamFrame, now: number): Roster {
  switch (frame.type) {
    case "sync":
      return { agents: frame.agents, ...(frame.run ? { run: frame.run } : {}), at: roster.at ?? now };
    case "agent":
      return { ...roster, agents: put(roster.agents, frame.agent, ({ name }) => name) };
    case "agent-removed":
      return { ...roster, agents: roster.agents.filter(({ name }) => name !== frame.name) };
    case "workflow":
      return { ...roster, run: frame.run };
    default:
      return roster;
  }
}

export function reduceChannels(pages: Pages<Channel>, frame: TeamFrame): Pages<Channel> {
  switch (frame.type) {
    case "channel":
      return { ...pages, items: put(pages.items, frame.channel, ({ name }) => name) };
    case "channel-removed":
      return { ...pages, items: pages.items.filter(({ name }) => name !== frame.name) };
    case "message": {
      const { channel: name, createdAt } = frame.message;
      return {
        ...pages,
        items: pages.items.map((item) => (item.name === name ? countMessage(item, createdAt) : item)),
      };
    }
    default:
      return pages;
  }
}

/** The channel itself may have been sent with this message, or the message again with its replies. */
function countMessage(channel: Channel, createdAt: string): Channel {
  if (channel.lastMessageAt !== undefined && channel.lastMessageAt >= createdAt) return channel;
  return { ...channel, messages: channel.messages + 1, lastMessageAt: createdAt };
}

export function reduceTasks(pages: Pages<TeamTask>, frame: TeamFrame): Pages<TeamTask> {
  return frame.type === "task" ? { ...pages, items: put(pages.items, frame.task, ({ id }) => id) } : pages;
}

/** Items that were handled disappear; those that were given up stay until somebody decides. */
export function reduceInbox(items: readonly InboxItem[], frame: TeamFrame, agent: string): readonly InboxItem[] {
  if (frame.type !== "inbox" || frame.item.agent !== agent) return items;
  if (frame.item.status === "acked") return items.filter(({ id }) => id !== frame.item.id);
  return put(items, frame.item, ({ id }) => id);
}

/** Replaces the item with this key, or adds it at the end. */
function put<T>(items: readonly T[], item: T, getKey: (item: T) => string): T[] {
  const index = items.findIndex((one) => getKey(one) === getKey(item));
  return index < 0 ? [...items, item] : items.with(index, item);
}
