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

// The y-websocket protocol: a frame starts with its type; a `sync` frame has a second number for the sync step.
const sync = 0;
const awareness = 1;
const auth = 2;
const queryAwareness = 3;

const step1 = 0;
const step2 = 1;
const update = 2;

/** A frame from a client. */
export type LiveFrame =
  | { kind: "vector"; vector: Uint8Array }
  | { kind: "update"; update: Uint8Array }
  | { kind: "presence"; presence: Uint8Array }
  | { kind: "presence-query" }
  | { kind: "ignored" };

/** Awareness state of a client, such as its cursor and user name. `state` is JSON; “null” if the client is gone. */
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
    if (kind === queryAwareness) return { kind: "presence-query" };
    // Only meaningful from a server.
    if (kind === auth) return { kind: "ignored" };
    if (kind !== sync) throw new LiveError(4400, "Malformed: unknown frame type.");
    const step = readVarUint(decoder);
    if (step === step1) return { kind: "vector", vector: readVarUint8Array(decoder) };
    if (step === step2 || step === update) return { kind: "update", update: readVarUint8Array(decoder) };
    throw new LiveError(4400, "Malformed: unknown sync step.");
  });
}

/** Decodes bytes from a client; any error means that they are malformed. */
export function decodeSafely<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof LiveError) throw error;
    throw new LiveError(4400, "Malformed: cannot be decoded.");
  }
}

export const createVectorFrame = (vector: Uint8Array) => createSyncFrame(step1, vector);

export const createReplyFrame = (missing: Uint8Array) => createSyncFrame(step2, missing);

export const createUpdateFrame = (bytes: Uint8Array) => createSyncFrame(update, bytes);

export const presenceQueryFrame = encodeFrame((encoder) => writeVarUint(encoder, queryAwareness));

export function createPresenceFrame(presences: readonly Presence[]): Uint8Array {
  const body = encodeFrame((encoder) => {
    writeVarUint(encoder, presences.length);
    for (const { client, clock, state } of presences) {
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
    const presences: Presence[] = [];
    for (let index = 0; index < count; index += 1) {
      const presence = { client: readVarUint(decoder), clock: readVarUint(decoder), state: readVarString(decoder) };
      // Serialized again, so that what is relayed is certainly JSON.
      presences.push({ ...presence, state: JSON.stringify(JSON.parse(presence.state)) });
    }
    return presences;
  });
}

function createSyncFrame(step: number, bytes: Uint8Array): Uint8Array {
  return encodeFrame((encoder) => {
    writeVarUint(encoder, sync);
    writeVarUint(encoder, step);
    writeVarUint8Array(encoder, bytes);
  });
}

function encodeFrame(write: (encoder: Encoder) => void): Uint8Array {
  const encoder = createEncoder();
  write(encoder);
  return toUint8Array(encoder);
}
