import { createDecoder, readVarString, readVarUint, readVarUint8Array } from "lib0/decoding";
import {
  createEncoder,
  type Encoder,
  toUint8Array,
  writeVarString,
  writeVarUint,
  writeVarUint8Array,
} from "lib0/encoding";
import { LiveError } from "./live-error.ts";

// The y-websocket protocol: a number says what a frame is, and for `sync` a second one says what about it.
const sync = 0;
const awareness = 1;
const auth = 2;
const queryAwareness = 3;

const step1 = 0;
const step2 = 1;
const update = 2;

/** What a client can say. */
export type LiveFrame =
  | { kind: "vector"; vector: Uint8Array }
  | { kind: "update"; update: Uint8Array }
  | { kind: "presence"; presence: Uint8Array }
  | { kind: "presence wanted" }
  | { kind: "nothing" };

/** What somebody shows of themselves: a cursor, a name. `state` is JSON; “null” where they are gone. */
export interface Presence {
  client: number;
  clock: number;
  state: string;
}

export function parseFrame(message: string | ArrayBuffer | Uint8Array): LiveFrame {
  if (typeof message === "string") throw new LiveError(4400, "Malformed: send binary frames.");
  return decodeSafely(() => {
    const decoder = createDecoder(message instanceof Uint8Array ? message : new Uint8Array(message));
    const kind = readVarUint(decoder);
    if (kind === awareness) return { kind: "presence", presence: readVarUint8Array(decoder) };
    if (kind === queryAwareness) return { kind: "presence wanted" };
    // Only hosts say something with it.
    if (kind === auth) return { kind: "nothing" };
    if (kind !== sync) throw new LiveError(4400, "Malformed: there is no such kind of frame.");
    const what = readVarUint(decoder);
    if (what === step1) return { kind: "vector", vector: readVarUint8Array(decoder) };
    if (what === step2 || what === update) return { kind: "update", update: readVarUint8Array(decoder) };
    throw new LiveError(4400, "Malformed: there is no such kind of sync frame.");
  });
}

/** Runs what reads bytes of a client: whatever it throws, they are malformed. */
export function decodeSafely<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof LiveError) throw error;
    throw new LiveError(4400, "Malformed: that could not be read.");
  }
}

export const createVectorFrame = (vector: Uint8Array) => createSyncFrame(step1, vector);

export const createAnswerFrame = (missing: Uint8Array) => createSyncFrame(step2, missing);

export const createUpdateFrame = (news: Uint8Array) => createSyncFrame(update, news);

export const presenceQueryFrame = encodeFrame((encoder) => writeVarUint(encoder, queryAwareness));

export function createPresenceFrame(all: readonly Presence[]): Uint8Array {
  const body = encodeFrame((encoder) => {
    writeVarUint(encoder, all.length);
    for (const { client, clock, state } of all) {
      writeVarUint(encoder, client);
      writeVarUint(encoder, clock);
      writeVarString(encoder, state);
    }
  });
  return encodeFrame((encoder) => {
    writeVarUint(encoder, awareness);
    writeVarUint8Array(encoder, body);
  });
}

export function parsePresences(bytes: Uint8Array): Presence[] {
  return decodeSafely(() => {
    const decoder = createDecoder(bytes);
    const count = readVarUint(decoder);
    const all: Presence[] = [];
    for (let index = 0; index < count; index += 1) {
      const presence = { client: readVarUint(decoder), clock: readVarUint(decoder), state: readVarString(decoder) };
      // Written anew, so that what is handed on is JSON for sure.
      all.push({ ...presence, state: JSON.stringify(JSON.parse(presence.state)) });
    }
    return all;
  });
}

function createSyncFrame(what: number, bytes: Uint8Array): Uint8Array {
  return encodeFrame((encoder) => {
    writeVarUint(encoder, sync);
    writeVarUint(encoder, what);
    writeVarUint8Array(encoder, bytes);
  });
}

function encodeFrame(write: (encoder: Encoder) => void): Uint8Array {
  const encoder = createEncoder();
  write(encoder);
  return toUint8Array(encoder);
}
