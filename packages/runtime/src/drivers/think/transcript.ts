import { estimateMessageTokens, estimateTextTokens } from "../../model/estimate.ts";
import type { ModelMessage, Replay, UserPart } from "../../model/model.ts";
import type { Compaction } from "../../store/facts.ts";
import type { TranscriptMessage } from "../../store/message-row.ts";
import type { Conversation } from "../driver.ts";
import { formatSummary } from "./summary.ts";
import type { TranscriptEntry } from "./transcript-entry.ts";

type Blobs = Pick<Conversation, "readBlob">;

/** Maximum characters of an attached text. */
const maxAttachedChars = 100_000;
/** Maximum characters of an old tool result after a compaction. */
const maxTruncatedChars = 500;

/**
 * Converts stored messages to model messages. Kept between turns and only appended to, except by a compaction, so that
 * a long conversation is not read again for every step and stays byte-identical for the provider's cache.
 */
export class Transcript {
  #entries: TranscriptEntry[] = [];
  #messages: ModelMessage[] = [];
  #position = 0;
  #compaction: Compaction | undefined;
  #hasImages = false;
  #tokens = 0;

  /** The position of the last message it contains. */
  get position(): number {
    return this.#position;
  }

  /** The entries after the summary, or all entries if there is none. */
  get entries(): readonly TranscriptEntry[] {
    return this.#entries;
  }

  /** Estimated tokens of the whole transcript. */
  get tokens(): number {
    return this.#tokens;
  }

  get compaction(): Compaction | undefined {
    return this.#compaction;
  }

  /** Appends new messages; starts over if the conversation was compacted meanwhile. */
  async sync(conversation: Pick<Conversation, "getCompaction" | "readAfter" | "readBlob">): Promise<void> {
    this.#restart(await conversation.getCompaction());
    await this.#add(conversation);
  }

  #restart(compaction: Compaction | undefined): void {
    if (compaction?.at === this.#compaction?.at) return;
    this.#compaction = compaction;
    this.#entries = [];
    const summary = compaction && formatSummary(compaction);
    this.#messages = summary === undefined ? [] : [{ role: "user", content: summary }];
    this.#position = compaction?.upTo ?? 0;
    this.#hasImages = false;
    this.#tokens = summary === undefined ? 0 : estimateTextTokens(summary);
  }

  async #add(conversation: Pick<Conversation, "readAfter" | "readBlob">): Promise<void> {
    for (const entry of await conversation.readAfter(this.#position)) {
      const full =
        entry.attachments.length > 0 || isImageResult(entry)
          ? await loadBlobs(entry, conversation)
          : toModelMessage(entry);
      const message = entry.position <= (this.#compaction?.shortened ?? 0) ? truncateResult(full) : full;
      this.#messages.push(message);
      const tokens = estimateMessageTokens(message);
      this.#entries.push({
        position: entry.position,
        turn: entry.turn,
        ...(entry.step ? { step: entry.step } : {}),
        message,
        tokens,
      });
      this.#tokens += tokens;
      this.#position = entry.position;
      this.#hasImages ||= countImages(message) > 0;
    }
  }

  get messages(): readonly ModelMessage[] {
    return this.#messages;
  }

  /** Returns the messages for a model without vision: images are replaced by a note that names the vision model. */
  toTextMessages(visionModel: string): readonly ModelMessage[] {
    return this.#hasImages ? this.#messages.map((message) => toTextMessage(message, visionModel)) : this.#messages;
  }

  /** Returns whether there is an image that no model has seen yet. */
  hasNewImages(): boolean {
    if (!this.#hasImages) return false;
    const lastResponse = this.#entries.findLastIndex(({ message }) => message.role === "assistant");
    return this.#entries.slice(lastResponse + 1).some(({ message }) => countImages(message) > 0);
  }

  /** Returns whether the model has responded after this position. */
  hasResponseAfter(position: number): boolean {
    const last = this.#entries.findLast(({ step }) => step !== undefined);
    return last !== undefined && last.position > position;
  }
}

function toModelMessage(entry: TranscriptMessage): ModelMessage {
  if (entry.role === "user") {
    return { role: "user", content: entry.content, ...(entry.notice ? { notice: true } : {}) };
  }
  if (entry.role === "tool") {
    const { callId = "", name = "", failed } = entry.toolResult ?? {};
    return { role: "tool", callId, name, content: entry.content, ...(failed ? { failed } : {}) };
  }
  return {
    role: "assistant",
    content: entry.content,
    ...(entry.toolCalls.length > 0 ? { toolCalls: entry.toolCalls } : {}),
    ...(entry.replay ? { replay: entry.replay as Replay } : {}),
  };
}

/** Truncates a tool result and drops its images. Other messages are returned as they are. */
export function truncateResult(message: ModelMessage): ModelMessage {
  if (message.role !== "tool") return message;
  const { images: _, ...rest } = message;
  const { content } = rest;
  // The note takes up space too.
  if (content.length <= maxTruncatedChars + 100) return rest;
  return {
    ...rest,
    content: `${content.slice(0, maxTruncatedChars).toWellFormed()}\n[truncated; ${content.length} characters in total]`,
  };
}

function countImages(message: ModelMessage): number {
  if (message.role === "tool") return message.images?.length ?? 0;
  if (message.role !== "user" || typeof message.content === "string") return 0;
  return message.content.filter(({ type }) => type === "image").length;
}

function toTextMessage(message: ModelMessage, visionModel: string): ModelMessage {
  if (countImages(message) === 0) return message;
  const note = `${visionModel} looked at it and responded.`;
  if (message.role === "tool") {
    const { images: _, ...rest } = message;
    return { ...rest, content: `${rest.content}\n[You cannot see this image; ${note}]` };
  }
  if (message.role !== "user" || typeof message.content === "string") return message;
  return {
    role: "user",
    content: message.content.map((part): UserPart =>
      part.type === "image" ? { type: "text", text: `[image, ${part.mediaType}; ${note}]` } : part,
    ),
  };
}

function isImageResult(entry: TranscriptMessage): boolean {
  return entry.toolResult?.blob !== undefined && (entry.toolResult.mediaType ?? "").startsWith("image/");
}

async function loadBlobs(entry: TranscriptMessage, blobs: Blobs): Promise<ModelMessage> {
  const message = toModelMessage(entry);
  if (message.role === "tool" && entry.toolResult?.blob) {
    const data = await blobs.readBlob(entry.toolResult.blob);
    return data ? { ...message, images: [{ mediaType: entry.toolResult.mediaType ?? "image/png", data }] } : message;
  }
  if (message.role !== "user") return message;
  const parts: UserPart[] = [];
  for (const { blob, mediaType, name, size } of entry.attachments) {
    const data = await blobs.readBlob(blob);
    if (!data) parts.push({ type: "text", text: `[attachment ${name ?? blob} is no longer available]` });
    else if (mediaType.startsWith("image/")) parts.push({ type: "image", mediaType, data });
    else parts.push({ type: "text", text: formatAttachment(name ?? "attachment", mediaType, size, data) });
  }
  return { role: "user", content: [...parts, { type: "text", text: entry.content }] };
}

function formatAttachment(name: string, mediaType: string, size: number, data: Uint8Array): string {
  const isText = mediaType.startsWith("text/") || /[/+](json|xml|yaml|javascript)$/.test(mediaType);
  if (!isText) return `[attached: ${name}, ${mediaType}, ${size} bytes]`;
  const text = new TextDecoder().decode(data);
  const shown =
    text.length > maxAttachedChars
      ? `${text.slice(0, maxAttachedChars)}\n[… truncated; ${text.length} characters in total]`
      : text;
  return `<attachment name=${JSON.stringify(name)}>\n${shown}\n</attachment>`;
}
