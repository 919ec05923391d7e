import { expect, test } from "vitest";
import * as Y from "yjs";
import { createRandom } from "../../../../../tests/kit/random.ts";
import { type CraftedStruct, type CraftedUpdate, craftUpdate } from "./crafted.fixture.ts";
import { withStepCounter } from "./item-steps.fixture.ts";
import { LiveError } from "./live-error.ts";
import { validateUpdate } from "./validate-update.ts";

type Id = readonly [client: number, clock: number];

/** Creates a file with entry 1/0 and text 1/1 to 1/n. */
function createDoc(text: string): Y.Doc {
  const doc = new Y.Doc();
  doc.clientID = 1;
  doc.getMap("files").set("a.txt", new Y.Text(text));
  return doc;
}

const getText = (doc: Y.Doc) => doc.getMap<Y.Text>("files").get("a.txt") as Y.Text;

function copy(doc: Y.Doc, client: number): Y.Doc {
  const other = new Y.Doc();
  other.clientID = client;
  Y.applyUpdate(other, Y.encodeStateAsUpdate(doc));
  return other;
}

const encodeSince = (doc: Y.Doc, since: Y.Doc) => Y.encodeStateAsUpdate(doc, Y.encodeStateVector(since));

function getSteps(doc: Y.Doc, update: Uint8Array): number | "4413" {
  try {
    const { gap, steps } = validateUpdate(doc, update);
    expect(gap).toBe(false);
    return steps;
  } catch (error) {
    expect(error).toMatchObject({ code: 4413 });
    return "4413";
  }
}

/** Two clients that type one character each in turn, each after the other's: an item per character. */
function createChain(length: number, after: Id = [1, 1]): CraftedUpdate {
  const runs: [number, number, ...CraftedStruct[]][] = [
    [8, 0],
    [9, 0],
  ];
  let left = after;
  for (let index = 0; index < length; index += 1) {
    runs[index % 2]?.push({ left, content: { text: "x" } });
    left = [8 + (index % 2), Math.floor(index / 2)];
  }
  return { runs };
}

/** Inserts once at each id, without a right neighbour, so that Yjs passes everything that follows. */
const insertAt = (ids: readonly Id[]): CraftedUpdate => ({
  runs: [[100, 0, ...ids.map((left) => ({ left, content: { text: "y" } }))]],
});
const listChainIds = (length: number): Id[] =>
  Array.from({ length }, (_, index) => [8 + (index % 2), Math.floor(index / 2)] as const);

test("insertions that pass much of a stored text are rejected, wherever they start", () => {
  const doc = createDoc("h");
  Y.applyUpdate(doc, craftUpdate(createChain(4_000)));
  expect(getSteps(doc, craftUpdate(insertAt(listChainIds(100))))).toBeGreaterThan(100 * 3_900);
  expect(getSteps(doc, craftUpdate(insertAt(listChainIds(1_000))))).toBe("4413");
});

test("insertions that pass much of what the same update inserts are rejected", () => {
  const doc = createDoc("h");
  const { runs } = insertAt(listChainIds(2_000));
  expect(getSteps(doc, craftUpdate({ runs: [...createChain(4_000).runs, ...runs] }))).toBe("4413");
});

test("splitting one long text in too many places is rejected", () => {
  const doc = createDoc("x".repeat(130_000));
  const split = (count: number): CraftedUpdate => ({
    runs: [
      [
        9,
        0,
        ...Array.from({ length: count }, (_, index): CraftedStruct => {
          const clock = 2 * (count - index);
          return { left: [1, clock], right: [1, clock + 1], content: { text: "y" } };
        }),
      ],
    ],
  });
  expect(getSteps(doc, craftUpdate(split(20_000)))).toBe(0);
  expect(getSteps(doc, craftUpdate(split(60_000)))).toBe("4413");
});

test("typing, pasting and replacing text cost nothing, however long the text", () => {
  const doc = createDoc("h");
  Y.applyUpdate(doc, craftUpdate(createChain(20_000)));
  const ada = copy(doc, 50);
  const random = createRandom("typing");
  for (let edit = 0; edit < 5_000; edit += 1) {
    const text = getText(ada);
    const at = random.below(text.length);
    text.insert(at, edit % 50 === 0 ? "pasted\n".repeat(100) : "k");
    if (edit % 3 === 0) text.delete(random.below(text.length - 1), 1);
  }
  for (let line = 0; line < 2_000; line += 1) getText(ada).insert(0, `line ${line}\n`);
  for (let line = 0; line < 2_000; line += 1) getText(ada).insert(getText(ada).length, `line ${line}\n`);
  expect(getSteps(doc, encodeSince(ada, doc))).toBe(0);
});

test("big edits that two clients made offline pass, also at the same places", () => {
  const doc = createDoc("line\n".repeat(5_000));
  const [ada, ben] = [copy(doc, 50), copy(doc, 60)];
  for (const { text, name } of [ada, ben].map((client) => ({ text: getText(client), name: client.clientID }))) {
    for (let line = 4_999; line >= 0; line -= 5) text.insert(line * 5, `${name}: changed\n`);
    for (let line = 0; line < 500; line += 1) text.insert(0, `${name}: ${line}\n`);
    for (let line = 0; line < 3_000; line += 1) text.insert(text.length, `${name}: ${line}\n`);
  }
  expect(getSteps(doc, encodeSince(ada, doc))).toBe(0);
  Y.applyUpdate(doc, encodeSince(ada, doc));
  expect(getSteps(doc, encodeSince(ben, doc))).toBeGreaterThan(0);
  // Both at once, as from a client that had heard of the other's edits before the host.
  const old = createDoc("line\n".repeat(5_000));
  const [cid, dan] = [copy(old, 50), copy(old, 60)];
  for (const text of [cid, dan].map(getText))
    for (let line = 4_999; line >= 0; line -= 1) text.insert(line * 5, "changed: ");
  Y.applyUpdate(cid, encodeSince(dan, cid));
  expect(getSteps(old, encodeSince(cid, old))).toBeGreaterThan(0);
});

test("Yjs never passes more items than were counted", () => {
  const random = createRandom("insertion cost");
  for (let round = 0; round < 50; round += 1) {
    withStepCounter((countSteps) => {
      const doc = createDoc("some text");
      for (let frame = 0; frame < 8; frame += 1) {
        const update = craftUpdate(createRandomUpdate(doc, random, 1 + random.below(3), 1 + random.below(150)));
        let validation: ReturnType<typeof validateUpdate>;
        try {
          validation = validateUpdate(doc, update);
        } catch (error) {
          expect(error).toBeInstanceOf(LiveError);
          continue;
        }
        if (validation.gap) continue;
        const { structs } = Y.decodeUpdate(validation.delta);
        let steps = 0;
        doc.transact(() => {
          steps = countSteps(() => Y.applyUpdate(doc, validation.delta));
        });
        // Each step reads the neighbour of an item twice, and splitting and linking items reads some more.
        expect(steps).toBeLessThanOrEqual(2 * validation.steps + 20 * structs.length);
      }
    });
  }
});

/** Creates insertions at random places of a document's text and of the update itself, some of them out of order. */
function createRandomUpdate(
  doc: Y.Doc,
  random: ReturnType<typeof createRandom>,
  clients: number,
  count: number,
): CraftedUpdate {
  const stored = [...Y.decodeStateVector(Y.encodeStateVector(doc))];
  const runs = Array.from({ length: clients }, (_, index) => {
    const client = 20 + 7 * random.below(5) + index;
    return { client, clock: new Map(stored).get(client) ?? 0, structs: [] as CraftedStruct[] };
  }).filter(({ client }, index, all) => all.findIndex((run) => run.client === client) === index);
  const ids: Id[] = stored.flatMap(([client, length]) =>
    Array.from({ length }, (_, clock) => [client, clock] as const).filter((id) => id[0] !== 1 || id[1] > 0),
  );
  const lengths = new Map(runs.map(({ client, clock }) => [client, clock]));
  const style = random.below(4);
  let last: Id | undefined;
  for (let index = 0; index < count; index += 1) {
    const run = runs[random.below(runs.length)] as (typeof runs)[number];
    const clock = lengths.get(run.client) as number;
    const left = style === 0 ? ids[0] : ids[random.below(ids.length)];
    const right = style === 1 ? last : random.below(2) ? ids[random.below(ids.length)] : undefined;
    const text = "z".repeat(1 + random.below(3));
    run.structs.push({
      ...(random.below(6) && left ? { left } : {}),
      ...(right ? { right } : {}),
      in: [1, 0],
      content: { text },
    });
    last = [run.client, clock];
    for (let at = 0; at < text.length; at += 1) ids.push([run.client, clock + at]);
    lengths.set(run.client, clock + text.length);
  }
  return {
    runs: runs
      .filter(({ structs }) => structs.length > 0)
      .map(({ client, clock, structs }) => [client, clock, ...structs]),
  };
}
