import type { ModelMessage, Replay, UserPart } from "../../model/model.ts";
import type { Spoken } from "../../store/message-row.ts";

type ReadBlob = (hash: string) => Promise<Uint8Array | undefined>;

/** Attached texts are shown up to here; the rest is named. */
const longestAttachedText = 100_000;

/**
 * The boundary where our messages become the model's. Kept between turns and only ever added to, so that a long
 * conversation is not read again for every step and its bytes stay the same for the provider's cache.
 */
export class Transcript {
  readonly messages: ModelMessage[] = [];
  #position = 0;

  /** The place up to which it has been told. */
  get position(): number {
    return this.#position;
  }

  async add(spoken: readonly Spoken[], readBlob: ReadBlob): Promise<void> {
    for (const entry of spoken) {
      this.messages.push(entry.attachments.length > 0 || isPicture(entry) ? await withBlobs(entry, readBlob) : plain(entry));
      this.#position = entry.position;
    }
  }
}

function plain(entry: Spoken): ModelMessage {
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

function isPicture(entry: Spoken): boolean {
  return entry.toolResult?.blob !== undefined && (entry.toolResult.mediaType ?? "").startsWith("image/");
}

async function withBlobs(entry: Spoken, readBlob: ReadBlob): Promise<ModelMessage> {
  const message = plain(entry);
  if (message.role === "tool" && entry.toolResult?.blob) {
    const data = await readBlob(entry.toolResult.blob);
    return data ? { ...message, images: [{ mediaType: entry.toolResult.mediaType ?? "image/png", data }] } : message;
  }
  if (message.role !== "user") return message;
  const parts: UserPart[] = [];
  for (const { blob, mediaType, name, size } of entry.attachments) {
    const data = await readBlob(blob);
    if (!data) parts.push({ type: "text", text: `[attachment ${name ?? blob} is gone]` });
    else if (mediaType.startsWith("image/")) parts.push({ type: "image", mediaType, data });
    else parts.push({ type: "text", text: attachedText(name ?? "attachment", mediaType, size, data) });
  }
  return { role: "user", content: [...parts, { type: "text", text: entry.content }] };
}

function attachedText(name: string, mediaType: string, size: number, data: Uint8Array): string {
  const isText = mediaType.startsWith("text/") || /[/+](json|xml|yaml|javascript)$/.test(mediaType);
  if (!isText) return `[attached: ${name}, ${mediaType}, ${size} bytes]`;
  const text = new TextDecoder().decode(data);
  const shown = text.length > longestAttachedText ? `${text.slice(0, longestAttachedText)}\n[… cut, ${text.length} characters in all]` : text;
  return `<attachment name=${JSON.stringify(name)}>\n${shown}\n</attachment>`;
}
