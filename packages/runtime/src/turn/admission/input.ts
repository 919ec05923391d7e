import {
  type Attachment,
  fail,
  type Invoke,
  type Mode,
  type NewAttachment,
  type Props,
  type Said,
  type Sender,
} from "@thinkery/sdk";
import type { Blobs } from "../../store/blobs/blobs.ts";

/** Something said to an agent, from whichever side it came. */
export interface Input {
  /** The sender's own name for it: the same key twice is the same input. */
  key: string;
  messages: Said[];
  mode: Mode;
  from: Sender;
  /** What the request adds to the agent, for its own turn. */
  props?: Props;
}

/** What a request says, with its attachments in the blob store: big values never stand in a row. */
export async function createInput(invoke: Invoke & { messageId?: string }, from: Sender, blobs: Blobs): Promise<Input> {
  const spoken = invoke.messages ?? [{ role: "user" as const, content: invoke.message ?? "" }];
  const attachments = [
    ...(await Promise.all((invoke.attachments ?? []).map((attachment) => storeAttachment(attachment, blobs)))),
    ...(await Promise.all(Object.entries(invoke.files ?? {}).map(([path, text]) => storeFile(path, text, blobs)))),
  ];
  const messages = spoken.map(({ role, content }, index): Said => {
    const isLast = index === spoken.length - 1;
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
