import type { Message } from "@thinkery/sdk";
import { encodeBase64, type WireAttachment, type WireConversationMessage } from "@thinkery/sdk/agent-host";
import type { AgentStore } from "../../store/agent-store.ts";
import { getReplyId } from "./replies.ts";

const defaultMaxMessages = 50;
const defaultMaxChars = 100_000;
const maxPageChars = 1_000_000;
const maxAttachmentBytes = 7 * 1024 * 1024;

type ReadBlob = (hash: string) => Promise<Uint8Array | undefined>;

/** A conversation as code sees it: what people and the agent said, without tools. */
export class ConversationWindow {
  readonly #store: AgentStore;
  readonly #readBlob: ReadBlob;

  constructor(store: AgentStore, readBlob: ReadBlob) {
    this.#store = store;
    this.#readBlob = readBlob;
  }

  /**
   * Returns the messages before a position, oldest first, of at most as many messages and characters; the newest of
   * them at any length, unless there may be none. `isIncluded` chooses messages after the position that belong to them.
   */
  read(
    position: number,
    { maxMessages = defaultMaxMessages, maxChars = defaultMaxChars }: { maxMessages?: number; maxChars?: number },
    isIncluded?: (id: string) => boolean,
  ): { messages: WireConversationMessage[]; hasEarlier: boolean } {
    const taken: WireConversationMessage[] = [];
    let chars = 0;
    for (const message of this.#readBackwards(position, isIncluded)) {
      chars += message.content.length;
      const isFull = taken.length >= maxMessages || (taken.length > 0 && chars > maxChars);
      if (isFull) return { messages: taken.toReversed(), hasEarlier: true };
      taken.push(message);
    }
    return { messages: taken.toReversed(), hasEarlier: false };
  }

  /** Returns messages before the one with this id. */
  readBefore(id: string | undefined, limit: number) {
    const position = id === undefined ? Number.MAX_SAFE_INTEGER : this.#store.messages.get(id)?.seq;
    if (position === undefined) throw new Error(`There is no message “${id}” in the conversation.`);
    return this.read(position, { maxMessages: limit, maxChars: maxPageChars });
  }

  async readAttachment(hash: string): Promise<{ base64: string }> {
    const data = (await this.readBlob(hash))?.data;
    if (!data) throw new Error(`There is no attachment “${hash}”, or it is no longer stored.`);
    if (data.length > maxAttachmentBytes)
      throw new Error(`The attachment has ${data.length} bytes; code can read at most ${maxAttachmentBytes}.`);
    return { base64: encodeBase64(data) };
  }

  /** Only what the agent's own conversation refers to. */
  async readBlob(hash: string): Promise<{ mediaType: string; data: Uint8Array } | undefined> {
    const mediaType = this.#store.blobs.getMediaType(hash);
    const data = mediaType === undefined ? undefined : await this.#readBlob(hash);
    return mediaType === undefined || !data ? undefined : { mediaType, data };
  }

  /** Yields the newest first. Messages of one reply, which tool calls divide, are one message again. */
  *#readBackwards(
    position: number,
    isIncluded: ((id: string) => boolean) | undefined,
  ): Generator<WireConversationMessage> {
    let last: { message: WireConversationMessage; replyId: string } | undefined;
    for (const message of this.#readPages(isIncluded ? Number.MAX_SAFE_INTEGER : position)) {
      if ((message.seq ?? position) >= position && !isIncluded?.(message.id)) continue;
      const replyId = message.role === "assistant" && !message.model ? getReplyId(message.id) : message.id;
      if (last?.replyId === replyId) {
        last.message = { ...last.message, id: message.id, content: message.content + last.message.content };
        continue;
      }
      if (last) yield last.message;
      last = { message: toWire(message), replyId };
    }
    if (last) yield last.message;
  }

  *#readPages(position: number): Generator<Message> {
    for (let before = position; ;) {
      const { messages, next } = this.#store.messages.page({ before, limit: 50 });
      for (const message of messages.toReversed()) if (isSaid(message)) yield message;
      if (next === undefined) return;
      before = Number(next);
    }
  }
}

function isSaid({ role, status, content, notice, attachments }: Message): boolean {
  if (role === "tool" || notice) return false;
  // What an interrupted turn has said counts; what it failed with does not.
  if (status !== "complete" && !(status === "cancelled" && role === "assistant")) return false;
  return content !== "" || attachments !== undefined;
}

export function toWire({ id, role, content, timestamp, attachments }: Message): WireConversationMessage {
  return {
    id,
    role: role === "assistant" ? "assistant" : "user",
    content,
    timestamp: new Date(timestamp).toISOString(),
    ...(attachments ? { attachments: toWireAttachments(attachments) } : {}),
  };
}

export function toWireAttachments(attachments: Message["attachments"] = []): WireAttachment[] {
  return attachments.map(({ blob: id, name, mediaType, size }) => ({
    id,
    ...(name === undefined ? {} : { name }),
    mediaType,
    size,
  }));
}
