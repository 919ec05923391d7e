import {
  type Channel,
  type ChannelMessage,
  type ChannelMessageList,
  type ChannelQuery,
  defaultChannel,
  fail,
  maxInlineChars,
  type NewChannel,
  type NewChannelMessage,
  type PageQuery,
  type PostedMessage,
} from "@thinkery/sdk";
import { findNearest, type Mentions, type Names, searchMentions } from "@thinkery/sdk/internal";
import { Pacer, runFairly } from "../../host/fair-work.ts";
import { takePage } from "../../store/page.ts";
import type { ChannelRow, ContextStore, MessageFilter, MessageRow, NewMessageRow } from "./context-store.ts";
import { formatDirectChannel, isDirectChannel, listDirectAgents, type Participant } from "./direct-channel.ts";
import { formatMessageId, parseBoundary, requireMessageId } from "./message-id.ts";

export interface ChannelsOptions {
  store: ContextStore;
  names: Names;
  /** Stores a long text, and returns its hash. */
  storeText(text: string, createdBy: string): Promise<string>;
  /** Removes the secrets of the environment from what is stored. */
  redact(text: string): string;
  /** Called in the transaction of a new message, with the agents that get it. */
  deliver(message: MessageRow, agents: readonly string[]): void;
  onMessage(message: ChannelMessage): void;
  onChannel(channel: Channel): void;
  /** Whose work it is to search or delete much. */
  owner?: string;
}

const maxChannels = 1000;
const maxRecipients = 50;
const maxPreviewChars = 2000;
/** How much of a search is done at once, in microseconds. */
const maxUnitsAtOnce = 2000;
/** Messages that are deleted at once, and how much work one of them is, in microseconds. */
const messagesPerSlice = 100;
const unitsPerMessage = 200;

/** What members write to each other: logs of messages that only grow. */
export class Channels {
  readonly #options: ChannelsOptions;

  constructor(options: ChannelsOptions) {
    this.#options = options;
  }

  list({ limit, after = "" }: PageQuery): { channels: Channel[]; next?: string } {
    const { store } = this.#options;
    this.#openDefault();
    const rows = store.listChannels(after, limit + 1);
    const last = rows.at(limit - 1);
    return {
      channels: rows.slice(0, limit).map(toChannel),
      ...(rows.length > limit && last ? { next: last.name } : {}),
    };
  }

  create({ name, description }: NewChannel, by: Participant): Channel {
    const { store, onChannel } = this.#options;
    this.#openDefault();
    const known = store.findChannel(name);
    if (known) throw fail("conflict", `Channel “${known.name}” already exists.`);
    if (store.listChannels("", maxChannels).length === maxChannels)
      throw fail("conflict", `An agency can have at most ${maxChannels} channels. Delete those you no longer need.`);
    this.#checkNotHidden(name);
    store.insertChannel({
      name,
      kind: "channel",
      createdBy: by.name,
      createdAt: Date.now(),
      ...(description ? { description } : {}),
    });
    const channel = toChannel(this.#require(name));
    onChannel(channel);
    return channel;
  }

  /** Creates a channel unless there is one. */
  ensure(name: string, by: Participant): void {
    if (!this.#options.store.findChannel(name)) this.create({ name }, by);
  }

  /** Hides a channel. What is in it is deleted by `clear`. */
  hide(name: string): string {
    const channel = this.#require(name);
    if (channel.name === defaultChannel) throw fail("conflict", `The channel “${defaultChannel}” cannot be deleted.`);
    this.#options.store.deleteChannel(channel.name, 0);
    return channel.name;
  }

  /** Deletes what is in hidden channels, in slices. A crash leaves the rest for the next time. */
  async clear(): Promise<void> {
    const { store, owner } = this.#options;
    const pacer = new Pacer(owner);
    for (const name of store.listHiddenChannels()) {
      while (!store.deleteChannel(name, messagesPerSlice)) await pacer.pauseIfDue(messagesPerSlice * unitsPerMessage);
    }
  }

  /** Posts a message. The same key of the same sender again returns the message that was posted. */
  async post(
    channelName: string,
    { content: given, to = [], thread, priority = "normal", idempotencyKey }: NewChannelMessage,
    by: Participant,
  ): Promise<PostedMessage> {
    const { store, redact, storeText } = this.#options;
    const key = idempotencyKey === undefined ? undefined : `${by.kind}:${by.name}:${idempotencyKey}`;
    const known = key === undefined ? undefined : store.findMessageByKey(key);
    if (known) return { ...toMessage(known), duplicate: true };
    const content = redact(given);
    const channel = this.#resolve(channelName, by);
    const mentions = await this.#findMentions(content);
    const recipients = this.#listRecipients(typeof to === "string" ? [to] : to, mentions.agents, channel, by);
    const root = thread === undefined ? undefined : this.#findThread(thread, channel.name);
    const isLong = content.length > maxInlineChars;
    const resource = isLong ? await storeText(content, by.name) : undefined;
    // It may have been posted while the text was stored.
    const repeated = key === undefined ? undefined : store.findMessageByKey(key);
    if (repeated) return { ...toMessage(repeated), duplicate: true };
    const posted = this.#insert(
      {
        channel: channel.name,
        from: by.name,
        fromKind: by.kind,
        content: isLong ? `${cutText(content, maxPreviewChars)}…` : content,
        to: recipients,
        priority,
        createdAt: Date.now(),
        ...(resource === undefined ? {} : { resource, size: content.length }),
        ...(root === undefined ? {} : { thread: root }),
        ...(key === undefined ? {} : { key }),
      },
      channel,
    );
    return { ...posted, ...(mentions.unknown.length > 0 ? { unknown: mentions.unknown } : {}) };
  }

  /** Posts a notice of the host. It wakes nobody but the agents in `to`, whatever it mentions. */
  postNotice(channelName: string, content: string, { thread, to = [] }: { thread?: number; to?: string[] } = {}): void {
    const channel = this.#options.store.findChannel(channelName) ?? this.#openDefault();
    const base = { channel: channel.name, from: "thinkery", fromKind: "host" as const, to };
    const root = thread === undefined ? {} : { thread };
    this.#insert({ ...base, content, priority: "normal", createdAt: Date.now(), ...root }, channel);
  }

  read(channelName: string, query: ChannelQuery, by: Participant): ChannelMessageList {
    const { store } = this.#options;
    const channel = this.#resolve(channelName, by, false);
    if (!store.findChannel(channel.name)) return { messages: [] };
    const { limit, newest, before, thread } = query;
    const filter: MessageFilter = {
      channel: channel.name,
      ...readBoundaries(query),
      limit: limit + 1,
      order: newest !== undefined || before !== undefined ? "newest" : "oldest",
      ...(thread === undefined ? {} : { thread: this.#findThread(thread, channel.name) }),
      ...(before === undefined ? {} : { before: requireMessageId(before) }),
    };
    const { items, next } = takePage(store.listMessages(filter), {
      limit,
      toItem: toMessage,
      countChars: ({ content }) => 200 + content.length,
      toCursor: ({ number }) => formatMessageId(number),
    });
    if (filter.order === "oldest") return { messages: items, ...(next === undefined ? {} : { next }) };
    return { messages: items.toReversed(), ...(next === undefined ? {} : { previous: next }) };
  }

  /** Searches a usual text at once, and goes on in slices if it takes longer. */
  async #findMentions(text: string): Promise<Mentions> {
    const { names, owner } = this.#options;
    const search = searchMentions(text, names);
    for (let units = 0; units < maxUnitsAtOnce;) {
      const { done, value } = search.next();
      if (done) return value;
      units += value;
    }
    return runFairly(() => search, { owner });
  }

  #insert(row: NewMessageRow, channel: Pick<ChannelRow, "name">): ChannelMessage {
    const { store, deliver, onMessage } = this.#options;
    const stored = store.transaction(() => {
      if (!store.findChannel(channel.name)) throw fail("not_found", `Channel “${channel.name}” was deleted.`);
      const number = store.insertMessage(row);
      const message: MessageRow = { ...row, number, replies: 0 };
      deliver(message, row.to);
      return message;
    });
    const message = toMessage(stored);
    onMessage(message);
    return message;
  }

  /** Returns the channel that a name means to somebody. `@bob` is the one they share with bob. */
  #resolve(name: string, by: Participant, isWriting = true): ChannelRow {
    const { store, names } = this.#options;
    if (name.startsWith("@")) return this.#openDirect(name.slice(1), by, isWriting);
    if (name.toLowerCase() === defaultChannel) return this.#openDefault();
    const channel = store.findChannel(name);
    if (!channel || (isDirectChannel(channel.name) && by.kind === "agent" && !isMember(channel, by))) {
      const channels = [defaultChannel, ...store.listChannels("", maxChannels).map((one) => one.name)];
      const nearest = findNearest(
        name,
        channels.filter((one) => !isDirectChannel(one)),
      );
      const agent = names.findAgent(name);
      const hint = nearest ? ` Did you mean “${nearest}”?` : agent ? ` For a direct message, use “@${agent}”.` : "";
      throw fail("not_found", `Channel “${name}” not found.${hint}`, nearest ? { suggestion: nearest } : undefined);
    }
    return channel;
  }

  #openDirect(name: string, by: Participant, isWriting: boolean): ChannelRow {
    const { store, names, onChannel } = this.#options;
    const agent = names.findAgent(name);
    if (agent === undefined && !names.hasPerson(name)) throw this.#createUnknownError(name);
    const other: Participant = agent === undefined ? { kind: "user", name } : { kind: "agent", name: agent };
    if (other.kind === by.kind && other.name === by.name) throw fail("bad_request", "You cannot write to yourself.");
    const channel = formatDirectChannel(by, other);
    const known = store.findChannel(channel);
    if (known) return known;
    const members = [by.name, other.name];
    const row = { name: channel, kind: "direct" as const, members, createdBy: by.name, createdAt: Date.now() };
    if (!isWriting) return { ...row, messages: 0 };
    this.#checkNotHidden(channel);
    store.insertChannel(row);
    onChannel(toChannel({ ...row, messages: 0 }));
    return this.#require(channel);
  }

  #openDefault(): ChannelRow {
    const { store } = this.#options;
    if (!store.findChannel(defaultChannel)) {
      store.insertChannel({ name: defaultChannel, kind: "channel", createdBy: "thinkery", createdAt: Date.now() });
    }
    return this.#require(defaultChannel);
  }

  #checkNotHidden(name: string): void {
    if (this.#options.store.listHiddenChannels().some((hidden) => hidden.toLowerCase() === name.toLowerCase()))
      throw fail("conflict", `The channel “${name}” is still being deleted. Try again in a moment.`);
  }

  /** Returns whom a message wakes: those it names, without its author. In a direct channel, the other one. */
  #listRecipients(to: readonly string[], mentioned: string[], channel: ChannelRow, by: Participant): string[] {
    const { names } = this.#options;
    const named = to.map((name) => {
      const agent = names.findAgent(name);
      if (agent === undefined) throw this.#createUnknownError(name);
      return agent;
    });
    const others = channel.kind === "direct" ? listDirectAgents(channel.name) : [...named, ...mentioned];
    const agents = others.flatMap((name) => names.findAgent(name) ?? []);
    const recipients = [...new Set(agents)].filter((name) => by.kind !== "agent" || name !== by.name);
    if (recipients.length > maxRecipients)
      throw fail(
        "bad_request",
        `A message can be for at most ${maxRecipients} agents; this one is for ${recipients.length}.`,
      );
    return recipients;
  }

  #createUnknownError(name: string): Error {
    const suggestion = findNearest(name, this.#options.names.listAgents());
    const hint = suggestion ? ` Did you mean “${suggestion}”?` : "";
    return fail("not_found", `No agent is named “${name}” here.${hint}`, suggestion ? { suggestion } : undefined);
  }

  /** Returns the first message of the thread that a message is in. */
  #findThread(id: string, channel: string): number {
    const message = this.#options.store.findMessage(requireMessageId(id));
    if (!message || message.channel.toLowerCase() !== channel.toLowerCase())
      throw fail("not_found", `Message “${id}” not found in the channel “${channel}”.`);
    return message.thread ?? message.number;
  }

  #require(name: string): ChannelRow {
    const channel = this.#options.store.findChannel(name);
    if (!channel) throw fail("not_found", `Channel “${name}” not found.`);
    return channel;
  }
}

function isMember({ name }: ChannelRow, by: Participant): boolean {
  return listDirectAgents(name).includes(by.name.toLowerCase());
}

function readBoundaries({ since, until, after }: ChannelQuery): Partial<MessageFilter> {
  const from = since === undefined ? undefined : parseBoundary(since, "since");
  const to = until === undefined ? undefined : parseBoundary(until, "until");
  const cursor = after === undefined ? 0 : requireMessageId(after);
  const first = Math.max(cursor, from && "message" in from ? from.message : 0);
  return {
    ...(first > 0 ? { after: first } : {}),
    ...(from && "time" in from ? { since: from.time } : {}),
    ...(to && "message" in to ? { upTo: to.message } : {}),
    ...(to && "time" in to ? { until: to.time } : {}),
  };
}

/** Cuts a text without breaking a character in two. */
function cutText(text: string, maxChars: number): string {
  const cut = text.slice(0, maxChars);
  return cut.isWellFormed() ? cut : cut.slice(0, -1);
}

export function toMessage(row: MessageRow): ChannelMessage {
  const { number, channel, from, fromKind, content, resource, size, to, thread, priority, createdAt, replies } = row;
  return {
    id: formatMessageId(number),
    channel,
    from,
    fromKind,
    content,
    ...(resource === undefined ? {} : { resource }),
    ...(size === undefined ? {} : { size }),
    to,
    ...(thread === undefined ? {} : { thread: formatMessageId(thread) }),
    ...(replies > 0 ? { replies } : {}),
    ...(priority === "normal" ? {} : { priority }),
    createdAt: new Date(createdAt).toISOString(),
  };
}

function toChannel(row: ChannelRow): Channel {
  const { name, kind, description, members, createdBy, createdAt, messages, lastMessageAt } = row;
  return {
    name,
    kind,
    ...(description === undefined ? {} : { description }),
    ...(members === undefined ? {} : { members }),
    createdBy,
    createdAt: new Date(createdAt).toISOString(),
    messages,
    ...(lastMessageAt === undefined ? {} : { lastMessageAt: new Date(lastMessageAt).toISOString() }),
  };
}
