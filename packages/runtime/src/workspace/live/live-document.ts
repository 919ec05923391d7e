import { type FileEdit, findPathIssue, parseFilePath } from "@thinkery/sdk";
import * as Y from "yjs";
import type { Commit } from "../commits.ts";
import type { Workspace } from "../workspace.ts";
import { type ConflictCopy, findConflictCopies } from "./conflict-copies.ts";
import { getBinaries, getFiles, mirrorFile } from "./layout.ts";
import { type LiveError, toLiveError, SpoiltDocumentError } from "./live-error.ts";
import type { LiveStorage } from "./live-store.ts";
import { isInOrder } from "./order.ts";
import { validateUpdate } from "./validate-update.ts";

/** What of a workspace its live side needs. */
export type LiveFiles = Pick<Workspace, "iterateContents" | "getContent" | "commit" | "latest" | "findConflictPath">;

interface LiveDocumentOptions {
  branch: string;
  files: LiveFiles;
  store: LiveStorage;
}

/** What an update has changed. */
interface TouchedFiles {
  paths: Set<string>;
  binaries: Set<string>;
  /** What is in it that has no place in the files as they are. */
  conflictCopies: readonly ConflictCopy[];
}

/** What came of a client's update. */
interface ReceiveResult {
  /** For everybody, the sender included where something of it had to be put back. */
  news?: Uint8Array | undefined;
  corrected: boolean;
  /** Something is missing that it builds on, so it was not applied, or not all of it. */
  gap: boolean;
  /** The workspace did not take it, and it was taken out of the document again. */
  error?: LiveError | undefined;
}

/**
 * The files of one branch as a Yjs document, while somebody is connected. The rows are the truth: the document is made
 * equal to them when it is opened, follows every commit, and what it takes from clients is committed at once.
 */
export class LiveDocument {
  readonly #options: LiveDocumentOptions;
  readonly #doc: Y.Doc;
  /** Stored state that could not be read: clients have a document that this one does not descend from. */
  readonly isDamaged: boolean;
  /** What opening it had to change, for clients that are connected already. */
  readonly openingUpdate: Uint8Array | undefined;
  #updates: Uint8Array[] = [];
  #committing = false;

  constructor(options: LiveDocumentOptions) {
    this.#options = options;
    // Before anything is written: there may be no such branch.
    const files = options.files.iterateContents(options.branch);
    const stored = loadDocument(options);
    this.isDamaged = stored === undefined;
    if (this.isDamaged) options.store.forget();
    this.#doc = stored ?? new Y.Doc();
    this.#doc.clientID = options.store.getClientId();
    this.#doc.on("update", (update: Uint8Array) => void this.#updates.push(update));
    this.openingUpdate = this.#applyChange(() => this.#reconcile(files));
  }

  get vector(): Uint8Array {
    return Y.encodeStateVector(this.#doc);
  }

  /** What somebody lacks who has this much. */
  encodeMissing(vector?: Uint8Array): Uint8Array {
    return Y.encodeStateAsUpdate(this.#doc, vector);
  }

  /** Takes over what was committed elsewhere. */
  applyCommit({ changes }: Commit): Uint8Array | undefined {
    if (this.#committing) return undefined;
    return this.#applyChange(() => {
      for (const change of changes) mirrorFile(this.#doc, change.path, change.after, change);
    });
  }

  /**
   * A client's update, judged, applied, and committed with what is stored of it. It throws a refusal for one that is not
   * to be applied. Any other error, and a refusal that comes too late, leaves the document in an unknown state: throw it
   * away, everything that others have seen of it is stored.
   */
  receive(update: Uint8Array, user: string, check: (clients: ReadonlySet<number>) => void): ReceiveResult {
    const judgement = validateUpdate(this.#doc, update);
    const { gap, clients, news: added } = judgement;
    if (gap) return { gap: true, corrected: false };
    check(clients);
    // Somebody has edits of ours that we have not: this is an older state of the document than they know.
    if (clients.has(this.#doc.clientID)) this.#doc.clientID = this.#options.store.renewClientId();
    const before = this.vector;
    let touched: TouchedFiles = { paths: new Set(), binaries: new Set(), conflictCopies: [] };
    this.#updates = [];
    this.#doc.transact(({ changed, beforeState }) => {
      Y.applyUpdate(this.#doc, added);
      if (!isInOrder(this.#doc, beforeState, clients))
        throw new SpoiltDocumentError(4400, "Malformed: that is no edit of a workspace.");
      touched = {
        ...this.#findTouched(changed),
        conflictCopies: findConflictCopies(this.#doc, beforeState, judgement),
      };
    });
    const { store } = this.#doc;
    const rest = store.pendingStructs !== null || store.pendingDs !== null;
    store.pendingStructs = null;
    store.pendingDs = null;
    return { gap: rest, ...this.#commitTouched(touched, user, before) };
  }

  /** Before it is thrown away, so that the next one opens quickly. */
  close(): void {
    if (this.#options.store.hasTail) this.#storeSnapshot();
    this.#doc.destroy();
  }

  #reconcile(files: ReturnType<LiveFiles["iterateContents"]>): void {
    const paths = new Set<string>();
    for (const { path, content } of files) {
      paths.add(path);
      mirrorFile(this.#doc, path, content);
    }
    for (const map of [getFiles(this.#doc), getBinaries(this.#doc)]) {
      for (const path of map.keys()) if (!paths.has(path)) map.delete(path);
    }
  }

  /** Whatever changes the document is stored in the same event-loop turn as the rows. */
  #applyChange(work: () => void): Uint8Array | undefined {
    this.#updates = [];
    this.#doc.transact(work);
    return this.#storeUpdates();
  }

  #storeUpdates(): Uint8Array | undefined {
    const [news] = this.#updates;
    if (!news) return undefined;
    const { store } = this.#options;
    if (!store.append(news) || store.needsSnapshot) this.#storeSnapshot();
    return news;
  }

  #storeSnapshot(): void {
    const { store, files, branch } = this.#options;
    store.replace({ whole: this.encodeMissing(), vector: this.vector }, files.latest(branch));
  }

  /** Commits what an update has changed, and puts back what cannot be. What comes of it is stored with the commit, or neither is. */
  #commitTouched(
    { paths, binaries, conflictCopies }: TouchedFiles,
    user: string,
    before: Uint8Array,
  ): Omit<ReceiveResult, "gap"> {
    const wrong = [...paths].filter((path) => !isCanonicalPath(path));
    const corrected = new Set([...wrong, ...binaries]);
    for (const path of wrong) paths.delete(path);
    this.#restoreFiles(corrected);
    let news: Uint8Array | undefined;
    const keep = (back: Iterable<string>) => {
      this.#restoreFiles(back);
      for (const path of back) corrected.add(path);
      // What was taken out again is not in it any more: nobody ever sees it.
      if (corrected.size > 0) this.#updates = [this.encodeMissing(before)];
      news = this.#storeUpdates();
    };
    try {
      const beside = this.#createConflictCopies(conflictCopies, user);
      this.#commit([...[...paths].flatMap((path) => this.#createEdits(path)), ...beside], user, () => {
        // Where a text came in the place of something else, that is not shown any more.
        const replaced = [...paths].filter((path) => getBinaries(this.#doc).has(path));
        keep([...replaced, ...beside.map(({ write }) => write)]);
      });
      return { news, corrected: corrected.size > 0 };
    } catch (error) {
      const refusal = toLiveError(error);
      if (!refusal) throw error;
      keep(paths);
      return { news, error: refusal, corrected: true };
    }
  }

  /** Both are kept: the one that holds, and the other one beside it. */
  #createConflictCopies(ousted: readonly ConflictCopy[], user: string): { write: string; content: string }[] {
    const { files, branch } = this.#options;
    return ousted.flatMap(({ path, text }) => {
      if (!isCanonicalPath(path) || getFiles(this.#doc).get(path)?.toString() === text) return [];
      return [{ write: files.findConflictPath(path, user, branch), content: text }];
    });
  }

  /**
   * In a transaction of its own: Yjs finds its way about a text by marks, and only when a transaction is over does it
   * throw away those that what came from elsewhere has made wrong.
   */
  #restoreFiles(paths: Iterable<string>): void {
    const { files, branch } = this.#options;
    this.#doc.transact(() => {
      for (const path of paths)
        mirrorFile(this.#doc, path, isCanonicalPath(path) ? files.getContent(path, { branch }) : undefined);
    });
  }

  #commit(edits: FileEdit[], user: string, runInTransaction: () => void): void {
    const { files, branch } = this.#options;
    this.#committing = true;
    try {
      files.commit(edits, { kind: "user", user }, { branch, joins: true, runInTransaction });
    } finally {
      this.#committing = false;
    }
  }

  #findTouched(changed: Y.Transaction["changed"]): Omit<TouchedFiles, "conflictCopies"> {
    const files = getFiles(this.#doc);
    const paths = new Set<string>();
    const binaries = new Set<string>();
    for (const [type, keys] of changed as Map<unknown, Set<string | null>>) {
      const into = type === files ? paths : type === getBinaries(this.#doc) ? binaries : undefined;
      if (into) for (const key of keys) into.add(key ?? "");
      else if (type instanceof Y.Text && type._item?.parentSub && files.get(type._item.parentSub) === type)
        paths.add(type._item.parentSub);
    }
    return { paths, binaries };
  }

  #createEdits(path: string): FileEdit[] {
    const text = getFiles(this.#doc).get(path)?.toString();
    const present = this.#options.files.getContent(path, { branch: this.#options.branch });
    if (text === present) return [];
    if (text !== undefined) return [{ write: path, content: text }];
    return typeof present === "string" ? [{ delete: path }] : [];
  }
}

/** In exactly the spelling that it has in the rows. */
function isCanonicalPath(path: string): boolean {
  return findPathIssue(path) === undefined && parseFilePath(path) === path;
}

/** The document as it is stored; nothing where that cannot be read. */
function loadDocument({ store, branch }: LiveDocumentOptions): Y.Doc | undefined {
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
    console.error(
      `the live document of branch ${branch} is damaged and is made anew from the files: ${error instanceof Error ? error.message : "it cannot be read"}`,
    );
    return undefined;
  }
}
