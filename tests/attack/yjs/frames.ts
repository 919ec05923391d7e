import * as Y from "yjs";
import {
  type Content,
  craftUpdate,
  type CraftedStruct,
  type CraftedUpdate,
  createPresenceMessage,
  sharedTypes,
  createUpdateMessage,
  encodeVarint,
} from "../../../packages/runtime/src/workspace/live/crafted.fixture.ts";
import type { Random } from "../../kit/random.ts";

/** What an attacker knows of a document that others edit. */
export interface KnownDocument {
  /** Valid frames, to be mutated. */
  valid: readonly Uint8Array[];
  /** Clients of the document, including the host's own, and their clocks. */
  clients: readonly (readonly [client: number, clock: number])[];
  paths: readonly string[];
}

export type FrameKind = keyof typeof makers;

export const listKinds = () => Object.keys(makers) as FrameKind[];

/** Creates a frame that no honest client would send. */
export function createHostileFrame(kind: FrameKind, chance: Random, known: KnownDocument): Uint8Array | string {
  return makers[kind](chance, known);
}

const makers = {
  "random bytes": (chance: Random, _known: KnownDocument) => createRandomBytes(chance, chance.below(200)),
  "random sync frames": (chance: Random, _known: KnownDocument) =>
    join([0, chance.below(4)], createRandomBytes(chance, chance.below(100))),
  "random updates": (chance: Random, _known: KnownDocument) =>
    createUpdateMessage(createRandomBytes(chance, chance.below(60)), 1 + chance.below(2)),
  "mutated frames": (chance: Random, { valid }: KnownDocument) => mutateFrame(chance, chance.pick(valid)),
  "truncated frames": (chance: Random, { valid }: KnownDocument) => {
    const frame = chance.pick(valid);
    return frame.slice(0, chance.below(frame.length));
  },
  "wrong lengths": (chance: Random, _known: KnownDocument) =>
    join(
      [chance.below(4), chance.below(3)],
      encodeVarint(2 ** (7 + chance.below(46))),
      createRandomBytes(chance, chance.below(20)),
    ),
  "endless numbers": (chance: Random, _known: KnownDocument) =>
    join([0, 2], new Uint8Array(1 + chance.below(200)).fill(0xff)),
  "wrong counts": (chance: Random, _known: KnownDocument) =>
    createUpdateMessage(
      join(
        encodeVarint(2 ** chance.below(50)),
        encodeVarint(2 ** chance.below(50)),
        createRandomBytes(chance, chance.below(30)),
      ),
    ),
  "deep nesting": (chance: Random, _known: KnownDocument) =>
    createUpdateMessage(createNestedFrame(1_000 + chance.below(20_000), chance)),
  "random structs": (chance: Random, known: KnownDocument) =>
    createUpdateMessage(craftUpdate(createRandomUpdate(chance, known))),
  "wrong types": (chance: Random, { clients }: KnownDocument) => {
    const [client, clock] = chance.pick(clients);
    const content = chance.pick<Content>([
      { format: ["bold", "true"] },
      { embed: "{}" },
      { doc: "x" },
      { bytes: new Uint8Array(9) },
      { json: ["1"] },
      { type: sharedTypes.map },
      { type: sharedTypes.xmlText },
    ]);
    return createUpdateMessage(
      craftUpdate({
        runs: [[createClientId(chance), 0, { left: [client, chance.below(Math.max(1, clock))], content }]],
      }),
    );
  },
  "foreign roots": (chance: Random, _known: KnownDocument) => {
    const root = chance.pick(["binaries", "other", "", "__proto__", "constructor", "share", "\0", "x".repeat(5_000)]);
    return createUpdateMessage(
      craftUpdate({
        runs: [
          [
            createClientId(chance),
            0,
            {
              root,
              sub: chance.text(5),
              content: chance.pick<Content>([{ type: 2 }, { any: [{ hash: "x" }] }, { text: "x" }]),
            },
          ],
        ],
      }),
    );
  },
  "spoofed client ids": (chance: Random, { clients }: KnownDocument) => {
    const [client, clock] = chance.pick(clients);
    const content = chance.pick<Content>([{ text: "spoofed" }, { deleted: 7 }, { type: 2 }, { any: [1] }]);
    return createUpdateMessage(
      craftUpdate({
        runs: [[client, Math.max(0, clock - chance.below(3)), { root: "files", sub: "spoofed.md", content }]],
      }),
    );
  },
  "bad paths": (chance: Random, _known: KnownDocument) => {
    const doc = new Y.Doc();
    const names = [
      "..",
      ".",
      "",
      "a\\b",
      "\0",
      "con",
      "x".repeat(300),
      "\u202e",
      "e\u0301",
      "/etc",
      "%2e%2e",
      "nul.txt",
      "a ",
      "b.",
    ];
    const path = Array.from({ length: 1 + chance.below(4) }, () => chance.pick(names)).join(
      chance.pick(["/", "//", "\\"]),
    );
    doc.getMap("files").set(path, new Y.Text("out"));
    return createUpdateMessage(Y.encodeStateAsUpdate(doc));
  },
  presences: (chance: Random, { clients }: KnownDocument) => {
    const state = chance.pick([
      '{"name":"Eve"}',
      "null",
      "{",
      "",
      "[".repeat(20_000),
      JSON.stringify("x".repeat(chance.below(40_000))),
      '{"__proto__":{"x":1}}',
      "1e999",
    ]);
    const entries = Array.from(
      { length: chance.below(5) },
      () =>
        [chance.chance(0.7) ? chance.pick(clients)[0] : createClientId(chance), chance.below(2 ** 31), state] as const,
    );
    return createPresenceMessage(entries, chance.chance(0.2) ? 2 ** 30 : entries.length);
  },
  text: (chance: Random, _known: KnownDocument) => chance.text(chance.below(50)),
  nothing: () => new Uint8Array(0),
} satisfies Record<string, (chance: Random, known: KnownDocument) => Uint8Array | string>;

/** Random structs at random positions; some may even be valid. */
function createRandomUpdate(chance: Random, { clients, paths }: KnownDocument): CraftedUpdate {
  const me = createClientId(chance);
  const id = () => {
    if (chance.chance(0.2)) return [me, chance.below(6)] as const;
    const [client, clock] = chance.pick(clients);
    return [client, chance.below(clock + 3)] as const;
  };
  const content = () =>
    chance.pick<() => Content>([
      () => ({ text: chance.text(chance.below(5)) }),
      () => ({ text: "x" }),
      () => ({ deleted: chance.pick([0, 1, 3, 2 ** 31, 2 ** 52]) }),
      () => ({ type: chance.below(8) }),
      () => ({ type: 2 }),
      () => ({ any: [chance.text(3)] }),
      () => ({ json: ["1"] }),
      () => ({ format: ["a", "1"] }),
    ])();
  const struct = (): CraftedStruct => {
    if (chance.chance(0.1)) return chance.pick([{ gc: chance.below(5) }, { skip: chance.below(5) }, { gc: 2 ** 40 }]);
    if (chance.chance(0.3))
      return {
        root: chance.pick(["files", "files", "binaries", "x"]),
        ...(chance.chance(0.8) ? { sub: chance.chance(0.5) ? chance.pick(paths) : chance.text(4) } : {}),
        content: content(),
      };
    if (chance.chance(0.3)) return { in: id(), content: content() };
    return {
      ...(chance.chance(0.8) ? { left: id() } : {}),
      ...(chance.chance(0.5) ? { right: id() } : {}),
      content: content(),
    };
  };
  const run = (client: number) =>
    [
      client,
      chance.chance(0.8) ? 0 : chance.below(10),
      ...Array.from({ length: 1 + chance.below(5) }, struct),
    ] as const;
  const ranges = () => Array.from({ length: chance.below(4) }, () => [chance.below(20), chance.below(5)] as const);
  return {
    runs: Array.from({ length: 1 + chance.below(3) }, (_, index) =>
      run(index === 0 ? me : chance.chance(0.5) ? chance.pick(clients)[0] : createClientId(chance)),
    ),
    // Deleting others' text is a valid edit, so only structs of invented clients are deleted.
    deletions: chance.chance(0.3) ? [[me, ...ranges()]] : [],
  };
}

function mutateFrame(chance: Random, frame: Uint8Array): Uint8Array {
  const bytes = [...frame];
  for (let change = 0; change <= chance.below(4); change += 1) {
    const at = chance.below(bytes.length + 1);
    const how = chance.below(4);
    if (how === 0) bytes[at] = chance.below(256);
    if (how === 1) bytes.splice(at, 1 + chance.below(3));
    if (how === 2) bytes.splice(at, 0, ...Array.from({ length: 1 + chance.below(4) }, () => chance.below(256)));
    if (how === 3) bytes.push(...bytes.slice(at, at + chance.below(20)));
  }
  return new Uint8Array(bytes);
}

function createNestedFrame(depth: number, chance: Random): Uint8Array {
  const update = craftUpdate({
    runs: [[createClientId(chance), 0, { root: "binaries", sub: "deep", content: { any: [] } }]],
  });
  // Nested arrays in place of an empty list: 117 is the tag of an array, followed by its length 1.
  const head = update.slice(0, -2);
  const arrays = new Uint8Array(2 * depth).map((_, index) => (index % 2 === 0 ? 117 : 1));
  return join(head, [1], arrays, chance.chance(0.5) ? [127, 0] : []);
}

const createClientId = (chance: Random) => 1_000 + chance.below(2 ** 31);

const createRandomBytes = (chance: Random, length: number) => Uint8Array.from({ length }, () => chance.below(256));

function join(...parts: readonly (Uint8Array | readonly number[])[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts.map((part) => Uint8Array.from(part))));
}
