import * as Y from "yjs";
import { decodeSafely } from "./frames.ts";
import { getBinaries, getFiles } from "./layout.ts";
import { LiveError } from "./live-error.ts";

type Struct = Y.Item | Y.GC | Y.Skip;

/** What one client adds in an update, and how far it has been looked at. */
interface ClientRun {
  structs: Struct[];
  next: number;
  busy: boolean;
}

/** Counts beyond this are no longer exact for every peer. */
const maxClock = 2 ** 31 - 1;
/** Finding the place of an insertion means walking past all others at the same place; main has one thread for everybody. */
const maxSteps = 50_000_000;
/** A deletion within an insertion cuts it in two, and each cut moves everything behind it. */
const maxCuts = 20_000;

/** Where something is that is not there any more. */
const deletedPlace = "gone";

/** What is the matter with an update that is well formed. */
export interface UpdateValidation {
  /** What of it is new, all deletions included. Only this is judged, and only this may be applied. */
  news: Uint8Array;
  /** It builds on what is not here, or not here yet. */
  gap: boolean;
  /** Whose insertions in it are new. */
  clients: ReadonlySet<number>;
  /** What it deletes. */
  deleted: ReturnType<typeof Y.createDeleteSet>;
  /** What was typed, and not deleted again, into files that are not there any more; in which one cannot be known. */
  orphaned: string;
}

class GapError extends Error {}

/**
 * Looks at an update before any of it is applied, because applying cannot be undone: everything in it is text of a file
 * or a file's entry, each where it belongs, and none of it would leave the document in a state that others trip over.
 */
export function validateUpdate(doc: Y.Doc, update: Uint8Array): UpdateValidation {
  return decodeSafely(() => {
    const news = Y.diffUpdate(update, Y.encodeStateVector(doc));
    return { news, ...new UpdateValidator(doc, news).validate() };
  });
}

class UpdateValidator {
  readonly #doc: Y.Doc;
  readonly #files: unknown;
  readonly #binaries: unknown;
  readonly #runs = new Map<number, ClientRun>();
  readonly #deleted: UpdateValidation["deleted"];
  /** Where each new item of the update is going to be. */
  readonly #places = new Map<Struct, string>();
  readonly #clients = new Set<number>();
  readonly #insertionsPerPlace = new Map<string, number>();
  readonly #orphaned: Y.Item[] = [];
  #items = 0;

  constructor(doc: Y.Doc, update: Uint8Array) {
    this.#doc = doc;
    this.#files = getFiles(doc);
    this.#binaries = getBinaries(doc);
    const { structs, ds } = Y.decodeUpdate(update);
    this.#deleted = ds;
    for (const struct of structs) this.#addStruct(struct);
  }

  validate(): Omit<UpdateValidation, "news"> {
    try {
      for (const [client, { structs }] of this.#runs) {
        if ((structs[0] as Struct).id.clock !== Y.getState(this.#doc.store, client)) throw new GapError();
        this.#validateUpTo(client, maxClock);
      }
      this.#validateDeletions();
    } catch (error) {
      if (error instanceof GapError) return { gap: true, clients: this.#clients, deleted: this.#deleted, orphaned: "" };
      throw error;
    }
    let most = 0;
    for (const count of this.#insertionsPerPlace.values()) most = Math.max(most, count);
    if (most * this.#items > maxSteps) throw new LiveError(4413, "Too many edits at one place in one update.");
    return {
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
      this.#runs.set(client, { structs: [struct], next: 0, busy: false });
      return;
    }
    // Of a client that is in it twice, Yjs would apply the second part only.
    const last = run.structs.at(-1) as Struct;
    if (last.id.clock + last.length !== clock) throw createMalformedError();
    run.structs.push(struct);
  }

  /** Judges what a client adds, in order, up to a place of it that something else builds on. */
  #validateUpTo(client: number, upTo: number): void {
    const run = this.#runs.get(client) as ClientRun;
    for (let struct = run.structs[run.next]; struct && struct.id.clock <= upTo; struct = run.structs[run.next]) {
      // Two that build on one another can only be made up.
      if (run.busy) throw createMalformedError();
      run.busy = true;
      this.#validateStruct(struct);
      run.busy = false;
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
    this.#items += 1;
    const beside = struct.origin ? `${struct.origin.client}:${struct.origin.clock}` : place;
    this.#insertionsPerPlace.set(beside, (this.#insertionsPerPlace.get(beside) ?? 0) + 1);
  }

  /** Beside which it is, or else what it says it is in. */
  #findPlace(item: Y.Item): string {
    const left = item.origin && this.#getPlaceAt(item.origin, item);
    const right = item.rightOrigin && this.#getPlaceAt(item.rightOrigin, item);
    if (left === deletedPlace || right === deletedPlace) return deletedPlace;
    if (left !== null || right !== null) {
      if (left !== null && right !== null && left !== right) throw createMalformedError();
      return (left ?? right) as string;
    }
    // What is read from an update has the name of a root here, or the id of an item.
    const parent = item.parent as unknown as string | Y.ID;
    if (typeof parent === "string") {
      if ((parent !== "files" && parent !== "binaries") || item.parentSub === null)
        throw new LiveError(4400, "Malformed: only files can be edited here.");
      return `${parent}/${item.parentSub}`;
    }
    if (item.parentSub !== null) throw createMalformedError();
    return this.#findTextPlace(parent, item);
  }

  /** The text that an item is, as a place for others. */
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
    let cuts = 0;
    for (const [client, ranges] of this.#deleted.clients) {
      const here = this.#doc.store.clients.get(client) ?? [];
      const known = Y.getState(this.#doc.store, client);
      const last = this.#runs.get(client)?.structs.at(-1);
      const end = Math.max(known, last ? last.id.clock + last.length : 0);
      let done = 0;
      for (const { clock, len } of ranges) {
        // In order and once each, as every client has them; otherwise a few bytes could mean endless walks.
        if (len < 1 || clock < done) throw createMalformedError();
        done = clock + len;
        if (done > end) throw new GapError();
        if (clock >= known || !here[Y.findIndexSS(here, clock)]?.deleted) cuts += 1;
      }
    }
    if (cuts > maxCuts) throw new LiveError(4413, "Too many deletions in one update.");
  }
}

/** The text of an item, but for what is deleted with it. */
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

/** Only the house writes such values, and clients give back what it wrote: nothing that would have to be walked into. */
function isFlat(value: unknown): boolean {
  return (
    typeof value === "object" &&
    value !== null &&
    Object.values(value).every((part) => typeof part !== "object" || part === null)
  );
}

const toTextPlace = ({ client, clock }: Y.ID) => `text/${client}/${clock}`;

const createMalformedError = () => new LiveError(4400, "Malformed: that is no edit of a workspace.");
