import { estimateMessageTokens, estimateTextTokens } from "../../model/estimate.ts";
import type { ModelMessage, Replay, UserPart } from "../../model/model.ts";
import type { Compaction } from "../../store/facts.ts";
import type { TranscriptMessage } from "../../store/message-row.ts";
import type { Conversation } from "../driver.ts";
import { formatSummary } from "./summary.ts";
import type { TranscriptEntry } from "./transcript-entry.ts";

type Blobs = Pick<Conversation, "readBlob">;

/** Attached texts are shown up to here; the rest is named. */
const maxAttachedChars = 100_000;
/** So much of an old tool result is told once the conversation was too long. */
const maxShortenedChars = 500;

/**
 * The boundary where our messages become the model's. Kept between turns and only ever added to, but for a compaction,
 * so that a long conversation is not read again for every step and its bytes stay the same for the provider's cache.
 */
export class Transcript {
  #entries: TranscriptEntry[] = [];
  #messages: ModelMessage[] = [];
  #position = 0;
  #compaction: Compaction | undefined;
  #hasImages = false;
  #tokens = 0;

  /** The place up to which it has been told. */
  get position(): number {
    return this.#position;
  }

  /** What follows the summary, or all of it where there is none. */
  get entries(): readonly TranscriptEntry[] {
    return this.#entries;
  }

  /** About how many tokens all of it takes. */
  get tokens(): number {
    return this.#tokens;
  }

  get compaction(): Compaction | undefined {
    return this.#compaction;
  }

  /** Adds what was said since; starts over if the conversation was compacted meanwhile. */
  async follow(conversation: Pick<Conversation, "getCompaction" | "readAfter" | "readBlob">): Promise<void> {
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
      const whole =
        entry.attachments.length > 0 || isPicture(entry) ? await loadBlobs(entry, conversation) : toModelMessage(entry);
      const message = entry.position <= (this.#compaction?.shortened ?? 0) ? shortenResult(whole) : whole;
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

  /** The same for a model that sees nothing: images in words, and who has looked at them. */
  toTextMessages(lookedAtBy: string): readonly ModelMessage[] {
    return this.#hasImages ? this.#messages.map((message) => toTextMessage(message, lookedAtBy)) : this.#messages;
  }

  /** Is there an image that no model has seen yet? */
  hasNewImages(): boolean {
    if (!this.#hasImages) return false;
    const spoke = this.#entries.findLastIndex(({ message }) => message.role === "assistant");
    return this.#entries.slice(spoke + 1).some(({ message }) => countImages(message) > 0);
  }

  /** Has the model said anything since that place? */
  hasSpokenSince(position: number): boolean {
    const last = this.#entries.findLast(({ step }) => step !== undefined);
    return last !== undefined && last.position > position;
  }
}

function toModelMessage(entry: TranscriptMessage): ModelMessage {
  if (entry.role === "user") return { role: "user", content: entry.content };
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

/** A tool's result by its beginning. What else there is to say stays as it is. */
export function shortenResult(message: ModelMessage): ModelMessage {
  if (message.role !== "tool") return message;
  const { images: _, ...rest } = message;
  const { content } = rest;
  // The note takes room too.
  if (content.length <= maxShortenedChars + 100) return rest;
  return {
    ...rest,
    content: `${content.slice(0, maxShortenedChars).toWellFormed()}\n[shortened; ${content.length} characters in all]`,
  };
}

function countImages(message: ModelMessage): number {
  if (message.role === "tool") return message.images?.length ?? 0;
  if (message.role !== "user" || typeof message.content === "string") return 0;
  return message.content.filter(({ type }) => type === "image").length;
}

function toTextMessage(message: ModelMessage, lookedAtBy: string): ModelMessage {
  if (countImages(message) === 0) return message;
  const note = `${lookedAtBy} looked at it and answered.`;
  if (message.role === "tool") {
    const { images: _, ...rest } = message;
    return { ...rest, content: `${rest.content}\n[You cannot see this picture; ${note}]` };
  }
  if (message.role !== "user" || typeof message.content === "string") return message;
  return {
    role: "user",
    content: message.content.map((part): UserPart =>
      part.type === "image" ? { type: "text", text: `[image, ${part.mediaType}; ${note}]` } : part,
    ),
  };
}

function isPicture(entry: TranscriptMessage): boolean {
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
    if (!data) parts.push({ type: "text", text: `[attachment ${name ?? blob} is gone]` });
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
      ? `${text.slice(0, maxAttachedChars)}\n[… cut, ${text.length} characters in all]`
      : text;
  return `<attachment name=${JSON.stringify(name)}>\n${shown}\n</attachment>`;
}
