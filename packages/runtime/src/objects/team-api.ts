import {
  type Channel,
  type ChannelMessageList,
  type ChannelQuery,
  type InboxAck,
  type InboxChange,
  type InboxDefer,
  type InboxItemList,
  type InboxQuery,
  type NewChannel,
  type NewChannelMessage,
  type PageQuery,
  type PostedMessage,
  type TeamAgent,
} from "@thinkery/sdk";
import { RpcTarget } from "cloudflare:workers";
import type { Actor } from "../agency/actor.ts";
import type { AgentActivity } from "../agency/team/agent-activity.ts";
import type { DeliveryReport } from "../agency/team/deliveries.ts";
import type { AgencyTeam } from "./agency-team.ts";

/** The channels and inboxes of an agency. */
export class TeamApi extends RpcTarget {
  readonly #open: () => Promise<AgencyTeam>;

  constructor(open: () => Promise<AgencyTeam>) {
    super();
    this.#open = open;
  }

  async listChannels(page: PageQuery): Promise<{ channels: Channel[]; next?: string }> {
    return (await this.#open()).channels.list(page);
  }

  async createChannel(channel: NewChannel, by: Actor): Promise<Channel> {
    return (await this.#open()).channels.create(channel, by);
  }

  async deleteChannel(name: string): Promise<void> {
    await (await this.#open()).deleteChannel(name);
  }

  async post(channel: string, message: NewChannelMessage, by: Actor): Promise<PostedMessage> {
    return (await this.#open()).post(channel, message, by);
  }

  async readChannel(channel: string, query: ChannelQuery, by: Actor): Promise<ChannelMessageList> {
    return (await this.#open()).channels.read(channel, query, by);
  }

  async listInbox(agent: string, query: InboxQuery): Promise<InboxItemList> {
    const team = await this.#open();
    return team.inboxes.list(team.getAgentName(agent), query);
  }

  async ack(agent: string, ack: InboxAck): Promise<InboxChange> {
    const team = await this.#open();
    return team.ack(team.getAgentName(agent), ack);
  }

  async defer(agent: string, defer: InboxDefer): Promise<InboxChange> {
    const team = await this.#open();
    return team.defer(team.getAgentName(agent), defer);
  }

  async retry(agent: string, ids: string[]): Promise<InboxChange> {
    const team = await this.#open();
    return team.retry(team.getAgentName(agent), ids);
  }

  async setNote(agent: string, note: string, task: string | undefined): Promise<void> {
    const team = await this.#open();
    team.setNote(team.getAgentName(agent), note, task);
  }

  async listAgents(): Promise<TeamAgent[]> {
    return (await this.#open()).describeAgents();
  }

  /** Called by an agent, until it succeeds, when a turn is over that handled messages. */
  async settle(report: DeliveryReport): Promise<void> {
    await (await this.#open()).settle(report);
  }

  /** Called by an agent when that changes, if anyone wants to know. */
  async noteActivity(agent: string, activity: AgentActivity): Promise<void> {
    (await this.#open()).noteActivity(agent, activity);
  }
}
