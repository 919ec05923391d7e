import type { WebsocketProvider } from "y-websocket";
import * as Y from "yjs";

// Frames of y-websocket: the first number is the message type, the second one the sync step.
const messageSync = 0;
const syncStep1 = 0;
const syncStep2 = 1;

/** Interval between requests while the user types. */
const requestIntervalMs = 500;

/**
 * Reports whether all local edits are stored. y-websocket gets no confirmation for updates, so this sends a state vector:
 * the host responds in order, after storing everything it received before. Returns a function that stops tracking.
 */
export function trackUnconfirmedEdits(provider: WebsocketProvider, onChange: (unsent: boolean) => void): () => void {
  const { doc } = provider;
  /** Edits made, and edits that the host had stored at its last response. */
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
    onChange(true);
    scheduleRequest();
  };
  const onResponse = () => {
    // This is the response to the initial request of every connection.
    if (requestedCount === undefined) return;
    confirmedCount = requestedCount;
    requestedCount = undefined;
    if (confirmedCount === editCount) onChange(false);
    else scheduleRequest();
  };
  const onSync = (synced: boolean) => {
    requestedCount = undefined;
    // Edits made while disconnected have just been sent.
    if (synced && confirmedCount < editCount) requestSync();
  };

  const originalHandler = provider.messageHandlers[messageSync] as Handler;
  provider.messageHandlers[messageSync] = ((encoder, decoder, ...rest) => {
    const messageType = decoder.arr[decoder.pos];
    originalHandler(encoder, decoder, ...rest);
    if (messageType === syncStep2) onResponse();
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

/** The length is encoded as a varint: groups of seven bits, lowest first. */
function encodeStateVectorFrame(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const length: number[] = [];
  let remaining = bytes.length;
  for (; remaining > 127; remaining >>>= 7) length.push((remaining & 127) | 128);
  return Uint8Array.from([messageSync, syncStep1, ...length, remaining, ...bytes]);
}
