import type { WebsocketProvider } from "y-websocket";
import * as Y from "yjs";

// The frames of y-websocket: the first number says that it is about the document, the second one what about it.
const sync = 0;
const vector = 0;
const answer = 1;

/** While somebody types, the host is asked once in so long. */
const pause = 500;

/**
 * Tells whether all that was typed here is stored. y-websocket sends it and hears nothing of what becomes of it, so the
 * host is asked what it has that we have not: it answers in order, and after what it has heard before is stored.
 */
export function whenConfirmed(provider: WebsocketProvider, tell: (unsent: boolean) => void): () => void {
  const { doc } = provider;
  /** How many edits were made, and how many of them the host had when it was asked last. */
  let made = 0;
  let confirmed = 0;
  let asked: number | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const ask = () => {
    timer = undefined;
    if (!provider.synced || asked !== undefined) return;
    asked = made;
    provider.ws?.send(vectorFrame(Y.encodeStateVector(doc)));
  };
  const askSoon = () => {
    timer ??= setTimeout(ask, pause);
  };
  const onUpdate = (_update: Uint8Array, origin: unknown) => {
    if (origin === provider) return;
    made++;
    tell(true);
    askSoon();
  };
  const onAnswer = () => {
    // It was the one that every connection begins with.
    if (asked === undefined) return;
    confirmed = asked;
    asked = undefined;
    if (confirmed === made) tell(false);
    else askSoon();
  };
  const onSync = (synced: boolean) => {
    asked = undefined;
    // What was typed meanwhile has been sent just now.
    if (synced && confirmed < made) ask();
  };

  const heard = provider.messageHandlers[sync] as Handler;
  provider.messageHandlers[sync] = ((encoder, decoder, ...rest) => {
    const what = decoder.arr[decoder.pos];
    heard(encoder, decoder, ...rest);
    if (what === answer) onAnswer();
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
function vectorFrame(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const length: number[] = [];
  let rest = bytes.length;
  for (; rest > 127; rest >>>= 7) length.push((rest & 127) | 128);
  return Uint8Array.from([sync, vector, ...length, rest, ...bytes]);
}
