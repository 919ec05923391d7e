import {
  type Attachment,
  fail,
  type Invoke,
  type Mode,
  type NewAttachment,
  type Props,
  type SentMessage,
  type Sender,
} from "@thinkery/sdk";
import type { Blobs } from "../../store/blobs/blobs.ts";

/** A message to an agent, from any source. */
export interface Input {
  /** The sender's idempotency key: the same key twice is the same input. */
  key: string;
  messages: SentMessage[];
  mode: Mode;
  from: Sender;
  /** What the request adds to the agent's props, for its own turn only. */
  props?: Props;
}

/** Converts a request into an input and moves its attachments to the blob store: rows never hold large values. */
export async function createInput(invoke: Invoke & { messageId?: string }, from: Sender, blobs: Blobs): Promise<Input> {
  const requested = invoke.messages ?? [{ role: "user" as const, content: invoke.message ?? "" }];
  const attachments = [
    ...(await Promise.all((invoke.attachments ?? []).map((attachment) => storeAttachment(attachment, blobs)))),
    ...(await Promise.all(Object.entries(invoke.files ?? {}).map(([path, text]) => storeFile(path, text, blobs)))),
  ];
  const messages = requested.map(({ role, content }, index): SentMessage => {
    const isLast = index === requested.length - 1;
    return {
      id: (isLast ? invoke.messageId : undefined) ?? crypto.randomUUID(),
      role,
      content,
      ...(isLast && attachments.length > 0 ? { attachments } : {}),
    };
  });
  return {
    key: invoke.idempotencyKey ?? crypto.randomUUID(),
    messages,
    mode: invoke.mode,
    from,
    ...(invoke.props ? { props: invoke.props } : {}),
  };
}

async function storeAttachment({ name, mediaType, data }: NewAttachment, blobs: Blobs): Promise<Attachment> {
  const bytes = decodeBase64(data);
  return { blob: await blobs.put(bytes), mediaType, size: bytes.length, ...(name ? { name } : {}) };
}

async function storeFile(name: string, text: string, blobs: Blobs): Promise<Attachment> {
  const bytes = new TextEncoder().encode(text);
  return { blob: await blobs.put(bytes), mediaType: "text/plain", size: bytes.length, name };
}

function decodeBase64(base64: string): Uint8Array {
  try {
    return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
  } catch {
    throw fail("bad_request", "An attachment is not valid base64.");
  }
}
