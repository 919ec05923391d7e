import { type FileEdit, pathProblem, filePath } from "@thinkery/sdk";
import * as Y from "yjs";
import type { Commit } from "../commits.ts";
import type { Workspace } from "../workspace.ts";
import { judge } from "./judge.ts";
import { binariesOf, filesOf, mirror } from "./layout.ts";
import type { LiveStorage } from "./live-store.ts";
import { type Refusal, refusalOf } from "./refusal.ts";

/** What of a workspace its live side needs. */
export type LiveFiles = Pick<Workspace, "contents" | "content" | "commit">;

interface LiveDocumentOptions {
  branch: string;
  files: LiveFiles;
  store: LiveStorage;
}

/** What an update has changed. */
interface Touched {
  paths: Set<string>;
  binaries: Set<string>;
}

/** What came of a client's update. */
interface Received {
  /** For everybody, the sender included where something of it had to be put back. */
  news?: Uint8Array | undefined;
  corrected: boolean;
  /** Something is missing that it builds on, so it was not applied, or not all of it. */
  gap: boolean;
  /** The workspace did not take it, and it was taken out of the document again. */
  refusal?: Refusal | undefined;
}

/**
 * The files of one branch as a Yjs document, while somebody is connected. The rows are the truth: the document is made
 * equal to them when it is opened, follows every commit, and what it takes from clients is committed at once.
 */
export class LiveDocument {
  readonly #options: LiveDocumentOptions;
  readonly #doc: Y.Doc;
  /** Stored state that could not be read: clients have a document that this one does not descend from. */
  readonly damaged: boolean;
  /** What opening it had to change, for clients that are connected already. */
  readonly news: Uint8Array | undefined;
  #told: Uint8Array[] = [];
  #committing = false;

  constructor(options: LiveDocumentOptions) {
    this.#options = options;
    const stored = stateOf(options);
    this.damaged = stored === undefined;
    this.#doc = stored ?? new Y.Doc();
    this.#doc.clientID = this.damaged ? options.store.renewClient() : options.store.client();
    if (this.damaged) options.store.forget();
    this.#doc.on("update", (update: Uint8Array) => void this.#told.push(update));
    this.news = this.#change(() => this.#reconcile());
  }

  get vector(): Uint8Array {
    return Y.encodeStateVector(this.#doc);
  }

  /** What somebody lacks who has this much. */
  missing(vector?: Uint8Array): Uint8Array {
    return Y.encodeStateAsUpdate(this.#doc, vector);
  }

  /** Takes over what was committed elsewhere. */
  follow({ changes }: Commit): Uint8Array | undefined {
    if (this.#committing) return undefined;
    return this.#change(() => {
      for (const { path, after } of changes) mirror(this.#doc, path, after);
    });
  }

  /**
   * A client's update, judged, applied and committed. It throws a refusal for one that is not to be applied. Any other
   * error leaves the document in an unknown state: throw it away, everything that others have seen of it is stored.
   */
  receive(update: Uint8Array, user: string, check: (clients: ReadonlySet<number>) => void): Received {
    const { gap, clients, news: added } = judge(this.#doc, update);
    if (gap) return { gap: true, corrected: false };
    check(clients);
    // Somebody has edits of ours that we have not: this is an older state of the document than they know.
    if (clients.has(this.#doc.clientID)) this.#doc.clientID = this.#options.store.renewClient();
    const before = this.vector;
    let touched: Touched = { paths: new Set(), binaries: new Set() };
    this.#told = [];
    this.#doc.transact(({ changed }) => {
      Y.applyUpdate(this.#doc, added);
      touched = this.#touched(changed);
    });
    const { store } = this.#doc;
    const rest = store.pendingStructs !== null || store.pendingDs !== null;
    store.pendingStructs = null;
    store.pendingDs = null;
    const landed = this.#land(touched, user);
    // What was taken out again is not in it any more: nobody ever sees it.
    if (landed.corrected) this.#told = [this.missing(before)];
    return { news: this.#keep(), gap: rest, ...landed };
  }

  /** Before it is thrown away, so that the next one opens quickly. */
  close(): void {
    if (this.#options.store.hasTail) this.#options.store.replace(this.missing());
    this.#doc.destroy();
  }

  #reconcile(): void {
    const { files, branch } = this.#options;
    const paths = new Set<string>();
    for (const { path, content } of files.contents(branch)) {
      paths.add(path);
      mirror(this.#doc, path, content);
    }
    for (const map of [filesOf(this.#doc), binariesOf(this.#doc)]) {
      for (const path of map.keys()) if (!paths.has(path)) map.delete(path);
    }
  }

  /** Whatever changes the document is stored in the same event-loop turn as the rows. */
  #change(work: () => void): Uint8Array | undefined {
    this.#told = [];
    this.#doc.transact(work);
    return this.#keep();
  }

  #keep(): Uint8Array | undefined {
    const [news] = this.#told;
    if (!news) return undefined;
    const { store } = this.#options;
    if (!store.append(news) || store.wantsSnapshot) store.replace(this.missing());
    return news;
  }

  /** Commits what an update has changed, and puts back what cannot be. */
  #land({ paths, binaries }: Touched, user: string): { refusal?: Refusal; corrected: boolean } {
    const wrong = [...paths].filter((path) => !isPath(path));
    this.#putBack([...wrong, ...binaries]);
    for (const path of wrong) paths.delete(path);
    const corrected = wrong.length > 0 || binaries.size > 0;
    try {
      const edits = [...paths].flatMap((path) => this.#editOf(path));
      this.#commit(edits, user);
      // Where a text came in the place of something else, that is not shown any more.
      const replaced = [...paths].filter((path) => binariesOf(this.#doc).has(path));
      this.#putBack(replaced);
      return { corrected: corrected || replaced.length > 0 };
    } catch (error) {
      const refusal = refusalOf(error);
      if (!refusal) throw error;
      this.#putBack(paths);
      return { refusal, corrected: true };
    }
  }

  /**
   * In a transaction of its own: Yjs finds its way about a text by marks, and only when a transaction is over does it
   * throw away those that what came from elsewhere has made wrong.
   */
  #putBack(paths: Iterable<string>): void {
    const { files, branch } = this.#options;
    this.#doc.transact(() => {
      for (const path of paths) mirror(this.#doc, path, isPath(path) ? files.content(path, { branch }) : undefined);
    });
  }

  #commit(edits: FileEdit[], user: string): void {
    if (edits.length === 0) return;
    const { files, branch } = this.#options;
    this.#committing = true;
    try {
      files.commit(edits, { kind: "user", user }, { branch, joins: true });
    } finally {
      this.#committing = false;
    }
  }

  #touched(changed: Y.Transaction["changed"]): Touched {
    const files = filesOf(this.#doc);
    const paths = new Set<string>();
    const binaries = new Set<string>();
    for (const [type, keys] of changed as Map<unknown, Set<string | null>>) {
      const into = type === files ? paths : type === binariesOf(this.#doc) ? binaries : undefined;
      if (into) for (const key of keys) into.add(key ?? "");
      else if (type instanceof Y.Text && type._item?.parentSub && files.get(type._item.parentSub) === type) paths.add(type._item.parentSub);
    }
    return { paths, binaries };
  }

  #editOf(path: string): FileEdit[] {
    const text = filesOf(this.#doc).get(path)?.toString();
    const present = this.#options.files.content(path, { branch: this.#options.branch });
    if (text === present) return [];
    if (text !== undefined) return [{ write: path, content: text }];
    return typeof present === "string" ? [{ delete: path }] : [];
  }
}

/** In exactly the spelling that it has in the rows. */
function isPath(path: string): boolean {
  return pathProblem(path) === undefined && filePath(path) === path;
}

/** The document as it is stored; nothing where that cannot be read. */
function stateOf({ store, branch }: LiveDocumentOptions): Y.Doc | undefined {
  try {
    const stored = store.read();
    if (!stored) throw new Error("a checksum is wrong");
    const doc = new Y.Doc();
    doc.transact(() => {
      for (const update of stored) Y.applyUpdate(doc, update);
    });
    if (doc.store.pendingStructs || doc.store.pendingDs) throw new Error("a part is missing");
    return doc;
  } catch (error) {
    console.error(`the live document of branch ${branch} is damaged and is made anew from the files: ${error instanceof Error ? error.message : "it cannot be read"}`);
    return undefined;
  }
}
