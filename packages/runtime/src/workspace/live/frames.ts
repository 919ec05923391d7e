import { createDecoder, readVarString, readVarUint, readVarUint8Array } from "lib0/decoding";
import { createEncoder, type Encoder, toUint8Array, writeVarString, writeVarUint, writeVarUint8Array } from "lib0/encoding";
import { Refusal } from "./refusal.ts";

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

export function frameIn(message: string | ArrayBuffer | Uint8Array): LiveFrame {
  if (typeof message === "string") throw new Refusal(4400, "Malformed: send binary frames.");
  return decoded(() => {
    const decoder = createDecoder(message instanceof Uint8Array ? message : new Uint8Array(message));
    const kind = readVarUint(decoder);
    if (kind === awareness) return { kind: "presence", presence: readVarUint8Array(decoder) };
    if (kind === queryAwareness) return { kind: "presence wanted" };
    // Only hosts say something with it.
    if (kind === auth) return { kind: "nothing" };
    if (kind !== sync) throw new Refusal(4400, "Malformed: there is no such kind of frame.");
    const what = readVarUint(decoder);
    if (what === step1) return { kind: "vector", vector: readVarUint8Array(decoder) };
    if (what === step2 || what === update) return { kind: "update", update: readVarUint8Array(decoder) };
    throw new Refusal(4400, "Malformed: there is no such kind of sync frame.");
  });
}

/** Runs what reads bytes of a client: whatever it throws, they are malformed. */
export function decoded<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw new Refusal(4400, "Malformed: that could not be read.");
  }
}

export const vectorFrame = (vector: Uint8Array) => syncFrame(step1, vector);

export const answerFrame = (missing: Uint8Array) => syncFrame(step2, missing);

export const updateFrame = (news: Uint8Array) => syncFrame(update, news);

export const presenceWantedFrame = framed((encoder) => writeVarUint(encoder, queryAwareness));

export function presenceFrame(all: readonly Presence[]): Uint8Array {
  const body = framed((encoder) => {
    writeVarUint(encoder, all.length);
    for (const { client, clock, state } of all) {
      writeVarUint(encoder, client);
      writeVarUint(encoder, clock);
      writeVarString(encoder, state);
    }
  });
  return framed((encoder) => {
    writeVarUint(encoder, awareness);
    writeVarUint8Array(encoder, body);
  });
}

export function presencesIn(bytes: Uint8Array): Presence[] {
  return decoded(() => {
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

function syncFrame(what: number, bytes: Uint8Array): Uint8Array {
  return framed((encoder) => {
    writeVarUint(encoder, sync);
    writeVarUint(encoder, what);
    writeVarUint8Array(encoder, bytes);
  });
}

function framed(write: (encoder: Encoder) => void): Uint8Array {
  const encoder = createEncoder();
  write(encoder);
  return toUint8Array(encoder);
}
