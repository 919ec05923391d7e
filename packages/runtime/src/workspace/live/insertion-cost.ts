import * as Y from "yjs";
import { getBinaries, getFiles } from "./layout.ts";
import { LiveError } from "./live-error.ts";

/** Yjs takes up to a third of a microsecond to pass one item, on the thread that all agents share. */
const maxSteps = 4_000_000;
/** An edit within an item splits it, which shifts all later structs of its client, a thousand in a microsecond. */
const maxShifts = 1_000_000_000;

type Struct = Y.Item | Y.GC | Y.Skip;

/** Finds the struct that has an id, in the document or in the update. */
export type FindStruct = (id: Y.ID) => { struct: Struct; isKnown: boolean };

/** The new items with the same left neighbour. */
interface Position {
  place: string;
  origin: Y.ID | null;
  items: Y.Item[];
}

/**
 * Bounds how many items Yjs passes to place an update's insertions. An insertion between two neighbours is free, which
 * is what typing and pasting are. Otherwise Yjs starts at the left origin and passes what was inserted there, and what
 * was inserted into that, up to the right origin. That is counted as if all new items were already in their places,
 * because the order in which they are applied is not known.
 */
export class InsertionCost {
  readonly #doc: Y.Doc;
  readonly #findStruct: FindStruct;
  readonly #positions = new Map<string, Position>();
  /** The stored id that new items were inserted at, or into what was inserted there; null for the start of a text. */
  readonly #roots = new Map<Struct, Y.ID | null>();
  /** New items and splits of items, by their root and by the stored item it is in. */
  readonly #pieces = new Map<string, number>();
  readonly #splits = new Set<string>();
  readonly #splitsPerClient = new Map<number, number>();
  #steps = 0;
  #shifts = 0;

  constructor(doc: Y.Doc, findStruct: FindStruct) {
    this.#doc = doc;
    this.#findStruct = findStruct;
  }

  /** Counts an item. Its origins are counted before it, and the items of one client in their order. */
  add(item: Y.Item, place: string): void {
    const { origin, rightOrigin } = item;
    const key = origin ? toKey(origin) : place;
    const position = this.#positions.get(key);
    if (position) position.items.push(item);
    else this.#positions.set(key, { place, origin, items: [item] });
    const root = origin && this.#findRoot(origin);
    this.#roots.set(item, root);
    this.#addPiece(root ? toKey(root) : place);
    if (root) this.#addPiece(toPieceKey(this.#findStruct(root).struct));
    if (origin) this.#splitBefore(Y.createID(origin.client, origin.clock + 1), place);
    if (rightOrigin) this.#splitBefore(rightOrigin, place);
  }

  /** Counts a split of one of a client's items. */
  addSplit(client: number): void {
    const splits = (this.#splitsPerClient.get(client) ?? 0) + 1;
    this.#splitsPerClient.set(client, splits);
    this.#shifts += splits + (this.#doc.store.clients.get(client)?.length ?? 0);
    if (this.#shifts > maxShifts) throw new LiveError(4413, "Too many edits within one text in one update.");
  }

  /** Throws if the items that were added are too expensive to apply. Returns the steps it takes at most. */
  check(): number {
    for (const position of this.#positions.values()) this.#checkPosition(position);
    return this.#steps;
  }

  #findRoot(origin: Y.ID): Y.ID | null {
    const { struct, isKnown } = this.#findStruct(origin);
    return isKnown ? origin : (this.#roots.get(struct) ?? null);
  }

  #addPiece(key: string): void {
    this.#pieces.set(key, (this.#pieces.get(key) ?? 0) + 1);
  }

  #splitBefore(id: Y.ID, place: string): void {
    const key = toKey(id);
    if (id.clock === 0 || this.#splits.has(key)) return;
    const { struct, isKnown } = this.#findStruct(Y.createID(id.client, id.clock - 1));
    if (!contains(struct, id)) return;
    this.#splits.add(key);
    this.addSplit(id.client);
    const root = this.#roots.get(struct);
    if (isKnown || root) this.#addPiece(toPieceKey(isKnown ? struct : this.#findStruct(root as Y.ID).struct));
    if (!isKnown) this.#addPiece(root ? toKey(root) : place);
  }

  #checkPosition({ place, origin, items }: Position): void {
    const next = this.#findNext(origin, place);
    // In which order the items of several clients are applied is not known, and entries are always searched for.
    const isOrdered = items.every(({ id }) => id.client === items[0]?.id.client) && (origin !== null || isText(place));
    let isFree = isOrdered;
    let expected = next?.id ?? null;
    // Items that were each inserted right before the previous one, after the first of them had to be searched for.
    let run = 0;
    let passed = 0;
    for (const [index, item] of items.entries()) {
      const isBeforePrevious = isSameId(item.rightOrigin, expected);
      isFree &&= isBeforePrevious || (index === 0 && !next?.isInsertedThere);
      if (!isFree) {
        if (!isOrdered || !isBeforePrevious || run === 0) {
          run = 0;
          passed = this.#countPassed(origin, place, item.rightOrigin);
        }
        this.#spend(Math.max(1, passed - run));
        run += 1;
      }
      expected = item.id;
    }
  }

  /** Returns what is to the right of an id, and whether Yjs would pass it. */
  #findNext(origin: Y.ID | null, place: string): { id: Y.ID; isInsertedThere: boolean } | undefined {
    if (!origin) {
      const first = this.#findFirst(place);
      return first ? { id: first.id, isInsertedThere: true } : undefined;
    }
    const { struct, isKnown } = this.#findStruct(origin);
    const after = Y.createID(origin.client, origin.clock + 1);
    if (contains(struct, after)) return { id: after, isInsertedThere: true };
    const right = isKnown && struct instanceof Y.Item ? struct.right : null;
    return right ? { id: right.id, isInsertedThere: isSameId(right.origin, origin) } : undefined;
  }

  /** Counts the items that an insertion may have to pass: stored ones, and new ones among them. */
  #countPassed(origin: Y.ID | null, place: string, rightOrigin: Y.ID | null): number {
    const root = origin && this.#findRoot(origin);
    const rooted = this.#pieces.get(root ? toKey(root) : place) ?? 0;
    let pieces = rooted;
    let item = this.#findFirst(place);
    let start = item?.id;
    if (origin) {
      const { struct, isKnown } = this.#findStruct(origin);
      // Nothing that is stored can have been inserted at a new item.
      if (!isKnown || !(struct instanceof Y.Item)) return pieces;
      start = Y.createID(origin.client, origin.clock + 1);
      item = contains(struct, start) ? struct : struct.right;
      if (item !== struct) start = item?.id;
    }
    const right = rightOrigin && this.#findStruct(rightOrigin);
    const end = right?.isKnown ? right.struct : undefined;
    const isEntryStart = !origin && !isText(place);
    const passed = new Set<unknown>();
    for (const first = item; item; item = item.right) {
      if (item === end && isSameId(rightOrigin, item === first && start ? start : item.id)) break;
      passed.add(item);
      pieces += this.#pieces.get(toPieceKey(item)) ?? 0;
      this.#spend(1);
      // The rest of the origin's own item. What was inserted at the origin was inserted into that, too.
      const isRest = item === first && !isSameId(item.id, start ?? null);
      if (isRest) pieces -= rooted;
      const isInsertedThere =
        isEntryStart ||
        isRest ||
        isSameId(item.origin, origin) ||
        (item.origin !== null && passed.has(Y.getItem(this.#doc.store, item.origin)));
      if (!isInsertedThere || item === end) break;
    }
    return passed.size + pieces;
  }

  /** Returns the first stored item of a text, or the oldest entry of a path. */
  #findFirst(place: string): Y.Item | null {
    const [kind = "", client, clock] = place.split("/");
    if (kind === "text") {
      const { struct, isKnown } = this.#findStruct(Y.createID(Number(client), Number(clock)));
      const content = isKnown && struct instanceof Y.Item ? struct.content : undefined;
      return content instanceof Y.ContentType ? content.type._start : null;
    }
    const entries = kind === "files" ? getFiles(this.#doc) : getBinaries(this.#doc);
    let item = entries._map.get(place.slice(`${kind}/`.length)) ?? null;
    for (; item?.left; item = item.left) this.#spend(1);
    return item;
  }

  #spend(steps: number): void {
    this.#steps += steps;
    if (this.#steps > maxSteps) throw new LiveError(4413, "Too many edits at the same positions in one update.");
  }
}

const isText = (place: string) => place.startsWith("text/");
const toKey = ({ client, clock }: Y.ID) => `${client}:${clock}`;
const toPieceKey = ({ id }: Pick<Struct, "id">) => `in ${toKey(id)}`;
const isSameId = (a: Y.ID | null, b: Y.ID | null) =>
  a === b || (a !== null && b !== null && a.client === b.client && a.clock === b.clock);
const contains = ({ id, length }: Struct, { client, clock }: Y.ID) =>
  id.client === client && id.clock <= clock && clock < id.clock + length;
