import * as Y from "yjs";
import { decodeSafely } from "./frames.ts";
import { InsertionCost } from "./insertion-cost.ts";
import { getBinaries, getFiles } from "./layout.ts";
import { LiveError } from "./live-error.ts";

type Struct = Y.Item | Y.GC | Y.Skip;

/** The structs one client adds in an update; those before `next` are validated. */
interface ClientRun {
  structs: Struct[];
  next: number;
  isValidating: boolean;
}

/** Larger clocks are not exact on every peer. */
const maxClock = 2 ** 31 - 1;
/** A deletion within an insertion splits it, and each split shifts all structs after it. */
const maxSplits = 20_000;

/** The place of items whose parent no longer exists. */
const deletedPlace = "gone";

/** The result of validating a well-formed update. */
export interface UpdateValidation {
  /** The part that is new, including all deletions. Only this is validated, and only this may be applied. */
  delta: Uint8Array;
  /** It refers to items that are missing here. */
  gap: boolean;
  /** The clients with new insertions. */
  clients: ReadonlySet<number>;
  deleted: ReturnType<typeof Y.createDeleteSet>;
  /** Text typed into files that no longer exist. Which file it belonged to cannot be known. */
  orphaned: string;
  /** How many items Yjs passes at most to place its insertions. */
  steps: number;
}

class GapError extends Error {}

/**
 * Validates an update before it is applied, because applying cannot be undone: it may only contain text and entries of
 * files, each where it belongs, and nothing that would corrupt the document for others.
 */
export function validateUpdate(doc: Y.Doc, update: Uint8Array): UpdateValidation {
  return decodeSafely(() => {
    const delta = Y.diffUpdate(update, Y.encodeStateVector(doc));
    return { delta, ...new UpdateValidator(doc, delta).validate() };
  });
}

class UpdateValidator {
  readonly #doc: Y.Doc;
  readonly #files: unknown;
  readonly #binaries: unknown;
  readonly #runs = new Map<number, ClientRun>();
  readonly #deleted: UpdateValidation["deleted"];
  /** The place of each new item. */
  readonly #places = new Map<Struct, string>();
  readonly #clients = new Set<number>();
  readonly #cost: InsertionCost;
  readonly #orphaned: Y.Item[] = [];

  constructor(doc: Y.Doc, update: Uint8Array) {
    this.#doc = doc;
    this.#files = getFiles(doc);
    this.#binaries = getBinaries(doc);
    this.#cost = new InsertionCost(doc, (id) => {
      const isKnown = this.#isKnown(id);
      return { isKnown, struct: isKnown ? Y.getItem(doc.store, id) : this.#getAddedStruct(id) };
    });
    const { structs, ds } = Y.decodeUpdate(update);
    this.#deleted = ds;
    for (const struct of structs) this.#addStruct(struct);
  }

  validate(): Omit<UpdateValidation, "delta"> {
    try {
      for (const [client, { structs }] of this.#runs) {
        if ((structs[0] as Struct).id.clock !== Y.getState(this.#doc.store, client)) throw new GapError();
        this.#validateUpTo(client, maxClock);
      }
      this.#validateDeletions();
    } catch (error) {
      if (error instanceof GapError)
        return { gap: true, clients: this.#clients, deleted: this.#deleted, orphaned: "", steps: 0 };
      throw error;
    }
    return {
      steps: this.#cost.check(),
      gap: false,
      clients: this.#clients,
      deleted: this.#deleted,
      orphaned: this.#orphaned.map((item) => getSurvivingText(item, this.#deleted)).join(""),
    };
  }

  #addStruct(struct: Struct): void {
    const { client, clock } = struct.id;
    if (struct.length < 1 || clock + struct.length > maxClock) throw createMalformedError();
    const run = this.#runs.get(client);
    if (!run) {
      this.#runs.set(client, { structs: [struct], next: 0, isValidating: false });
      return;
    }
    // If a client occurs twice, Yjs would apply only the second part.
    const last = run.structs.at(-1) as Struct;
    if (last.id.clock + last.length !== clock) throw createMalformedError();
    run.structs.push(struct);
  }

  /** Validates a client's structs in order, up to a clock that another struct refers to. */
  #validateUpTo(client: number, upTo: number): void {
    const run = this.#runs.get(client) as ClientRun;
    for (let struct = run.structs[run.next]; struct && struct.id.clock <= upTo; struct = run.structs[run.next]) {
      // Only crafted updates contain cycles.
      if (run.isValidating) throw createMalformedError();
      run.isValidating = true;
      this.#validateStruct(struct);
      run.isValidating = false;
      run.next += 1;
    }
  }

  #validateStruct(struct: Struct): void {
    if (struct instanceof Y.Skip) throw new GapError();
    this.#clients.add(struct.id.client);
    if (struct instanceof Y.GC) return;
    const place = this.#findPlace(struct);
    if (!isAllowedContent(struct.content, place)) throw createMalformedError();
    this.#places.set(struct, place);
    if (place === deletedPlace) this.#orphaned.push(struct);
    else this.#cost.add(struct, place);
  }

  /** Returns the place of its neighbours or, without any, of its parent. */
  #findPlace(item: Y.Item): string {
    const left = item.origin && this.#getPlaceAt(item.origin, item);
    const right = item.rightOrigin && this.#getPlaceAt(item.rightOrigin, item);
    if (left === deletedPlace || right === deletedPlace) return deletedPlace;
    if (left !== null || right !== null) {
      if (left !== null && right !== null && left !== right) throw createMalformedError();
      return (left ?? right) as string;
    }
    // In a decoded update, the parent is the name of a root type or the id of an item.
    const parent = item.parent as unknown as string | Y.ID;
    if (typeof parent === "string") {
      if ((parent !== "files" && parent !== "binaries") || item.parentSub === null)
        throw new LiveError(4400, "Malformed: only files can be edited here.");
      return `${parent}/${item.parentSub}`;
    }
    if (item.parentSub !== null) throw createMalformedError();
    return this.#findTextPlace(parent, item);
  }

  /** Returns the place inside the text that an item represents. */
  #findTextPlace(id: Y.ID, item: Y.Item): string {
    const place = this.#getPlaceAt(id, item);
    if (place === deletedPlace) return deletedPlace;
    const struct = this.#isKnown(id) ? Y.getItem(this.#doc.store, id) : this.#getAddedStruct(id);
    if (!(struct instanceof Y.Item) || struct.content instanceof Y.ContentDeleted) return deletedPlace;
    if (!(struct.content instanceof Y.ContentType) || !place.startsWith("files/")) throw createMalformedError();
    return toTextPlace(struct.id);
  }

  #getPlaceAt(id: Y.ID, item: Y.Item): string {
    if (id.client === item.id.client && id.clock >= item.id.clock) throw createMalformedError();
    if (this.#isKnown(id)) return this.#getExistingPlace(id);
    return this.#places.get(this.#getAddedStruct(id)) ?? deletedPlace;
  }

  #isKnown({ client, clock }: Y.ID): boolean {
    return clock < Y.getState(this.#doc.store, client);
  }

  #getExistingPlace(id: Y.ID): string {
    const item = Y.getItem(this.#doc.store, id) as Y.Item | Y.GC;
    if (!(item instanceof Y.Item)) return deletedPlace;
    const { parent, parentSub } = item as { parent: unknown; parentSub: string | null };
    if (parent === this.#files && parentSub !== null) return `files/${parentSub}`;
    if (parent === this.#binaries && parentSub !== null) return `binaries/${parentSub}`;
    if (parent instanceof Y.Text && parent._item && parentSub === null) return toTextPlace(parent._item.id);
    throw createMalformedError();
  }

  #getAddedStruct({ client, clock }: Y.ID): Struct {
    const run = this.#runs.get(client);
    const last = run?.structs.at(-1);
    if (!run || !last || clock >= last.id.clock + last.length || clock < (run.structs[0] as Struct).id.clock)
      throw new GapError();
    this.#validateUpTo(client, clock);
    return run.structs[Y.findIndexSS(run.structs as (Y.Item | Y.GC)[], clock)] as Struct;
  }

  #validateDeletions(): void {
    let splits = 0;
    for (const [client, ranges] of this.#deleted.clients) {
      const structs = this.#doc.store.clients.get(client) ?? [];
      const known = Y.getState(this.#doc.store, client);
      const last = this.#runs.get(client)?.structs.at(-1);
      const end = Math.max(known, last ? last.id.clock + last.length : 0);
      let done = 0;
      for (const { clock, len } of ranges) {
        // Ordered and disjoint, as clients write them; otherwise a few bytes could cause endless walks.
        if (len < 1 || clock < done) throw createMalformedError();
        done = clock + len;
        if (done > end) throw new GapError();
        if (clock < known && structs[Y.findIndexSS(structs, clock)]?.deleted) continue;
        splits += 1;
        this.#cost.addSplit(client);
      }
    }
    if (splits > maxSplits) throw new LiveError(4413, "Too many deletions in one update.");
  }
}

/** Returns the text of an item without the deleted parts. */
export function getSurvivingText({ id, content }: Y.Item, deleted: UpdateValidation["deleted"]): string {
  if (!(content instanceof Y.ContentString)) return "";
  let text = "";
  for (let at = 0; at < content.str.length; at += 1)
    if (!Y.isDeleted(deleted, Y.createID(id.client, id.clock + at))) text += content.str[at];
  return text;
}

function isAllowedContent(content: Y.Item["content"], place: string): boolean {
  if (content instanceof Y.ContentDeleted) return true;
  const isText = content instanceof Y.ContentString;
  const isFile = content instanceof Y.ContentType && content.type.constructor === Y.Text;
  const isBinary = content instanceof Y.ContentAny && content.arr.every(isFlat);
  if (place === deletedPlace) return isText || isFile || isBinary;
  if (place.startsWith("files/")) return isFile;
  return place.startsWith("binaries/") ? isBinary : isText;
}

/** Only the host writes such values, and clients send them back unchanged; nested ones need not be supported. */
function isFlat(value: unknown): boolean {
  return (
    typeof value === "object" &&
    value !== null &&
    Object.values(value).every((part) => typeof part !== "object" || part === null)
  );
}

const toTextPlace = ({ client, clock }: Y.ID) => `text/${client}/${clock}`;

const createMalformedError = () => new LiveError(4400, "Malformed: not a workspace edit.");
