import {
  type ChannelMessageList,
  type ChannelQuery,
  fail,
  type InboxAck,
  type InboxDefer,
  type InboxItem,
  type InboxItemList,
  type InboxQuery,
  type NewChannelMessage,
  type PostedMessage,
} from "@thinkery/sdk";
import { RpcTarget } from "cloudflare:workers";
import type { Actor } from "./team-actor.ts";

/** The channels and inboxes of an agency. */
export class TeamApi extends RpcTarget {
  async post(_channel: string, _message: NewChannelMessage, _by: Actor): Promise<PostedMessage> {
    throw fail("unavailable", "Channels are not there yet.");
  }

  async readChannel(_channel: string, _query: ChannelQuery, _by: Actor): Promise<ChannelMessageList> {
    throw fail("unavailable", "Channels are not there yet.");
  }

  async listInbox(_agent: string, _query: InboxQuery): Promise<InboxItemList> {
    throw fail("unavailable", "Channels are not there yet.");
  }

  async ack(_agent: string, _ack: InboxAck): Promise<InboxItem[]> {
    throw fail("unavailable", "Channels are not there yet.");
  }

  async defer(_agent: string, _defer: InboxDefer): Promise<InboxItem[]> {
    throw fail("unavailable", "Channels are not there yet.");
  }

  async setNote(_agent: string, _note: string, _task: string | undefined): Promise<void> {
    throw fail("unavailable", "Channels are not there yet.");
  }
}
