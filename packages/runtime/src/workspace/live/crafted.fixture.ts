import {
  createEncoder,
  type Encoder,
  toUint8Array,
  writeAny,
  writeUint8,
  writeVarString,
  writeVarUint,
  writeVarUint8Array,
} from "lib0/encoding";

type Id = readonly [client: number, clock: number];

export type Content =
  | { text: string }
  | { deleted: number }
  | { type: number }
  | { any: unknown[] }
  | { json: string[] }
  | { bytes: Uint8Array }
  | { embed: string }
  | { format: [string, string] }
  | { doc: string };

export type CraftedStruct =
  | { gc: number }
  | { skip: number }
  | { left?: Id; right?: Id; root?: string; in?: Id; sub?: string; content: Content };

export interface CraftedUpdate {
  /** The structs each client adds, starting at a clock. */
  runs: readonly (readonly [client: number, clock: number, ...structs: CraftedStruct[]])[];
  deletions?: readonly (readonly [client: number, ...ranges: (readonly [clock: number, length: number])[]])[];
}

/** Type numbers of shared types in an update. */
export const sharedTypes = { array: 0, map: 1, text: 2, element: 3, fragment: 4, hook: 5, xmlText: 6 };

/** Encodes an arbitrary update without using Yjs. */
export function craftUpdate({ runs, deletions = [] }: CraftedUpdate): Uint8Array {
  const encoder = createEncoder();
  writeVarUint(encoder, runs.length);
  for (const [client, clock, ...structs] of runs) {
    writeVarUint(encoder, structs.length);
    writeVarUint(encoder, client);
    writeVarUint(encoder, clock);
    for (const struct of structs) writeStruct(encoder, struct);
  }
  writeVarUint(encoder, deletions.length);
  for (const [client, ...ranges] of deletions) {
    writeVarUint(encoder, client);
    writeVarUint(encoder, ranges.length);
    for (const [clock, length] of ranges) {
      writeVarUint(encoder, clock);
      writeVarUint(encoder, length);
    }
  }
  return toUint8Array(encoder);
}

/** Wraps an update in a protocol frame. */
export function createUpdateMessage(update: Uint8Array, kind = 2): Uint8Array {
  const encoder = createEncoder();
  writeVarUint(encoder, 0);
  writeVarUint(encoder, kind);
  writeVarUint8Array(encoder, update);
  return toUint8Array(encoder);
}

/** Creates a frame that requests everything missing from this state vector. */
export function createVectorMessage(vector: Uint8Array): Uint8Array {
  return createUpdateMessage(vector, 0);
}

export function encodeVarint(value: number): Uint8Array {
  const encoder = createEncoder();
  writeVarUint(encoder, value);
  return toUint8Array(encoder);
}

export function createPresenceMessage(
  entries: readonly (readonly [client: number, clock: number, state: string])[],
  count = entries.length,
): Uint8Array {
  const body = createEncoder();
  writeVarUint(body, count);
  for (const [client, clock, state] of entries) {
    writeVarUint(body, client);
    writeVarUint(body, clock);
    writeVarString(body, state);
  }
  const encoder = createEncoder();
  writeVarUint(encoder, 1);
  writeVarUint8Array(encoder, toUint8Array(body));
  return toUint8Array(encoder);
}

function writeStruct(encoder: Encoder, struct: CraftedStruct): void {
  if ("gc" in struct || "skip" in struct) {
    writeUint8(encoder, "gc" in struct ? 0 : 10);
    writeVarUint(encoder, "gc" in struct ? struct.gc : struct.skip);
    return;
  }
  const { left, right, root, sub, content } = struct;
  writeUint8(encoder, getContentRef(content) | (left ? 0x80 : 0) | (right ? 0x40 : 0) | (sub === undefined ? 0 : 0x20));
  for (const id of [left, right]) if (id) writeId(encoder, id);
  if (!left && !right) {
    writeVarUint(encoder, root === undefined ? 0 : 1);
    if (root === undefined) writeId(encoder, struct.in ?? [0, 0]);
    else writeVarString(encoder, root);
    if (sub !== undefined) writeVarString(encoder, sub);
  }
  writeContent(encoder, content);
}

function writeId(encoder: Encoder, [client, clock]: Id): void {
  writeVarUint(encoder, client);
  writeVarUint(encoder, clock);
}

function getContentRef(content: Content): number {
  return ["", "deleted", "json", "bytes", "text", "embed", "format", "type", "any", "doc"].indexOf(
    Object.keys(content)[0] as string,
  );
}

function writeContent(encoder: Encoder, content: Content): void {
  if ("text" in content) return writeVarString(encoder, content.text);
  if ("deleted" in content) return writeVarUint(encoder, content.deleted);
  if ("bytes" in content) return writeVarUint8Array(encoder, content.bytes);
  if ("embed" in content) return writeVarString(encoder, content.embed);
  if ("format" in content) return content.format.forEach((text) => writeVarString(encoder, text));
  if ("json" in content || "any" in content) {
    const values = "json" in content ? content.json : content.any;
    writeVarUint(encoder, values.length);
    for (const value of values) {
      if ("json" in content) writeVarString(encoder, value as string);
      else writeAny(encoder, value as never);
    }
    return;
  }
  if ("doc" in content) {
    writeVarString(encoder, content.doc);
    return writeAny(encoder, {});
  }
  writeVarUint(encoder, content.type);
  if (content.type === sharedTypes.element || content.type === sharedTypes.hook) writeVarString(encoder, "p");
}
