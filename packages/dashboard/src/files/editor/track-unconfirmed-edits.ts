import type { WebsocketProvider } from "y-websocket";
import * as Y from "yjs";

// The frames of y-websocket: the first number says that it is about the document, the second one what about it.
const messageSync = 0;
const syncStep1 = 0;
const syncStep2 = 1;

/** While somebody types, the host is asked once in so long. */
const requestIntervalMs = 500;

/**
 * Tells whether all that was typed here is stored. y-websocket sends it and hears nothing of what becomes of it, so the
 * host is asked what it has that we have not: it answers in order, and after what it has heard before is stored.
 */
export function trackUnconfirmedEdits(provider: WebsocketProvider, tell: (unsent: boolean) => void): () => void {
  const { doc } = provider;
  /** How many edits were made, and how many of them the host had when it was asked last. */
  let editCount = 0;
  let confirmedCount = 0;
  let requestedCount: number | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const requestSync = () => {
    timer = undefined;
    if (!provider.synced || requestedCount !== undefined) return;
    requestedCount = editCount;
    provider.ws?.send(encodeStateVectorFrame(Y.encodeStateVector(doc)));
  };
  const scheduleRequest = () => {
    timer ??= setTimeout(requestSync, requestIntervalMs);
  };
  const onUpdate = (_update: Uint8Array, origin: unknown) => {
    if (origin === provider) return;
    editCount++;
    tell(true);
    scheduleRequest();
  };
  const onAnswer = () => {
    // It was the one that every connection begins with.
    if (requestedCount === undefined) return;
    confirmedCount = requestedCount;
    requestedCount = undefined;
    if (confirmedCount === editCount) tell(false);
    else scheduleRequest();
  };
  const onSync = (synced: boolean) => {
    requestedCount = undefined;
    // What was typed meanwhile has been sent just now.
    if (synced && confirmedCount < editCount) requestSync();
  };

  const originalHandler = provider.messageHandlers[messageSync] as Handler;
  provider.messageHandlers[messageSync] = ((encoder, decoder, ...rest) => {
    const messageType = decoder.arr[decoder.pos];
    originalHandler(encoder, decoder, ...rest);
    if (messageType === syncStep2) onAnswer();
  }) satisfies Handler;
  doc.on("update", onUpdate);
  provider.on("sync", onSync);

  return () => {
    clearTimeout(timer);
    doc.off("update", onUpdate);
    provider.off("sync", onSync);
  };
}

type Handler = (encoder: unknown, decoder: { arr: Uint8Array; pos: number }, ...rest: unknown[]) => void;

/** Its length is written in groups of seven bits, the lowest first. */
function encodeStateVectorFrame(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const length: number[] = [];
  let rest = bytes.length;
  for (; rest > 127; rest >>>= 7) length.push((rest & 127) | 128);
  return Uint8Array.from([messageSync, syncStep1, ...length, rest, ...bytes]);
}
